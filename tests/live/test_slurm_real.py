"""The Slurm connector against a real Slurm: each case as users and operators bring it about."""

import re
import signal
import socket
import subprocess
import time
from itertools import islice
from pathlib import Path

import pytest

from tests.live.slurm_cluster import Cluster, has_database, missing, until
from twin.connectors import facts
from twin.connectors.facts import ConnectorError
from twin.mirror.differ import Mirror, epoch_of
from twin.mirror.following import Following

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
DOC = Path(__file__).parents[2] / "docs" / "connect-slurm.md"
LICENCES = "Licenses=matlab:2\n"
PREEMPTION = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nKillWait=2\n"


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def running_cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    port = free_port()
    (script,) = re.findall(r"```bash\n(.*?)```", DOC.read_text(), re.DOTALL)
    hook = folder / "hint"
    hook.write_text(script.replace("17999", str(port)))
    hook.chmod(0o755)
    cluster = Cluster(
        folder / "c",
        27600,
        PREEMPTION + LICENCES + f"PrologSlurmctld={hook}\nEpilogSlurmctld={hook}\n",
        accounting=has_database(),
    )
    cluster.hook_port = port
    cluster.start()
    try:
        cluster.run("scontrol", "create", "PartitionName=high", "Nodes=edge[1-4]", "PriorityTier=10", "PreemptMode=OFF")
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def cluster(running_cluster):
    yield running_cluster
    running_cluster.clear()


@pytest.fixture
def follower(cluster):
    """(poll of a job until it is so, the connector)."""
    connector = cluster.connector()

    def job(key, so, what="the job is so"):
        def snapshot():
            found = [job for job in connector.snapshot().jobs if job.key == key]
            return next((job for job in found if so(job)), None)

        return until(snapshot, f"{key}: {what}")

    job.connector = connector
    return job


def runs(job):
    return job.state == facts.RUNNING and job.reason != "COMPLETING"


def start_again(cluster, follower, key):
    """Starts a requeued job instead of after two minutes; in the second of its requeue slurmd would refuse it."""
    ended_ms = follower(key, lambda job: job.reason == "BeginTime").attempts[-1].ended_ms
    until(lambda: follower.connector.snapshot().at_ms > ended_ms + 2000, "two seconds have passed")
    cluster.run("scontrol", "update", f"jobid={key}", "starttime=now")


def test_the_connection_test_tells_what_is_there(cluster):
    found = cluster.connector().check()
    assert found.well
    assert re.fullmatch(r"\d+\.\d+\.\d+", found.version)
    assert abs(found.clock_offset_ms) < 1000
    findings = {finding.subject: finding for finding in found.findings}
    assert findings["nodes"].message == "4 nodes, 16 GPUs"
    assert findings["accounting"].well == findings["GPUs"].well == cluster.accounting


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
