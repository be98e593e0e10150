"""manage.py verify: rechecks a folder that `simulate` wrote, from its files alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scheduling.model import ModelError
from scheduling.registry import UnknownName, parse_parameters, scheduler_class
from scheduling.verifier import verify
from scheduling.verifier_groups import SCHEDULERS
from twin import collector
from twin.formats.cluster_json import load_cluster
from twin.formats.groups_csv import NAME as GROUPS
from twin.formats.groups_csv import read_groups
from twin.formats.jobs_jsonl import load_jobs
from twin.formats.outputs import FILES, read_lines, read_schedule, read_value
from twin.management.headless import HeadlessCommand, one_line, place

SHOWN = 100
READERS: dict[str, Callable[[Path], Any]] = {
    "cluster.json": read_value,
    "jobs.jsonl": lambda path: list(read_lines(path)),
    "schedule.csv": read_schedule,
    "decisions.jsonl": lambda path: list(read_lines(path)),
    "events.jsonl": read_lines,  # one by one: it is the largest
    "summary.json": read_value,
    GROUPS: read_groups,
}
RULES: dict[str, Callable[[Path], Any]] = {"cluster.json": load_cluster, "jobs.jsonl": lambda path: load_jobs(path.read_bytes())}


class Command(HeadlessCommand):
    help = "Says what is wrong with an output of simulate; exit code 1 when something is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=place)

    def work(self, **options: Any) -> None:
        folder: Path = options["directory"]
        if not folder.is_dir():
            raise ModelError(f"{folder}: is no folder that simulate wrote")
        with collector.paused():  # millions of rows, and no cycles
            problems = problems_of(folder)
        for problem in problems[:SHOWN]:
            self.tell(problem)
        if problems:
            hidden = len(problems) - SHOWN
            count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
            self.stderr.write(one_line(f"verify: {count} in {folder}" + (f", {hidden} of them not shown" if hidden > 0 else "")))
            sys.exit(1)
        self.tell(f"{folder}: nothing is wrong")


def problems_of(folder: Path) -> list[str]:
    """One line for each thing that is wrong: first with files that cannot be read, then with what they say."""
    problems: list[str] = []
    values: dict[str, Any] = {}
    for name in (*FILES, GROUPS):
        if name == GROUPS and not _groups_wanted(values.get("summary.json")):
            continue
        try:
            if name in RULES:
                RULES[name](folder / name)
            values[name] = READERS[name](folder / name)
        except FileNotFoundError:
            problems.append(f"{name}: is missing")
        except OSError as error:
            problems.append(f"{name}: cannot be read: {error.strerror}")
        except ModelError as error:
            problems.append(str(error))
    if problems:
        return problems
    try:
        problems = verify(**{name.partition(".")[0]: value for name, value in values.items()})
    except (ModelError, OSError) as error:  # of a line of events.jsonl
        return [str(error)]
    return problems or _check_scheduler(values["summary.json"])


def _groups_wanted(summary: Any) -> bool:
    """Whether the run was of a scheduler that writes groups.csv."""
    return isinstance(summary, dict) and summary.get("scheduler") in SCHEDULERS


def _check_scheduler(summary: dict[str, Any]) -> list[str]:
    """The verifier knows no schedulers: that there is one of that name, with these parameters."""
    try:
        cls = scheduler_class(summary["scheduler"])
        parameters = asdict(parse_parameters(cls, summary["parameters"]))
    except (UnknownName, ModelError) as error:
        return [f"summary.json: {error}"]
    return [
        f"summary.json: parameter {name} must be {parameters[name]!r}, got {value!r}"  # text for a number, say
        for name, value in summary["parameters"].items()
        if parameters[name] != value
    ]
