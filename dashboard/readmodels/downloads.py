"""Downloads of a run and of a trace, generated as they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from dashboard.readmodels.run_summary import metrics_so_far
from scheduling.kernel.parameters import UnknownName
from scheduling.model.bars import END, JOB, START, WIDTH, Placement
from scheduling.model.values import ModelError
from scheduling.verification.by_model import files_of
from twin.eventlog import event_log
from twin.eventlog.fold import DIED, NEVER
from twin.eventlog.state_cache import Newest
from twin.files.cluster_json import dump_cluster
from twin.files.groups_csv import NAME as GROUPS
from twin.files.groups_csv import Span, group_lines
from twin.files.jobs_csv import columns_of, csv_lines
from twin.files.jobs_jsonl import job_lines
from twin.files.jobs_parquet import parquet_pieces
from twin.files.outputs import schedule_lines
from twin.files.packed_jobs import PackedJobs
from twin.files.perfetto import trace_lines
from twin.files.swf import swf_lines
from twin.models import Run, Trace
from twin.runs import scheduler_history
from twin.scenarios import beliefs, phase_rules, store
from twin.scenarios.phase_rules import scheduler_of

CERTIFICATE = ("kind", "achieved", "bound", "ratio")


class Download(NamedTuple):
    """Lines of a file, with its name and media type."""

    lines: Iterable[bytes]
    filename: str
    kind: str


def log(run: Run) -> Download:
    """events.jsonl up to the newest event."""
    return Download(event_log.canonical(run.pk, run.last_seq), f"run-{run.pk}-events.jsonl", "application/x-ndjson")


def schedule(run: Run) -> Download:
    """schedule.csv of the current plans, sorted by job and start."""
    bars = _true_bars(run)
    cluster, jobs = store.of_run(run)
    lines = (line.encode() for line in schedule_lines(cluster, jobs, bars))
    return Download(lines, f"run-{run.pk}-schedule.csv", "text/csv; charset=utf-8")


def run_jobs(run: Run) -> Download:
    """jobs.jsonl of the run after its edits: its events identify jobs by their index here."""
    _, found = store.of_run(run)
    return Download(job_lines(found), f"run-{run.pk}-jobs.jsonl", MEDIA_TYPES["jsonl"])


def run_cluster(run: Run) -> Download:
    """cluster.json of the run after its edits: its events identify servers by their index here."""
    found, _ = store.of_run(run)
    return Download([dump_cluster(found)], f"run-{run.pk}-cluster.json", "application/json")


def groups(run: Run) -> Download:
    """groups.csv as far as the log reaches now; ModelError for a run that has none."""
    if GROUPS not in model_files(run):
        raise ModelError(f"run {run.pk} has no {GROUPS}: only runs whose scheduler co-locates jobs in groups have it")
    with Newest(run) as state:
        cluster, jobs = store.of_run(run)
        spans = [
            Span(from_ms, state.sim_ms if until_ms == NEVER else until_ms, data)
            for from_ms, until_ms, data in state.groups
        ]
    lines = (text.encode() for text in group_lines(cluster, jobs, spans))
    return Download(lines, f"run-{run.pk}-{GROUPS}", "text/csv; charset=utf-8")


def model_files(run: Run) -> list[str]:
    """Names of the files that the run has from the execution models of its schedulers, besides those of all runs."""
    models = {one.rules.model.name for one in scheduler_history.in_charge(run)}
    return sorted({name for model in models for name in files_of({"model": model})})


def titles_of(names: Iterable[str]) -> dict[str, str]:
    """Titles of these files on pages: {"groups.csv": "Groups CSV"}."""
    return {name: f"{PurePath(name).stem.capitalize()} {PurePath(name).suffix[1:].upper()}" for name in names}


def perfetto(run: Run) -> Download:
    """Bars for the Perfetto viewer."""
    bars = _true_bars(run)
    cluster, jobs = store.of_run(run)
    return Download(trace_lines(cluster, jobs, bars), f"run-{run.pk}-perfetto.json", "application/json")


def summary(run: Run) -> dict[str, Any]:
    """The content of summary.json; of a run that was handed over also its schedulers over time."""
    scenario = run.scenario
    begun = _begun(run)
    charges = scheduler_history.of_run(run)
    handed_over = {"schedulers": [one._asdict() for one in charges]} if len(charges) > 1 else {}
    so_far = run.mode_rules.recorded and not run.metrics
    proved = run.whole_certificate  # one of an earlier part of the run would contradict the metrics
    wall = (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else None
    return {
        "scheduler": scenario.scheduler,
        **handed_over,
        "parameters": begun["parameters"],
        "seed": scenario.seed,
        **({"execution": begun["execution"]} if "execution" in begun else {}),
        **beliefs.stated(scenario),
        "metrics": metrics_so_far(run) if so_far else run.metrics,
        "certificate": {name: proved[name] for name in CERTIFICATE} if "bound" in proved else None,
        "decision_ms": run.decision_ms,
        "wall_s": wall,
    }


def _begun(run: Run) -> dict[str, Any]:
    """{parameters, execution} of the first scheduler; as the log states them where it cannot be used any more."""
    scenario, cluster = run.scenario, store.clusters(run)[0][1]
    try:
        scheduler = scheduler_of(store.base(scenario))
    except (UnknownName, ModelError):
        return {"parameters": scenario.parameters} | phase_rules.stated(run, 0)
    return {"parameters": asdict(scheduler.parameters), "execution": scheduler.execution_on(cluster)}


def trace_jobs(trace: Trace, kind: str) -> Download:
    """The jobs of a trace as jobs.jsonl, jobs.csv, jobs.parquet or jobs.swf."""
    packed = PackedJobs(bytes(trace.jobs), trace.job_count)
    if kind == "jsonl":
        lines: Iterable[bytes] = job_lines(packed)
    elif kind == "csv":
        lines = (text.encode() for text in csv_lines(packed.tables(), columns_of(packed.tables())))
    elif kind == "parquet":
        lines = parquet_pieces(packed.tables(), columns_of(packed.tables()))
    else:
        lines = swf_lines(packed, trace.job_count)
    return Download(lines, f"trace-{trace.pk}-jobs.{kind}", MEDIA_TYPES[kind])


MEDIA_TYPES = {
    "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet",
    "swf": "text/plain; charset=utf-8",
}  # fmt: skip


def _true_bars(run: Run) -> Iterator[Placement]:
    """The bars that no later plan has replaced, job by job; of a real cluster as far as they are past."""
    with Newest(run) as state:
        rows = state.bars.rows
        rows = rows[rows[:, DIED] < 0]
        if not run.mode_rules.looks_ahead:  # a job that runs has no end yet
            rows = rows[rows[:, START] < state.sim_ms].copy()
            rows[:, END] = np.minimum(rows[:, END], state.sim_ms)
    rows = rows[rows[:, JOB].argsort(kind="stable")]
    return (Placement._make(row[:WIDTH]) for part in _parts(rows) for row in part.tolist())


def _parts(rows: Any) -> Iterator[Any]:
    return (rows[i : i + 10_000] for i in range(0, len(rows), 10_000))
