"""The Slurm connector against a real Slurm: each case as users and operators bring it about."""

import re
import time

import pytest

from tests.live.slurm.waiting import runs, start_again
from tests.live.slurm_cluster import missing, until
from twin.connectors import facts

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
PORT = 27_600  # the first of those of the cluster


def test_a_job_from_submission_to_its_end(cluster, follower):
    key = cluster.sbatch("--gres=gpu:2", "-N2", "-t5", "--mem-per-cpu=1000")
    job = follower(key, runs)
    assert (job.nodes, job.gpus, job.cpus, job.memory_mb, job.limit_ms, job.queue) == (
        2,
        4,
        2,
        2000,
        300_000,
        "edge",
    )
    (detailed,) = follower.connector.details([key])
    assert [(share.gpus, share.gpu_ids) for share in detailed.attempts[0].shares] == [(2, (0, 1)), (2, (0, 1))]
    assert follower(key, runs).attempts == detailed.attempts
    cluster.run("scancel", key)
    ended = follower(key, lambda job: job.state == facts.ENDED)
    assert (ended.outcome, ended.attempts[0].outcome, ended.attempts[0].shares) == (
        facts.CANCELLED,
        facts.CANCELLED,
        detailed.attempts[0].shares,
    )
    assert ended.attempts[0].started_ms == job.attempts[0].started_ms <= ended.attempts[0].ended_ms == ended.ended_ms


def test_an_array_splits_into_tasks_of_the_same_keys(cluster, follower):
    number = cluster.sbatch("--array=1,4-7%2", "--gres=gpu:1")
    follower(f"{number}_4", runs)
    jobs = {job.key: job.state for job in follower.connector.snapshot().jobs if job.key.startswith(f"{number}_")}
    assert jobs == {
        f"{number}_1": facts.RUNNING, f"{number}_4": facts.RUNNING,
        **dict.fromkeys((f"{number}_{i}" for i in (5, 6, 7)), facts.WAITING),
    }  # fmt: skip
    assert {
        job.attempts[0].shares[0].gpu_ids for job in follower.connector.details([f"{number}_1", f"{number}_4"])
    } == {
        (0,),
        (1,),
    }


def test_expected_starts_are_those_that_squeue_prints(cluster, follower):
    for node in ("edge1", "edge2", "edge3", "edge4"):
        cluster.sbatch("--gres=gpu:4", "-t20", "-w", node)
    wide, later = cluster.sbatch("--gres=gpu:4", "-N2", "-t3"), cluster.sbatch("--begin=now+3000", "-t2")
    array = cluster.sbatch("--array=1-3%1", "--gres=gpu:4", "-t2")
    gang = cluster.run("sbatch", "--parsable", "--gres=gpu:2", "-t2", ":", "--gres=gpu:4", "--wrap=sleep 60").strip()
    held = cluster.sbatch("--hold", "-t2")
    wanted = {wide, later, f"{array}_1", f"{gang}+0", f"{gang}+1"}

    def expected():
        """Both, once backfill has seen all jobs."""
        before = printed(cluster)
        follower.connector.snapshot()
        ours = follower.connector.estimate()
        return (ours, before) if before.keys() == wanted and before == printed(cluster) else None

    ours, theirs = until(expected, "backfill expects a start of each job")
    assert ours == theirs
    assert held not in ours
    assert all(ms > time.time() * 1000 for ms in ours.values())


def test_reservations_have_their_time_nodes_and_holders(cluster, follower):
    def create(name, *options):
        cluster.run("scontrol", "create", "reservation", f"reservationname={name}", "users=root", *options)

    create("cooling", "starttime=now+600", "duration=10", "nodes=edge[1-2]", "flags=maint,ignore_jobs")
    create("course", "starttime=now+60", "duration=5", "nodes=edge4", "flags=ignore_jobs")
    create("floating", "starttime=now+3600", "duration=10", "nodes=edge3", "flags=time_float,ignore_jobs")
    try:
        found = follower.connector.snapshot().reservations
        assert [(one.name, one.nodes, one.maintenance, one.holders) for one in found] == [
            ("course", ("edge4",), False, "root"), ("cooling", ("edge1", "edge2"), True, "root"),
        ]  # fmt: skip
        assert [one.until_ms - one.from_ms for one in found] == [300_000, 600_000]
        assert 0 < found[0].from_ms - time.time() * 1000 <= 60_000
    finally:
        for name in ("cooling", "course", "floating"):
            cluster.run("scontrol", "delete", f"reservationname={name}")
    assert follower.connector.snapshot().reservations == ()


