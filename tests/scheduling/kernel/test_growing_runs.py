"""Jobs and servers that are added while a run goes on: the scheduler sees what is known now, the log holds all."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import SERVER
from scheduling.model.values import GPU, Job, ModelError, Server, Utility
from scheduling.slotted.pricing.prices import estimate
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.scheduling import tiny
from tests.scheduling.builders import output_of_run
from tests.scheduling.builders_growing import facts, fed

CLAIRVOYANT = {"estimate_from": "clairvoyant"}
FAMILIES = [
    ("oasis", "fifo"),
    ("oasis", "drf"),
    ("oasis", "themis"),
    ("a-online", "srtf"),
    ("a-online", "tiresias_l"),
    ("harmony", "isolated"),
    ("harmony", "gavel"),
]


def workload(profile, jobs=16):
    """No two jobs arrive at the same instant."""
    more = {"span_hours": 100} if profile == "a-online" else {}
    cluster, made = generate(profile, num_jobs=jobs, num_servers=12, seed=3, **more)
    return cluster, [replace(job, arrival_ms=job.arrival_ms + i) for i, job in enumerate(made)]


@pytest.mark.parametrize(("profile", "name"), FAMILIES)
def test_a_scheduler_that_looks_at_no_future_decides_the_same_without_it(profile, name):
    cluster, jobs = workload(profile)
    _, events = fed(cluster, jobs, name)
    assert facts(events) == facts(Simulation(cluster, jobs, build(name), 1).events())


@pytest.mark.parametrize("horizon", [100, None])
@pytest.mark.parametrize(("profile", "name"), [("oasis", "oasis"), ("pd-ors", "pd_ors")])
@pytest.mark.thorough
def test_what_is_estimated_from_history_takes_nothing_from_jobs_to_come(profile, name, horizon):
    """The same decisions and prices whether the jobs to come are known or not; clairvoyant ones differ."""
    cluster, jobs = workload(profile, 24)
    cluster = replace(cluster, horizon_slots=horizon)
    decisions = {}
    for parameters in ({}, CLAIRVOYANT):
        _, events = fed(cluster, jobs, name, parameters=parameters)
        whole = list(Simulation(cluster, jobs, build(name, parameters), 1).events())
        decisions[not parameters] = [[e.data for e in log if e.kind == "decided"] for log in (events, whole)]
        for batch in decisions[not parameters]:
            for data in batch:
                data["values"].pop("horizon_slots", None)
    assert decisions[True][0] == decisions[True][1]
    assert decisions[False][0] != decisions[False][1]
    kinds = {data["kind"] for data in decisions[True][0]}
    assert {"admitted", "rejected"} <= kinds


@pytest.mark.parametrize("name", ["oasis", "pd_ors"])
def test_the_former_name_of_clairvoyant_is_refused_with_the_choices(name):
    with pytest.raises(ModelError, match="must be one of history, clairvoyant, got 'trace'"):
        build(name, {"estimate_from": "trace"})


@pytest.mark.parametrize("name", ["oasis", "pd_ors", "rrh", "dorm"])
def test_schedulers_that_estimate_from_jobs_go_on_with_those_that_are_known(name):
    cluster, jobs = generate("oasis", num_jobs=10, num_servers=8, seed=3, horizon_slots=60)
    if name == "pd_ors":
        cluster, jobs = generate("pd-ors", num_jobs=10, num_servers=8, seed=3)
    jobs = [replace(job, arrival_ms=job.arrival_ms + i) for i, job in enumerate(jobs)]  # none at the same instant
    simulation, events = fed(cluster, jobs, name)
    assert simulation.ended
    assert [e.data["job"] for e in events if e.kind == "job_arrived"] == list(range(len(jobs)))


def rebuilt(cluster, jobs, name, log):
    """The same run from its first jobs and servers and what its log says was added."""
    simulation = Simulation(cluster, jobs, build(name), 1, open_ended=True)
    events = []
    for event in log:
        if event.kind in ("job_added", "server_added", "server_set"):
            while (
                some := simulation.run_until(event.at_ms, max_events=event.seq - 1 - len(events))
                if len(events) < event.seq - 1
                else []
            ):
                events += some
            fields = event.data["fields"]
            if event.kind == "job_added":
                utility = fields["utility"] and Utility(**fields["utility"])
                events += simulation.add_jobs([Job(**fields | {"utility": utility})])
            elif event.kind == "server_added":
                events += simulation.add_server(Server(**fields))
            else:
                events += simulation.set_server(event.data["server"], **fields)
    simulation.close()
    return events + list(simulation.events())


@pytest.mark.parametrize(
    ("profile", "name"),
    [row for row in FAMILIES if row[0] != "harmony"],  # groups are written by another builder
)
def test_what_it_writes_is_verified_and_a_wrong_addition_is_found(profile, name):
    simulation, events = fed(*workload(profile), name)
    rows = output_of_run(simulation, events)
    assert verify(**rows) == []
    added = next(event for event in rows["events"] if event["kind"] == "job_added")
    added["data"]["fields"]["id"] = "other"
    assert verify(**rows) == [
        f"events.jsonl: line {added['seq']}: adds job 3, 'other', but the next one of the inputs is 3"
    ]


@pytest.mark.parametrize(("profile", "name"), FAMILIES)
def test_the_log_alone_rebuilds_a_run_whose_cluster_grows_and_shrinks(profile, name):
    cluster, jobs = workload(profile)
    simulation = Simulation(cluster, jobs[:6], build(name), 1, open_ended=True)
    log = list(simulation.run_until(jobs[3].arrival_ms))
    if profile != "a-online":  # whose jobs say how long an upload to each server takes
        log += simulation.add_server(replace(cluster.servers[0], name="added"))
    log += simulation.run_until(jobs[5].arrival_ms)
    log += simulation.set_server(1, away=((simulation.now_ms, 2**53),))
    log += simulation.add_jobs(
        [replace(job, arrival_ms=max(job.arrival_ms, simulation.now_ms + 1)) for job in jobs[6:]]
    )
    simulation.close()
    log += simulation.events()
    kinds = [event.kind for event in log]
    assert kinds.count("job_added") == len(jobs) - 6
    assert (kinds.count("server_added"), kinds.count("server_set")) == (profile != "a-online", 1)
    gone = next(event for event in log if event.kind == "server_changed" and event.data == {"server": 1, "away": True})
    bars = [bar for e in log if e.kind == "plan_changed" and e.seq > gone.seq for bar in e.data["bars"]]
    assert all(bar[SERVER] != 1 for bar in bars), "nothing new stands on a server that has left"
    again = rebuilt(cluster, jobs[:6], name, log)
    assert facts(again) == facts(log)
    assert [event.seq for event in again] == list(range(1, len(log) + 1))


def resized(added=False):
    """12 s in which 2 GPUs are held: of 4 at first, of 2 from second 4 on, and of 4 more from second 8 on if added."""
    cluster = tiny.cluster(slots=16, gpus=4)
    jobs = [tiny.job(f"j{i}", i * 4_000, work=4, chunks=1, gpus=2) for i in range(3)]
    simulation = Simulation(cluster, jobs, build("fifo"), 1, open_ended=True)
    log = list(simulation.run_until(4_000))
    log += simulation.set_server(0, capacity=(2_000, *cluster.servers[0].capacity[1:]))
    log += simulation.run_until(8_000)
    if added:
        log += simulation.add_server(replace(cluster.servers[0], name="added"))
    simulation.close()
    return output_of_run(simulation, log + list(simulation.events()))


def test_metrics_count_each_capacity_of_a_server_for_its_time():
    assert resized()["summary"]["metrics"]["utilization"]["gpu"] == 2 * 12 / (4 * 4 + 2 * 8)
    assert resized(added=True)["summary"]["metrics"]["utilization"]["gpu"] == 2 * 12 / (4 * 4 + 2 * 8 + 4 * 4)


def test_the_verifier_knows_that_an_added_server_comes_when_it_is_added():
    rows = resized(added=True)
    assert verify(**rows) == []
    (came,) = (event for event in rows["events"] if event["kind"] == "server_changed")
    came["data"]["away"] = True
    assert verify(**rows) == [
        f"events.jsonl: line {came['seq']}: server added leaves at {came['at_ms']} ms, but not in cluster.json"
    ]


def test_the_verifier_measures_each_time_by_the_capacity_of_then():
    rows = resized()
    assert verify(**rows) == []
    (changed,) = (event for event in rows["events"] if event["kind"] == "server_set")
    changed["data"]["was"][GPU] = 1_000
    assert verify(**rows) == [
        "server w0 holds 2 of 1 gpu from 0 ms",
        "summary.json: utilization.gpu is 0.75, recomputed 1.2",
    ]
    changed["data"]["was"].pop()
    assert verify(**rows) == [
        f"events.jsonl: line {changed['seq']}: must be server_set with data that is an object whose was is "
        "a whole number for each resource, not [1000, 0, 0, 0]"
    ]


def test_an_open_ended_run_waits_and_a_closed_one_ends():
    cluster, jobs = workload("oasis", 4)
    simulation = Simulation(cluster, jobs, build("fifo"), 1, open_ended=True)
    events = list(simulation.events())
    assert (simulation.next_ms, simulation.ended, events[-1].kind == "run_finished") == (None, False, False)
    saved = simulation.state()
    simulation.close()
    assert [event.kind for event in simulation.events()][-1] == "run_finished"
    other = Simulation(cluster, jobs, build("fifo"), 1)
    other.restore(saved)
    assert (other.next_ms, other.ended) == (None, False), "it waits after it was restored, too"


def test_what_cannot_be_added_is_refused_and_changes_nothing():
    cluster, jobs = workload("oasis", 4)
    simulation = Simulation(cluster, jobs, build("fifo"), 1, open_ended=True)
    with pytest.raises(ModelError, match="only to a run that has started"):
        simulation.add_jobs(jobs[:1])
    simulation.run_until(jobs[2].arrival_ms)
    before = simulation.state()
    with pytest.raises(ModelError, match=r"must not move jobs that have arrived|arrives at"):
        simulation.add_jobs([replace(jobs[0], id="late", arrival_ms=simulation.now_ms)])
    with pytest.raises(ModelError, match="server names must be distinct"):
        simulation.add_server(cluster.servers[0])
    with pytest.raises(ModelError, match="must not renumber servers"):
        simulation.set_server(0, name="renamed")
    assert repr(simulation.state()) == repr(before)


@pytest.mark.parametrize("horizon", [6, None])
def test_a_first_job_is_admitted_to_an_empty_cluster(horizon):
    """It needs the one GPU for 3 slots; nothing says that more jobs come."""
    cluster = replace(tiny.cluster(slots=6, gpus=1), horizon_slots=horizon)
    events = list(Simulation(cluster, [tiny.job(work=3, chunks=1)], build("oasis"), 0).events())
    assert [event.data["kind"] for event in events if event.kind == "decided"] == ["admitted"]


def test_jobs_are_expected_at_the_rate_at_which_they_came():
    """Of 8 jobs the first 4 arrive in slots 0 to 3: their bounds are those of all jobs in 4 slots of the cluster."""
    cluster, jobs = workload("oasis", 8)
    slot_ms = cluster.slot_ms
    jobs = [replace(job, arrival_ms=i * slot_ms) for i, job in enumerate(jobs)]
    scheduler = build("oasis")
    scheduler.start(cluster, jobs, np.random.default_rng(0))
    for job in range(7):
        scheduler.on_arrival(jobs[job].arrival_ms, job)
    capacity = [book.capacity.T for book in scheduler.books]
    assert scheduler.bounds == estimate(jobs[:4], *capacity, slot_ms, cluster.horizon_slots, window=4)
