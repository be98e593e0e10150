"""manage.py verify: rechecks a folder that `simulate` wrote, from its files alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scheduling.kernel.parameters import UnknownName
from scheduling.kernel.registry import build, obstacle
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import ModelError
from scheduling.verification.by_model import files_of
from scheduling.verification.verify import verify
from twin.files.cluster_json import load_cluster
from twin.files.groups_csv import NAME as GROUPS
from twin.files.groups_csv import read_groups
from twin.files.jobs_jsonl import load_jobs
from twin.files.outputs import FILES, read_lines, read_schedule, read_value
from twin.infra import gc_control
from twin.management.headless import HeadlessCommand, place

READERS: dict[str, Callable[[Path], Any]] = {
    "cluster.json": read_value,
    "jobs.jsonl": lambda path: list(read_lines(path)),
    "schedule.csv": read_schedule,
    "decisions.jsonl": lambda path: list(read_lines(path)),
    "events.jsonl": read_lines,  # one by one: it is the largest
    "summary.json": read_value,
    GROUPS: read_groups,
}
RULES: dict[str, Callable[[Path], Any]] = {
    "cluster.json": load_cluster,
    "jobs.jsonl": lambda path: load_jobs(path.read_bytes()),
}


class Command(HeadlessCommand):
    help = "Verifies a result folder of simulate or follow; exit code 1 if it has problems."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "directory", type=place, help="folder with the files that simulate or follow wrote, for example out/"
        )

    def work(self, **options: Any) -> None:
        folder: Path = options["directory"]
        if not folder.is_dir():
            raise ModelError(f"{folder}: not an output folder of simulate or follow")
        with gc_control.paused():  # millions of rows, and no cycles
            problems = problems_of(folder)
        self.end_with_problems(problems, folder)
        if reason := obstacle(read_value(folder / "summary.json")["scheduler"]):
            self.report(f"summary.json: the types of parameters cannot be verified: {reason}")
        self.report(f"{folder}: no problems found")


def problems_of(folder: Path) -> list[str]:
    """Problems, one line each: first unreadable files, then their content."""
    problems: list[str] = []
    values: dict[str, Any] = {}
    for name in FILES:
        _take(folder, name, values, problems)
    if problems:
        return problems
    summary = values["summary.json"]
    scheduler, unknown = _scheduler(summary)
    installed = None if scheduler is None else scheduler.execution_on(load_cluster(folder / "cluster.json"))
    for name in files_of(_execution(summary, installed)):
        _take(folder, name, values, problems)
    if problems:
        return problems
    try:
        problems = verify(**{name.partition(".")[0]: value for name, value in values.items()}, installed=installed)
    except (ModelError, OSError) as error:  # of a line of events.jsonl
        return [str(error)]
    return problems or unknown or _check_parameters(summary, scheduler)


def _take(folder: Path, name: str, values: dict[str, Any], problems: list[str]) -> None:
    """Content of a file of the folder, stored in `values`."""
    try:
        if name in RULES:
            RULES[name](folder / name)
        values[name] = READERS[name](folder / name)
    except FileNotFoundError:
        problems.append(f"{name} is missing")
    except OSError as error:
        problems.append(f"{name} cannot be read: {error.strerror}")
    except ModelError as error:
        problems.append(str(error))


def _scheduler(summary: Any) -> tuple[BaseScheduler | None, list[str]]:
    """The scheduler of that name with these parameters, or why there is none.

    The verifier says what is wrong with other shapes. Without the scheduler, the run is verified by the rules that it
    states.
    """
    name, parameters = (
        (summary.get("scheduler"), summary.get("parameters")) if isinstance(summary, dict) else (None, None)
    )
    if not isinstance(name, str) or not isinstance(parameters, dict):
        return None, []
    if obstacle(name):
        return None, []
    try:
        return build(name, parameters), []
    except (UnknownName, ModelError) as error:
        return None, [f"summary.json: {error}"]


def _execution(summary: Any, installed: dict[str, Any] | None) -> Any:
    """The execution as stated, or that of the installed scheduler; unchecked."""
    stated = summary.get("execution") if isinstance(summary, dict) else None
    return stated if isinstance(stated, dict) else installed


def _check_parameters(summary: dict[str, Any], scheduler: BaseScheduler | None) -> list[str]:
    """Check of the types of parameters: the verifier knows no schedulers."""
    if scheduler is None:
        return []
    parameters = asdict(scheduler.parameters)
    return [
        f"summary.json: parameter {name} must be {parameters[name]!r}, got {value!r}"  # text for a number, say
        for name, value in summary["parameters"].items()
        if parameters[name] != value
    ]