def printed(cluster):
    """{key: Unix ms} of `squeue --start`, an array by its next task."""
    rows = [row.split("|") for row in cluster.run("squeue", "--start", "-h", "-o", "%i|%S").splitlines()]
    return {re.sub(r"\[(\d+).*", r"\1", key): int(start) * 1000 for key, start in rows if start.isdigit()}


def test_a_long_sparse_array_is_not_cut(cluster, follower):
    number = cluster.sbatch("--hold", "--array=" + ",".join(str(3 * i + i % 2) for i in range(150)))
    follower(f"{number}_448", lambda job: job.state == facts.HELD)  # squeue cuts the list at 64 characters by default
    assert sum(job.key.startswith(f"{number}_") for job in follower.connector.snapshot().jobs) == 150


def test_a_heterogeneous_job_is_a_gang_that_starts_together(cluster, follower):
    number = cluster.run(
        "sbatch", "--parsable", "--gres=gpu:1", "-n1", ":", "-n2", "--gres=gpu:2", "--wrap=sleep 600"
    ).strip()
    first, second = follower(f"{number}+0", runs), follower(f"{number}+1", runs)
    assert first.gang == second.gang == f"{number}+0"
    assert abs(first.attempts[0].started_ms - second.attempts[0].started_ms) <= 1000
    assert len(follower.connector.details([first.key, second.key])) == 2


def test_a_requeued_job_stays_the_same_job(cluster, follower):
    key = cluster.sbatch("-t5")
    before = follower(key, runs)
    cluster.run("scontrol", "requeue", key)
    again = follower(key, lambda job: job.state == facts.WAITING and job.reason == "BeginTime")
    assert (again.submitted_ms, again.restarts) == (before.submitted_ms, 1)
    assert [attempt.outcome for attempt in again.attempts] == [facts.REQUEUED]
    assert again.attempts[0].started_ms == before.attempts[0].started_ms <= again.attempts[0].ended_ms
    start_again(cluster, follower, key)
    twice = follower(key, runs)
    assert (twice.submitted_ms, len(twice.attempts), twice.attempts[1].ended_ms) == (before.submitted_ms, 2, None)


def test_a_node_set_down_ends_the_attempt_and_the_job_waits(cluster, follower):
    key = cluster.sbatch("-w", "edge4", "-t5")
    before = follower(key, runs)
    cluster.run("scontrol", "update", "nodename=edge4", "state=down", "reason=disk broken")
    again = follower(key, lambda job: job.restarts == 1)
    assert (again.submitted_ms, again.state, again.attempts[0].outcome) == (
        before.submitted_ms,
        facts.WAITING,
        facts.REQUEUED,
    )


def test_a_job_that_may_not_be_requeued_ends_with_its_node(cluster, follower):
    key = cluster.sbatch("--no-requeue", "-w", "edge3", "-t5")
    follower(key, runs)
    cluster.run("scontrol", "update", "nodename=edge3", "state=down", "reason=x")
    ended = follower(key, lambda job: job.state == facts.ENDED)
    assert (ended.outcome, ended.reason, ended.attempts[0].shares[0].node) == (facts.NODE_FAIL, "NodeDown", "edge3")


def test_a_killed_slurmd_shows_as_a_node_that_does_not_respond(cluster):
    connector = cluster.connector()
    cluster.kill("slurmd", "edge2")
    # else after SlurmdTimeout, 300 s
    cluster.run("bash", "-c", "scontrol update nodename=edge2 state=down reason=gone")
    try:
        node = until(
            lambda: next((n for n in connector.snapshot().nodes if n.name == "edge2" and n.state == facts.DOWN), None),
            "edge2 is down",
        )
        assert node.reason == "gone"
    finally:
        cluster.run("slurmd", "-f", str(cluster.conf), "-N", "edge2")
    until(lambda: all(n.state == facts.UP for n in connector.snapshot().nodes), "edge2 is back")


def test_a_drained_node_keeps_its_jobs(cluster, follower):
    key = cluster.sbatch("-w", "edge1", "-t5")
    follower(key, runs)
    cluster.run("scontrol", "update", "nodename=edge1", "state=drain", "reason=new fan [x]")
    nodes = {node.name: node for node in follower.connector.snapshot().nodes}
    assert (nodes["edge1"].state, nodes["edge1"].reason, nodes["edge2"].state) == (
        facts.DRAINING,
        "new fan [x]",
        facts.UP,
    )
    assert follower(key, runs).attempts[0].ended_ms is None
    cluster.run("scancel", key)
    until(lambda: follower.connector.snapshot().nodes[0].state == facts.DRAINED, "edge1 is drained")


