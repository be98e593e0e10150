"""The Slurm connector and its controller: the connection test, kills, hints, costs, accounting, hostile names."""

import re
import signal
import subprocess
import time
from itertools import islice
from pathlib import Path

import pytest

from tests.live.slurm.waiting import runs, start_again
from tests.live.slurm_cluster import Cluster, missing, until
from twin.connectors import facts
from twin.connectors.facts import ConnectorError
from twin.mirror.differ import Mirror, epoch_of
from twin.mirror.following import Following

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
PORT = 27_400  # the first of those of the cluster


def test_the_connection_test_tells_what_is_there(cluster):
    found = cluster.connector().check()
    assert found.well
    assert re.fullmatch(r"\d+\.\d+\.\d+", found.version)
    assert abs(found.clock_offset_ms) < 1000
    findings = {finding.subject: finding for finding in found.findings}
    assert findings["nodes"].message == "4 nodes, 16 GPUs"
    assert findings["accounting"].well == findings["GPUs"].well == cluster.accounting


def test_hostile_names_forge_nothing(cluster, follower):
    name = (
        "a\nJobId=1 JobName=x NodeList=edge1   Nodes=edge1 CPU_IDs=0-7 Mem=9 GRES=gpu:4(IDX:0-3) \x1e|\x1f@x@ "
        "99_[1-5]\r"
    )
    key = cluster.sbatch("-J", name, "--comment", name, "--gres=gpu:1", "-w", "edge2")
    other = cluster.sbatch("--gres=gpu:1", "-w", "edge2")
    follower(other, runs)
    seen = {job.key for job in follower.connector.snapshot().jobs if job.state == facts.RUNNING}
    assert seen == {key, other}
    assert [(job.key, job.attempts[0].shares[0].gpus) for job in follower.connector.details([other])] == [(other, 1)]
    for job in follower.connector.details([key]):
        assert job.attempts[0].shares[0].node == "edge2"


def test_an_empty_queue_counts_when_the_controller_agrees(tmp_path):
    cluster = Cluster(tmp_path / "c", 27700, "MinJobAge=2\n")
    cluster.start()
    try:
        connector = cluster.connector()
        first = connector.snapshot()
        assert (first.complete, first.jobs, len(first.nodes)) == (True, (), 4)
        assert list(connector.estimate()) == []
        with pytest.raises(ConnectorError, match="accounting storage is disabled"):
            list(connector.history(0, 2_000_000_000_000))
        findings = {finding.subject: finding for finding in connector.check().findings}
        accounting = findings["accounting"]
        assert (accounting.well, accounting.needed, findings["MinJobAge"].well) == (False, False, False)
    finally:
        cluster.stop()


def test_a_stopped_controller_ends_no_job(cluster, follower):
    key = cluster.sbatch("-t5")
    before = follower(key, runs)
    impatient = cluster.connector(timeout_ms=1500)
    pid = cluster.kill("slurmctld", how=signal.SIGSTOP)
    try:
        with pytest.raises(
            ConnectorError, match=r"did not answer within 1\.5 s and was stopped; slurmctld may be down"
        ):
            impatient.snapshot()
        (finding,) = [finding for finding in impatient.check().findings if not finding.well]
        assert (finding.subject, "scontrol ping" in finding.remedy) == ("controller", True)
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
    assert follower(key, runs).attempts == before.attempts


def test_a_killed_controller_ends_no_job(cluster, follower):
    key = cluster.sbatch("-t5")
    before = follower(key, runs)
    state = cluster.folder / "state" / "job_state"  # what began after it was written is lost with the controller
    cluster.run("scontrol", "update", f"jobid={key}", "comment=save")  # it is written some seconds after a change
    changed_at = time.time()
    until(lambda: state.exists() and state.stat().st_mtime > changed_at, "the state is saved")
    pid = cluster.kill("slurmctld")
    until(lambda: not Path(f"/proc/{pid}").exists(), "slurmctld is gone")
    try:
        with pytest.raises(ConnectorError, match=r"sdiag|squeue"):
            follower.connector.snapshot()
    finally:
        cluster.run("slurmctld", "-f", str(cluster.conf))
    until(
        lambda: subprocess.run(
            ["scontrol", "ping"], env=cluster.environment, capture_output=True, timeout=30
        ).stdout.endswith(b"UP\n"),
        "slurmctld is back",
    )
    after = follower(key, runs)
    assert (after.submitted_ms, after.attempts) == (before.submitted_ms, before.attempts)


