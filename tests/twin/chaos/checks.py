"""What must hold after the faults: every piece of work as if nothing had happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.twin.chaos.cluster import PostingCluster
from tests.twin.chaos.load import Load
from tests.twin.runtime.stack import Stack

# Each run against the kernel alone: its log byte for byte, and its metrics from the undisturbed events.
RUNS = """
import hashlib, json
import orjson
from scheduling.reporting.metrics import summarize
from twin.eventlog import event_log
from twin.models import Run
from twin.scenarios import store

known = {}
def undisturbed(run):
    key = store._identity(run)
    if key not in known:
        events = list(store.simulation(run).events())
        digest = hashlib.sha256(b"".join(map(event_log.event_line, events))).hexdigest()
        metrics = summarize(events, *store.of_run(run), store.clusters(run))
        known[key] = digest, orjson.loads(orjson.dumps(metrics))
    return known[key]

rows = []
for run in Run.objects.exclude(mode=Run.MIRROR).select_related("scenario__cluster", "scenario__trace").order_by("pk"):
    digest, metrics = undisturbed(run)
    log = hashlib.sha256(b"".join(event_log.canonical(run.pk))).hexdigest()
    rows.append({
        "run": run.pk, "scheduler": run.scenario.scheduler, "status": run.status, "message": run.message,
        "log": log == digest, "metrics": run.metrics == metrics, "events": run.last_seq,
        "mode": run.mode, "fork": run.fork_ms is not None,
    })
print(json.dumps(rows))
"""
IMPORTS = """
import hashlib, json
from twin.models import Trace
print(json.dumps([
    {"trace": t.pk, "status": t.status, "message": t.message, "jobs": t.job_count,
     "digest": hashlib.sha256(bytes(t.jobs)).hexdigest()}
    for t in Trace.objects.exclude(format="generated").order_by("pk")
]))
"""
# {job: [submitted, started, ended, node]} in Unix ms, with the number of its events of each kind
FOLLOWED = """
import json
from collections import Counter, defaultdict
from twin.eventlog import event_log, fold
from twin.eventlog.additions import of_run
from twin.models import Run
found = {}
for run in Run.objects.filter(mode=Run.MIRROR).order_by("pk"):
    cluster, jobs = of_run(run)
    epoch = round(run.clock_wall.timestamp() * 1000)
    counts = defaultdict(Counter)
    state = fold.RunState()
    for batch in event_log.after(run.pk, 0):
        state.feed(batch)
        for event in batch:
            if "job" in event.data and event.kind in ("job_arrived", "job_completed"):
                counts[event.data["job"]][event.kind] += 1
    for bar in state.bars.rows.tolist():
        if bar[fold.DIED] == -1 and bar[fold.ROLE] == fold.WORKER:
            index = bar[fold.JOB]
            arrived = epoch + int(state.jobs.rows[index][0])
            row = [arrived, epoch + bar[fold.START], epoch + bar[fold.END], cluster.servers[bar[fold.SERVER]].name]
            found.setdefault(jobs[index].id, []).append([row, dict(counts[index])])
print(json.dumps(found))
"""
COMPLETED = """
from twin.eventlog import event_log
from twin.models import Run
runs = Run.objects.filter(mode=Run.MIRROR).values_list("pk", flat=True)
print(sum(event.kind == "job_completed" for run in runs for batch in event_log.after(run, 0) for event in batch))
"""


def check_runs(stack: Stack) -> list[dict[str, Any]]:
    """All runs finished, with the log and the metrics of an undisturbed run."""
    rows = json.loads(stack.manage(RUNS, timeout_s=1_800))
    bad = [row for row in rows if not (row["status"] == "finished" and row["log"] and row["metrics"])]
    assert bad == [], f"{len(bad)} of {len(rows)} runs differ from undisturbed ones: {bad[:5]}"
    return rows


def check_imports(stack: Stack, load: Load, folder: Path) -> list[dict[str, Any]]:
    """All uploads complete, with the jobs of an undisturbed import."""
    from hashlib import sha256

    from twin.traces import importers

    rows = json.loads(stack.manage(IMPORTS))
    for row in rows:
        assert row["status"] == "ready", row
    by_number = {row["trace"]: row for row in rows}
    for number, (trace, content) in enumerate(load.files.items()):
        path = folder / "undisturbed.txt"
        path.write_bytes(content)
        result = importers.read([importers.Upload(path, f"jobs-{number}.txt")], format="auto", seed=number)
        assert by_number[trace]["digest"] == sha256(result.jobs.data).hexdigest(), by_number[trace]
    return rows


def check_followed(stack: Stack, cluster: PostingCluster) -> dict[str, Any]:
    """All jobs of the live cluster, once each, with the times and nodes that were posted."""
    found = json.loads(stack.manage(FOLLOWED))
    told = {
        name: [[[job.submitted_ms, job.started_ms, job.ended_ms, job.node], {"job_arrived": 1, "job_completed": 1}]]
        for name, job in cluster.jobs.items()
    }
    wrong = {name: (row, found.get(name)) for name, row in told.items() if found.get(name) != row}
    assert wrong == {}, f"{len(wrong)} of {len(told)} jobs differ from what the cluster posted"
    assert found.keys() == told.keys()
    return found