def test_suspension_and_resumption(cluster, follower):
    key = cluster.sbatch("-t5")
    follower(key, runs)
    cluster.run("scontrol", "suspend", key)
    suspended = follower(key, lambda job: job.state == facts.SUSPENDED)
    assert len(suspended.attempts) == 1
    [share] = suspended.attempts[0].shares
    shown = cluster.run("scontrol", "show", "node", share.node)
    assert (suspended.frees_cpus, "CPUAlloc=0 " in shown) == (True, True)
    cluster.run("scontrol", "resume", key)
    assert follower(key, runs).attempts[0].started_ms == suspended.attempts[0].started_ms


def test_preemption_is_a_requeue(cluster, follower):
    low = cluster.sbatch("-N4", "--exclusive", "-t5")
    follower(low, runs)
    high = cluster.sbatch("-p", "high", "-N1", "--exclusive", "-t5")
    follower(high, runs)
    again = follower(low, lambda job: job.state == facts.WAITING)
    assert (again.restarts, len(again.attempts), len(again.attempts[0].shares)) == (1, 1, 4)


def test_waiting_jobs_say_why(cluster, follower):
    first = cluster.sbatch("-t5", "-N4", "--exclusive")
    follower(first, runs)
    held = cluster.sbatch("--hold")
    after = cluster.sbatch("-d", f"afterok:{first}")
    later = cluster.sbatch("--begin=now+1000")
    full = cluster.sbatch("-t5")
    assert follower(held, lambda job: job.reason).state == facts.HELD
    dependent = follower(after, lambda job: job.reason == "Dependency")
    assert dependent.depends_on.startswith(f"afterok:{first}")
    assert follower(later, lambda job: job.reason == "BeginTime").state == facts.WAITING
    follower(full, lambda job: job.reason in ("Resources", "Priority"))
    assert (
        until(
            lambda: follower.connector.snapshot().jobs and follower.connector.estimate().get(full),
            "a start is expected",
        )
        > 0
    )
    cluster.run("scancel", first)
    follower(after, lambda job: job.reason == "DependencyNeverSatisfied")


def test_expected_starts_are_those_of_the_backfill_scheduler(cluster, follower):
    whole = ("-N4", "--exclusive")
    first = cluster.sbatch("-t5", *whole)
    started_ms = follower(first, runs).attempts[0].started_ms
    second, array = cluster.sbatch("-t7", *whole), cluster.sbatch("-t2", "--array=1-3%1", *whole)
    held, begins = cluster.sbatch("--hold"), cluster.sbatch("-t1", "--begin=now+3000", *whole)
    begins_ms = follower.connector.snapshot().at_ms + 3_000_000

    def expected():
        follower.connector.snapshot()
        found = follower.connector.estimate()
        return found if {second, f"{array}_1", begins} <= found.keys() else None

    found = until(expected, "starts are expected")
    assert found[second] == started_ms + 5 * 60_000, "when the limit of the first one is used up"
    assert 0 <= found[f"{array}_1"] - (found[second] + 7 * 60_000) <= 300_000, "after it, in steps of bf_resolution"
    assert found.keys() == {second, f"{array}_1", begins}, "neither of held jobs nor of later tasks of an array"
    assert abs(found[begins] - begins_ms) <= 5_000
    assert held not in found
    cluster.run("scancel", first)
    again = follower(second, runs)
    assert again.attempts[0].started_ms < found[second], "limits are too long"
    follower.connector.snapshot()
    assert second not in follower.connector.estimate()


def test_a_job_that_waits_for_a_reservation_or_a_licence_says_so(cluster, follower):
    cluster.run(
        "scontrol", "create", "reservation", "reservationname=maint", "starttime=now+900", "duration=30",
        "nodes=edge1,edge2", "users=root", "flags=maint",
    )  # fmt: skip
    try:
        inside = cluster.sbatch("--reservation=maint", "-t1")
        job = follower(inside, lambda job: job.reason == "Reservation")
        assert (job.state, job.reservation) == (facts.WAITING, "maint")
        before = cluster.sbatch("-N4", "--exclusive", "-t30")  # would run into it, so it waits for its end
        assert follower(before, lambda job: job.reason not in ("", "None")).state == facts.WAITING
        cluster.run("scancel", inside, before)
    finally:
        cluster.run("scontrol", "delete", "reservationname=maint")
    holder = cluster.sbatch("-L", "matlab:2", "-t1")
    follower(holder, runs)
    waits = cluster.sbatch("-L", "matlab:1", "-t1")
    assert follower(waits, lambda job: job.reason == "Licenses").state == facts.WAITING
    cluster.run("scancel", holder)
    follower(waits, runs)
