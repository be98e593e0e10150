"""The twin follows a real Slurm over borders between its runs: a full run, and a controller with an empty state."""

import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
import pytest

from tests.live import drift
from tests.live.slurm_cluster import Cluster, has_database, missing
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not has_database(), reason="no accounting: slurmdbd or a MariaDB without a password is missing"),
]
MAX_EVENTS = 40  # of one run
OUTCOMES = {"COMPLETED": "completed", "CANCELLED": "cancelled", "FAILED": "failed"}
RUNS = """
import json
from twin.eventlog import event_log
from twin.mirror import stored
from twin.models import Run
rows = []
for run in Run.objects.filter(mode="mirror").order_by("pk"):
    events = [event for batch in event_log.after(run.pk, 0) for event in batch]
    mirror = stored.load_run(run)
    rows.append({
        "status": run.status, "message": run.message, "follows": run.follows_id, "pk": run.pk,
        "whole": [event.seq for event in events] == list(range(1, len(events) + 1)),
        "codes": [event.data["code"] for event in events if event.kind == "decided"],
        "jobs": [[job.fact.key, job.name, job.fact.submitted_ms, job.fact.state, job.fact.outcome,
                  [[a.started_ms, a.ended_ms, [s.node for s in a.shares]] for a in job.attempts]]
                 for job in mirror.jobs],
    })
print(json.dumps(rows))
"""


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path / "c", 29_300, "MinJobAge=300\n", accounting=True)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def stack(cluster):
    with tempfile.TemporaryDirectory(prefix="twin-borders-") as folder:
        twin = Stack(Path(folder), PATH=cluster.environment["PATH"], MIRROR_EVENTS=str(MAX_EVENTS)).up()
        argv = ["connect", "slurm", "--name", "lab", "--param", f"conf={cluster.conf}", "--param", "interval_ms=300"]
        try:
            command = [sys.executable, str(ROOT / "manage.py"), *argv]
            done = subprocess.run(command, env=twin.env, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stdout + done.stderr
            yield twin
        finally:
            twin.down()


def runs(stack):
    return orjson.loads(stack.manage(RUNS))


def ended(rows):
    """{(key, submit time): [outcome, attempts]} of the jobs that have ended, each in one run."""
    found = {}
    for run in rows:
        for key, _, submitted_ms, state, outcome, attempts in run["jobs"]:
            if state == "ended":
                assert (key, submitted_ms) not in found, f"{key} has ended in two runs"
                found[key, submitted_ms] = [outcome, attempts]
    return found


def accounted(cluster):
    """The same by sacct, of jobs that have ended."""
    found = {}
    columns = "JobID,Submit,Start,End,State,NodeList"
    rows = cluster.run("sacct", "-D", "-X", "-n", "-P", "-S", "now-1hours", "-o", columns)
    for row in rows.splitlines():
        key, submit, start, end, state, nodes = row.split("|")
        if end.isdigit():
            attempts = [[int(start) * 1000, int(end) * 1000, [nodes]]] if start.isdigit() else []
            found[key, int(submit) * 1000] = [OUTCOMES[state.split()[0]], attempts]
    return found


def open_jobs(rows):
    return {key for key, _, _, state, _, _ in rows[-1]["jobs"] if state != "ended"}


def test_jobs_that_are_open_at_borders_end_once_and_as_the_accounting_says(cluster, stack):
    long = [cluster.sbatch("--gres=gpu:1", "-w", f"edge{i}") for i in (1, 2)]
    waiting = cluster.sbatch("--hold")
    wait_until(lambda: (rows := runs(stack)) and {*long, waiting} <= open_jobs(rows), "the long jobs are in the mirror")
    short = 0
    while len(rows := runs(stack)) < 4 or rows[-1]["codes"].count("started") < 3:
        cluster.sbatch("--gres=gpu:1", wrap="sleep 0.5")
        short += 1
        assert short < 200
    for run in rows[:-1]:
        assert run["codes"].count("continues") >= 3, "the long jobs and the held one"
    cluster.run("scancel", long[0])
    wait_until(lambda: open_jobs(runs(stack)) == {long[1], waiting}, "all others have ended")
    wait_until(lambda: len(accounted(cluster)) == short + 1, "every end is accounted")
    rows = runs(stack)
    assert ended(rows) == accounted(cluster)
    assert [run["status"] for run in rows] == ["finished"] * (len(rows) - 1) + ["running"]
    assert [run["follows"] for run in rows] == [None, *(run["pk"] for run in rows[:-1])]
    assert all(run["whole"] for run in rows)
    assert {name for run in rows for _, name, *_ in run["jobs"]} == {key for run in rows for key, *_ in run["jobs"]}
    assert drift.settled(stack) == ("", [])


def test_a_controller_with_an_empty_state_begins_another_run(cluster, stack):
    old = [cluster.sbatch("--gres=gpu:1"), cluster.sbatch("--gres=gpu:1"), cluster.sbatch("--hold")]
    wait_until(lambda: (rows := runs(stack)) and open_jobs(rows) == set(old), "the jobs are in the mirror")
    before = runs(stack)
    cluster.forget()
    again = cluster.sbatch("--gres=gpu:1", wrap="sleep 600")
    assert again == old[0] == "1"
    short = cluster.sbatch("--gres=gpu:1", wrap="true")
    wait_until(lambda: len(runs(stack)) == len(before) + 1, "another run has begun")
    wait_until(lambda: "ended" in {job[3] for job in runs(stack)[-1]["jobs"]}, "the short job has ended")
    *_, over, now = runs(stack)
    assert (over["pk"], over["status"]) == (before[-1]["pk"], "finished")
    assert over["message"] == "lab restarted with an empty state and numbers its jobs from 1 again."
    # Lost, or what the accounting says of them, which a new controller closes when it registers.
    assert {key: state for key, _, _, state, _, _ in over["jobs"]} == dict.fromkeys(old, "ended")
    assert {name: state for _, name, _, state, _, _ in now["jobs"]} == {again: "running", short: "ended"}
    assert now["follows"] == over["pk"]
    assert drift.settled(stack) == ("", [])
