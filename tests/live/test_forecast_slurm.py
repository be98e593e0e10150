"""Forecasts of a real Slurm: jobs of seconds with limits 10 to 20 times too long, against Slurm's own estimates.

And what holds jobs back: reservations, licences, limits of partitions.
"""

import random
import time

import pytest

from tests.live.slurm_cluster import Cluster, missing, until
from twin.mirror import stored
from twin.mirror.following import Following
from twin.mirror.forecasts import accuracy, forecast_task
from twin.mirror.forecasts.learning import unpack
from twin.models import Connection, Forecasting, ShadowSet
from twin.runs import lease
from twin.scenarios import store
from twin.studies.shadows import replays, sets, task

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.skipif(bool(missing()), reason=missing()),
]
JOBS, FIRST = 60, 12
SECONDS = {"ann": 6, "bob": 9, "eve": 12}  # usual run times
MAX_WAIT_S = 400
PORT = 27_800


def submit(cluster, rng):
    name = rng.choice(sorted(SECONDS))
    seconds = SECONDS[name] + rng.randint(-1, 1)
    limit = -(-seconds * rng.randint(10, 20) // 60)
    cluster.sbatch("-N", "1", "--exclusive", "-J", name, "-t", str(limit), wrap=f"sleep {seconds}")


class Twin:
    """A live cluster without processes: polls and forecasts happen when they are called."""

    def __init__(self, cluster):
        self.connector = cluster.connector()
        self.connection = Connection.objects.create(name="lab", connector="slurm")
        run, self.mirror = stored.begin(self.connection, self.connector.snapshot())
        run = lease.take(run.pk, simulated=False, force=True)
        self.following = Following(
            self.connector, self.mirror, stored.Writer(run, self.mirror), stopped=lambda seconds: False
        )

    def poll(self):
        self.following.apply(self.connector.snapshot())

    def passed(self):
        """Waits until a start can no longer be in the second of the first look: such a job ran before the replay."""
        self.poll()  # before it, the mirror has no time
        begun_ms = self.mirror.at_ms
        self.until(lambda: self.mirror.at_ms - begun_ms >= 1_000, "a second has passed")

    def forecast(self):
        """{key: row} of the waiting jobs; starts in Unix ms."""
        found = {"estimates": dict(self.connector.estimate()), "constraints": self.connector.constraints().plain()}
        Forecasting.objects.update_or_create(connection=self.connection, defaults=found)
        Connection.objects.filter(pk=self.connection.pk).update(health={"seen_ms": self.mirror.at_ms})
        forecast_task.forecast(self.connection.pk)
        rows = Forecasting.objects.get(pk=self.connection.pk).rows
        for row in rows:
            row["start_ms"] = None if row["start_ms"] is None else row["start_ms"] + self.mirror.epoch_ms
        return {self.mirror.jobs[row["job"]].fact.key: row for row in rows}

    def until(self, condition, what):
        """Polls until the condition holds."""
        until(lambda: self.poll() or condition(), what)

    def start_ms(self, key):
        """The real start of a job; None while it waits."""
        known = next((job for job in self.mirror.jobs if job.fact.key == key and job.attempts), None)
        return known and known.attempts[0].started_ms


def replay(twin):
    """Accuracies of a replay of all that was seen, computed in this process."""
    store.forget()  # the tests before had runs of the same numbers
    lease.release(twin.following.write.run)
    of = Connection.objects.select_related("run__scenario__cluster").get(pk=twin.connection.pk)
    made = sets.request(of, replays.DAY_MS, purpose=ShadowSet.REPLAY)
    task.prepare(made.pk)
    task.compute(made.shadows.get().pk)
    made.refresh_from_db()
    return made.facts["replay"]


@pytest.fixture
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("slurm"), PORT, "Licenses=sw:1\n")
    cluster.start()
    yield cluster
    cluster.stop()