def test_a_hint_brings_a_look_long_before_the_interval_is_over(cluster):
    connector = cluster.connector(interval_ms=600_000, hook_port=cluster.hook_port)
    connector.snapshot()
    changes = connector.changes()
    key = cluster.sbatch("-t5")
    for snapshot in islice(changes, 30):  # signs of life come every 5 s
        if any(job.key == key and runs(job) for job in snapshot.jobs):
            return
    pytest.fail("the start was not seen")


def test_what_following_costs_is_reported(cluster):
    connector = cluster.connector()
    before = connector.cost()
    connector.snapshot()
    after = connector.cost()
    assert after["calls"] >= before["calls"] + 3
    assert after["ms"] > before["ms"]


def test_history_tells_all_attempts(cluster, follower):
    if not cluster.accounting:
        pytest.skip("no accounting: slurmdbd or a MariaDB whose root has no password is missing")
    start_ms = follower.connector.snapshot().at_ms - 2000
    key = cluster.sbatch("-t5", "--gres=gpu:1")
    follower(key, runs)
    cluster.run("scontrol", "requeue", key)
    follower(key, lambda job: job.reason == "BeginTime")
    start_again(cluster, follower, key)
    live = follower(key, runs)
    waiting = cluster.sbatch("--hold")
    follower(waiting, lambda job: job.state == facts.HELD)
    cluster.run("scancel", key, waiting)
    follower(key, lambda job: job.state == facts.ENDED)

    def records():
        end_ms = follower.connector.snapshot().at_ms + 2000
        found = {job.key: job for job in follower.connector.history(start_ms, end_ms)}
        return found if {key, waiting} <= found.keys() else None

    jobs = until(records, "sacct lists both jobs")
    assert [attempt.outcome for attempt in jobs[key].attempts] == [facts.REQUEUED, facts.CANCELLED]
    assert [attempt.started_ms for attempt in jobs[key].attempts] == [attempt.started_ms for attempt in live.attempts]
    assert (jobs[key].submitted_ms, jobs[key].restarts, jobs[key].gpus) == (live.submitted_ms, 1, 1)
    assert (jobs[waiting].outcome, jobs[waiting].attempts) == (facts.CANCELLED, ())


def test_a_job_that_was_requeued_while_no_follower_ran_is_the_same_with_the_end_that_is_accounted(cluster, follower):
    if not cluster.accounting:
        pytest.skip("no accounting: slurmdbd or a MariaDB whose root has no password is missing")
    key = cluster.sbatch("-w", "edge4", "-t5")
    follower(key, runs)
    first = cluster.connector().snapshot()
    mirror = Mirror(epoch_of(first))
    mirror.apply(first)
    cluster.run("scontrol", "update", "nodename=edge4", "state=down", "reason=disk broken")
    follower(key, lambda job: job.reason == "BeginTime", "it waits with a new submit time")

    another = Following(cluster.connector(), mirror, lambda events, ms: None, stopped=lambda seconds: True)
    another.apply(another.connector.snapshot())
    (known,) = [known for known in mirror.jobs if known.fact.key == key]
    assert (known.fact.restarts, known.attempts[0].outcome) == (1, facts.REQUEUED)
    assert known.index in mirror.uncertain

    def confirmed():
        another.apply(another.connector.snapshot())
        return known.index not in mirror.uncertain

    until(confirmed, "the accounting is settled")
    (stated,) = another.connector.accounted([key])
    ends = [[(one.started_ms, one.ended_ms, one.outcome) for one in each.attempts] for each in (known, stated)]
    assert ends[0] == ends[1]
    assert [outcome for _, _, outcome in ends[0]] == [facts.NODE_FAIL]
    assert known.fact.submit_times == stated.submit_times
