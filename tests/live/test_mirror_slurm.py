"""The twin follows a real Slurm while its follower is killed again and again; the mirror ends as sacct says."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
import pytest

from tests.live.slurm_cluster import Cluster, has_database, missing
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not has_database(), reason="no accounting: slurmdbd or a MariaDB without a password is missing"),
]
JOBS, KILLS = (int(os.environ.get(f"TWIN_MIRROR_{name}", default)) for name, default in (("JOBS", 30), ("KILLS", 4)))
PATIENCE_S = 120 + JOBS
OUTCOMES = {"COMPLETED": "completed", "FAILED": "failed", "NODE_FAIL": "node_fail", "CANCELLED": "cancelled"}
VICTIMS = ("manage.py follower", "uvicorn", "-Q runs")  # killed in turn
CONTROLLER = 3  # the kill that hits slurmctld; after many of them its nodes drain for duplicate jobs
MIRRORED = """
import json
from twin.models import Connection
from twin.mirror import stored
mirror = stored.load(Connection.objects.select_related("run").get(name="lab"))
print(json.dumps([
    [job.fact.key, job.fact.outcome,
     sorted([a.started_ms, a.ended_ms, sorted(s.node for s in a.shares)] for a in job.attempts)]
    for job in mirror.jobs
]))
"""
AUDIT = """
import json
from twin.mirror import drift_task
from twin.models import Connection
pk = Connection.objects.get(name="lab").pk
drift_task.audit(pk)
print(json.dumps(Connection.objects.get(pk=pk).drift))
"""
LOG = """
from twin.models import Connection
from twin.eventlog import event_log
run = Connection.objects.get(name="lab").run_id
seqs = [event.seq for batch in event_log.after(run, 0) for event in batch]
print(seqs == list(range(1, len(seqs) + 1)))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("slurm"), 28_700, accounting=True)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def stack(cluster):
    with tempfile.TemporaryDirectory(prefix="twin-mirror-") as folder:
        twin = Stack(Path(folder), PATH=cluster.environment["PATH"]).up()
        yield twin
        twin.down()


def manage(stack, *argv):
    command = [sys.executable, str(ROOT / "manage.py"), *argv]
    return subprocess.run(command, env=stack.env, capture_output=True, text=True, timeout=120)


def events(stack):
    """How many the log of the mirror has."""
    return stack.sql("select coalesce(max(last_seq), 0) from twin_run where mode = 'mirror'")[0][0]


def accounted(cluster):
    """{key: [[start ms, end ms, nodes, outcome] of each attempt]}; (key, start) of what a killed controller forgot."""
    found, forgotten = {}, set()
    rows = cluster.run("sacct", "-D", "-X", "-n", "-P", "-S", "now-3hours", "-o", "JobID,Start,End,State,NodeList")
    for row in rows.splitlines():
        key, start, end, state, nodes = row.split("|")
        if start.isdigit() and end.isdigit():
            outcome = OUTCOMES[state.split()[0]]
            found.setdefault(key, []).append([int(start) * 1000, int(end) * 1000, [nodes], outcome])
        elif start.isdigit():
            forgotten.add((key, int(start) * 1000))
    return {key: sorted(attempts) for key, attempts in found.items()}, forgotten


def total(attempts):
    return sum(map(len, attempts.values()))


def mirrored(stack):
    """[key, outcome, [start ms, end ms, nodes] of each attempt] of each job of the mirror."""
    return orjson.loads(stack.manage(MIRRORED))


def answer(cluster, *argv):
    """What a command prints, whether or not it fails."""
    return subprocess.run(argv, env=cluster.environment, capture_output=True, text=True, timeout=60).stdout


def killed(cluster, stack, number):
    """Kills one process, and waits until there is another one in its place."""
    if number == CONTROLLER:  # a job of which it forgets would collide on its node with the next one of that number
        state, newest = cluster.folder / "state" / "job_state", time.time()
        wait_until(lambda: state.exists() and state.stat().st_mtime > newest, "the state is saved")
        cluster.kill("slurmctld")
        cluster.run("slurmctld", "-f", str(cluster.conf))
        wait_until(lambda: "UP" in answer(cluster, "scontrol", "ping"), "slurmctld is back")
        return
    process = stack.processes(VICTIMS[number % len(VICTIMS)])[0]
    process.kill()
    process.wait(30)


def test_the_mirror_is_what_the_accounting_says_though_processes_are_killed(cluster, stack):
    connected = manage(
        stack, "connect", "slurm", "--name", "lab", "--param", f"conf={cluster.conf}", "--param", "interval_ms=500"
    )
    assert connected.returncode == 0, connected.stdout + connected.stderr
    dice = random.Random(5)
    for number in range(JOBS):
        ends = dice.choice(("", "", "; exit 3"))
        seconds = dice.uniform(0.2, 4 if JOBS < 100 else 0.4)
        cluster.sbatch(f"--gres=gpu:{dice.randint(1, 3)}", wrap=f"sleep {seconds:.1f}{ends}")
        if number % (JOBS // KILLS) == 5:
            grown = events(stack)
            wait_until(lambda before=grown: events(stack) > before, "the follower writes")
            killed(cluster, stack, number // (JOBS // KILLS))

    def all_ended():
        """A controller that was killed may drain a node, because of a job that it has forgotten."""
        cluster.resume()
        return not cluster.run("squeue", "-h").strip()

    wait_until(all_ended, "every job has ended", PATIENCE_S)
    wait_until(lambda: all(outcome for _, outcome, _ in mirrored(stack)), "every end is in the mirror", PATIENCE_S)
    wait_until(lambda: total(accounted(cluster)[0]) >= JOBS, "every end is accounted", PATIENCE_S)
    truth, forgotten = accounted(cluster)
    assert total(truth) == JOBS
    found = {}
    for key, outcome, attempts in mirrored(stack):
        if (key, attempts[0][0] if attempts else None) not in forgotten:
            found.setdefault(key, []).extend([*attempt, outcome] for attempt in attempts)
    assert {key: sorted(attempts) for key, attempts in found.items()} == truth
    assert stack.manage(LOG).strip() == "True"
    drift = {}

    def audited():
        drift.update(orjson.loads(stack.manage(AUDIT)))
        return drift["error"] or drift["compared"] >= 2 * JOBS  # by the queue, and by the accounting after some seconds

    wait_until(audited, "every end has settled")
    assert (drift["error"], drift["suspected"], drift["count"]) == ("", [], 0)