def test_starts_are_forecast_far_better_than_by_slurm_and_replayed_as_they_were(cluster):
    rng = random.Random(5)
    twin = Twin(cluster)
    mirror = twin.mirror
    twin.passed()
    for _ in range(FIRST):
        submit(cluster, rng)
    sent, over, forecast_at = FIRST, time.monotonic() + MAX_WAIT_S, 0.0
    while time.monotonic() < over:
        twin.poll()
        if sent < JOBS and sum(job.fact.state == "ended" for job in mirror.jobs) >= 4:
            for _ in range(6):
                submit(cluster, rng)
                sent += 1
        if time.monotonic() - forecast_at > 3:
            forecast_at = time.monotonic()
            twin.forecast()
        if sent >= JOBS and not mirror.open:
            break
    twin.forecast()
    learned = unpack(bytes(Forecasting.objects.get(pk=twin.connection.pk).learned))
    found = accuracy.accuracy(twin.connection.pk, learned.tournament, mirror.at_ms)
    rows = {one["method"]: one for one in found["starts"]}
    system, own = rows["system"], rows["twin"]
    assert system["total"]["count"] >= 20
    assert own["total"]["count"] >= JOBS / 2
    assert system["twin_mean_ms"] <= system["total"]["mean_ms"] / 20
    replayed = replay(twin)
    # Starts within a cycle depend on what else the machine does: they are printed. Order and waits do not.
    assert replayed["jobs"] == JOBS, replayed
    assert replayed["order"] >= 0.9
    assert abs(replayed["makespan_error"]) <= 0.1
    assert replayed["wait_ms"] == pytest.approx(replayed["wait_real_ms"], rel=0.25)
    print(replayed)
    print({"mean_ms": own["total"], "same_ms": system["twin_mean_ms"], "slurm_ms": system["total"]["mean_ms"],
           "coverage": found["coverage"], "cycle_ms": learned.cycle_ms})  # fmt: skip


def mixed(cluster, rng):
    """A job of some seconds: of a partition with half of the nodes, on two nodes, exclusive, or of low priority."""
    gpus, seconds = rng.choice([1, 1, 1, 2, 2, 3, 4]), rng.randint(4, 12)
    options = ["-N", "1", f"--gres=gpu:{gpus}", "-c", str(rng.choice([1, gpus]))]
    kind = rng.random()
    if kind < 0.1:
        options = ["-N", "2", "-n", "2", f"--gres=gpu:{min(gpus, 3)}"]
    elif kind < 0.2:
        options = ["-N", "1", "--exclusive"]
    if rng.random() < 0.2:
        options += ["-p", "half"]
    if rng.random() < 0.1:
        options += ["--nice=10"]
    cluster.sbatch(*options, "-t", str(rng.randint(1, 6)), wrap=f"sleep {seconds}")


def test_a_mixed_load_of_two_partitions_is_decided_as_slurm_decides(cluster):
    cluster.run("scontrol", "create", "partitionname=half", "nodes=edge[1-2]", "maxtime=infinite", "state=up")
    rng = random.Random(3)
    twin = Twin(cluster)
    twin.passed()
    sent, over = 0, time.monotonic() + MAX_WAIT_S
    while time.monotonic() < over and (sent < JOBS or twin.mirror.open):
        if sent < JOBS and sum(not job.attempts for job in twin.mirror.jobs) < 8:
            for _ in range(6):
                mixed(cluster, rng)
                sent += 1
        twin.poll()
    twin.forecast()
    replayed = replay(twin)
    print(replayed)
    assert replayed["jobs"] == JOBS, replayed
    assert replayed["in_step"] >= 0.9
    # Single starts depend on the moments of the passes, which are not known.
    assert replayed["order"] >= 0.7
    assert abs(replayed["makespan_error"]) <= 0.25


def test_reservations_licences_and_partitions_move_forecasts(cluster):
    twin = Twin(cluster)
    cluster.run("scontrol", "create", "reservation", "reservationname=maint", "starttime=now+120", "duration=2",
                "nodes=ALL", "users=root")  # fmt: skip
    cluster.run("scontrol", "update", "partitionname=edge", "maxnodes=3", "maxtime=60")
    long = cluster.sbatch("-t", "10", wrap="sleep 5")
    wide = cluster.sbatch("-N", "4", "-t", "1")
    slow = cluster.sbatch("-t", "90")
    first = cluster.sbatch("-L", "sw:1", "-t", "1", wrap="sleep 30")
    second = cluster.sbatch("-L", "sw:1", "-t", "1", wrap="sleep 1")
    twin.until(lambda: twin.start_ms(first) is not None, "the first job with the licence runs")
    twin.until(lambda: long in twin.connector.estimate(), "Slurm expects a start of the long job")
    (kept,) = [known.fact for known in twin.mirror.reservations.known]
    rows = twin.forecast()
    assert kept.until_ms <= rows[long]["start_ms"] <= kept.until_ms + 60_000, "behind the reservation"
    assert abs(rows[long]["start_ms"] - rows[long]["system_ms"] - twin.mirror.epoch_ms) <= 60_000
    assert (rows[wide]["start_ms"], rows[slow]["start_ms"]) == (None, None)
    assert "more nodes" in rows[wide]["never"]
    assert "time limit" in rows[slow]["never"]
    assert rows[second]["start_ms"] > twin.mirror.at_ms
    assert rows[second]["waits_for"] == [first]
    twin.until(lambda: twin.start_ms(second) is not None, "the second job with the licence runs")
    ends = {job.fact.key: job.attempts[0].ended_ms for job in twin.mirror.jobs if job.attempts}
    assert twin.start_ms(second) >= ends[first]
