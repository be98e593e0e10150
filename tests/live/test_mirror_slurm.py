"""The twin follows a real Slurm while its follower is killed again and again; the mirror ends as sacct says."""

import random
import subprocess
import sys
import tempfile
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
JOBS, KILLS = 30, 3
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
    """{key: [[start ms, nodes] of each attempt that ran]} as sacct says."""
    found = {}
    rows = cluster.run("sacct", "-D", "-X", "-n", "-P", "-S", "now-1hours", "-o", "JobID,Start,End,State,NodeList")
    for row in rows.splitlines():
        key, start, end, state, nodes = row.split("|")
        if start.isdigit() and end.isdigit():
            found.setdefault(key, []).append([int(start) * 1000, int(end) * 1000, [nodes], state.split()[0]])
    return {key: sorted(attempts) for key, attempts in found.items()}


def test_the_mirror_is_what_the_accounting_says_though_its_follower_is_killed(cluster, stack):
    connected = manage(
        stack, "connect", "slurm", "--name", "lab", "--param", f"conf={cluster.conf}", "--param", "interval_ms=500"
    )
    assert connected.returncode == 0, connected.stdout + connected.stderr
    dice = random.Random(5)
    submitted = []
    for number in range(JOBS):
        ends = dice.choice(("", "", "; exit 3"))
        submitted.append(
            cluster.sbatch(f"--gres=gpu:{dice.randint(1, 3)}", wrap=f"sleep {dice.uniform(0.2, 4):.1f}{ends}")
        )
        if number % (JOBS // KILLS) == 5:
            grown = events(stack)
            wait_until(lambda before=grown: events(stack) > before, "the follower writes")
            victim = stack.processes("manage.py follower")[0]
            victim.kill()
            victim.wait(30)
    wait_until(lambda: not cluster.run("squeue", "-h").strip(), "every job has ended")
    truth = accounted(cluster)
    assert sorted(truth, key=int) == submitted

    def mirrored():
        return {key: (outcome, attempts) for key, outcome, attempts in orjson.loads(stack.manage(MIRRORED))}

    wait_until(
        lambda: sum(outcome != "" for outcome, _ in mirrored().values()) == JOBS, "the mirror has seen every job end"
    )
    mirror = mirrored()
    assert {key: [[start, end, nodes] for start, end, nodes, _ in attempts] for key, attempts in truth.items()} == {
        key: attempts for key, (_, attempts) in mirror.items()
    }
    outcomes = {"COMPLETED": "completed", "FAILED": "failed"}
    assert {key: outcomes[attempts[-1][3]] for key, attempts in truth.items()} == {
        key: said for key, (said, _) in mirror.items()
    }
    assert stack.manage(LOG).strip() == "True"
    drift = {}

    def audited():
        drift.update(orjson.loads(stack.manage(AUDIT)))
        return drift["error"] or drift["compared"] >= 2 * JOBS  # by the queue, and by the accounting after some seconds

    wait_until(audited, "every end has settled")
    assert (drift["error"], drift["suspected"], drift["count"]) == ("", [], 0)
