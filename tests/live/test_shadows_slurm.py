"""Shadows of a real Slurm: its jobs of seconds, replayed by every scheduler in the background of a running twin."""

import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from scheduling.kernel.registry import schedulers
from tests.live.slurm_cluster import Cluster, missing
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
JOBS, SECONDS = 12, 3
ENDED = """
from twin.models import Connection
from twin.mirror import stored
connection = Connection.objects.select_related("run").get(name="lab")
jobs = stored.load(connection).jobs if connection.run else []
print(sum(job.fact.state == "ended" for job in jobs))
"""
PASSES = """
from twin.models import Connection
from twin.mirror import stored
run = Connection.objects.select_related("run").get(name="lab").run
print(*stored.load_run(run).passes.between(0, run.sim_ms))
"""
FIRST_POLL = """
from twin.models import Connection
from twin.mirror import stored
run = Connection.objects.select_related("run").get(name="lab").run
print(run.clock_wall.timestamp() + stored.first_ms(run) / 1000)
"""
START = """
from twin.models import Connection
from twin.studies.shadows import sets
connection = Connection.objects.select_related("run__scenario__cluster").get(name="lab")
connection.shadow_sets.all().delete()
print(sets.request(connection, 3_600_000, purpose="{purpose}").pk)
"""
FOUND = """
import json
from twin.models import ShadowSet
of = ShadowSet.objects.first()
print(json.dumps({
    "status": of.status, "message": of.message, "facts": of.facts,
    "shadows": [[one.scheduler, one.status, one.message, one.figures, one.deltas] for one in of.shadows.all()],
}))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("slurm"), 28_900)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def stack(cluster):
    with tempfile.TemporaryDirectory(prefix="twin-shadows-") as folder:
        twin = Stack(Path(folder), PATH=cluster.environment["PATH"], SHADOWS_EVERY_S="0").up()
        connect(twin, cluster)
        yield twin
        twin.down()


def connect(stack, cluster):
    """Follows the cluster as "lab"."""
    parameters = ("--param", f"conf={cluster.conf}", "--param", "interval_ms=500", "--param", "nodes_interval_ms=1000")
    command = [sys.executable, str(ROOT / "manage.py"), "connect", "slurm", "--name", "lab", *parameters]
    connected = subprocess.run(command, env=stack.env, capture_output=True, text=True, timeout=120)
    assert connected.returncode == 0, connected.stdout + connected.stderr
    nodes = "select count(*) from twin_mirrorrecord where kind = 'node'"
    wait_until(lambda: stack.sql(nodes)[0][0] == 4, "the first poll is in the mirror")
    # Slurm states whole seconds: a job of the second of the first poll would seem to run before the log begins
    first_s = float(stack.manage(FIRST_POLL))
    wait_until(lambda: time.time() >= first_s + 1, "the second of the first poll is over")


def computed(stack, purpose):
    """A set of shadows, or a replay, of the last hour, once it has ended."""
    stack.manage(START.format(purpose=purpose))
    found = {}

    def over():
        found.update(orjson.loads(stack.manage(FOUND)))
        return found["status"] not in ("queued", "computing")

    wait_until(over, "the set is computed", 300)
    assert (found["status"], found["message"]) == ("finished", "")
    return found


def test_every_scheduler_replays_what_slurm_did(cluster, stack):
    for number in range(JOBS):
        cluster.sbatch(f"--gres=gpu:{1 + number % 3}", wrap=f"sleep {SECONDS}")
    wait_until(lambda: int(stack.manage(ENDED)) >= JOBS, "every end is in the mirror", 180)
    found = computed(stack, "shadows")
    facts, shadows = found["facts"], {row[0]: row for row in found["shadows"]}
    assert (facts["jobs"], facts["scored"]) == (JOBS, JOBS)
    assert facts["slot_ms"] in (1_000, 5_000)  # the log begins with the hour: late in it 2,000 slots of 1 s are too few
    assert {row[1] for row in shadows.values()} == {"done"}, [row[2] for row in shadows.values()]
    assert len(shadows) + len(facts["cannot"]) == len(schedulers())
    real = facts["real"]
    assert real["completed"] == JOBS
    assert real["mean_jct_ms"] - real["mean_wait_ms"] == pytest.approx(SECONDS * 1_000, abs=1_500)
    passes = [int(ms) for ms in stack.manage(PASSES).split()]
    assert passes, "sdiag has shown the backfill passes"
    assert all(later - earlier >= 1_000 for earlier, later in pairwise(passes))
    for name in ("fifo", "easy", "conservative"):  # as fast as Slurm, but for its cycles and whole seconds
        metrics = shadows[name][3]
        assert metrics["completed"] == JOBS
        assert metrics["mean_jct_ms"] - metrics["mean_wait_ms"] == pytest.approx(
            SECONDS * 1_000, abs=1_500 + facts["slot_ms"]
        )


def test_a_replay_knows_when_jobs_were_eligible(cluster, stack):
    """A dependency, a begin time and a hold: with the submissions as arrivals the model starts them too early."""
    before = int(stack.manage(ENDED))
    whole = ("-N1", "--exclusive", "--gres=gpu:4")
    first = [cluster.sbatch(*whole, wrap="sleep 12") for _ in range(4)]
    cluster.sbatch(*whole, f"--dependency=afterany:{first[0]}", wrap="sleep 4")
    cluster.sbatch("--gres=gpu:1", "--begin=now+25", wrap="sleep 4")
    held = cluster.sbatch("--gres=gpu:1", "--hold", wrap="sleep 4")
    cluster.sbatch(*whole, wrap="sleep 4")
    wait_until(lambda: int(stack.manage(ENDED)) >= before + 5, "the first jobs have ended", 180)
    cluster.run("scontrol", "release", held)
    wait_until(lambda: int(stack.manage(ENDED)) >= before + 8, "every end is in the mirror", 180)
    found = computed(stack, "replay")
    replay = found["facts"]["replay"]
    assert (replay["jobs"], replay["in_step"]) == (before + 8, 1.0)
    assert any(
        text.startswith("3 jobs first waited for something other than resources")
        for text in found["facts"]["sentences"]
    )
