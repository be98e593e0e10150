"""Every scheduler decides from what is known by then: no job before its arrival, no outage before its announcement."""

from dataclasses import fields, replace
from functools import cache

import pytest

from scheduling.kernel.changes.phases import Phase
from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.simulation import Simulation
from scheduling.slotted.pricing.prices import CLAIRVOYANT, PriceParameters
from scheduling.workloads import generate
from tests.scheduling.builders_growing import facts, fed

JOBS, KNOWN = 8, 5  # jobs; those that arrive before the moment from which on the scenarios differ
HOUR_MS = 3_600_000
PRICED = [name for name, cls in schedulers().items() if issubclass(cls.Parameters, PriceParameters)]
HORIZONS = ("generated", "endless")  # of the cluster; where it has none, price-based schedulers choose one
CASES = [(name, horizon) for name in schedulers() for horizon in (HORIZONS if name in PRICED else HORIZONS[:1])]


@cache
def workload(name, horizon="generated"):
    """A cluster, and jobs for it that arrive one by one, each while others run."""
    model = schedulers()[name].model
    if model.name == "typed_workers":
        cluster, jobs = generate("a-online", num_jobs=JOBS, num_servers=6, seed=3, span_hours=60)
    elif model.name == "colocation":
        cluster, jobs = generate("harmony", num_jobs=JOBS, num_servers=12, seed=3)
        jobs = [replace(job, arrival_ms=HOUR_MS * i) for i, job in enumerate(jobs)]
    else:
        profile = "oasis" if "oasis" in model.supports else "pd-ors"
        cluster, jobs = generate(profile, num_jobs=JOBS, num_servers=8, seed=3, horizon_slots=40)
        jobs = [replace(job, arrival_ms=2 * cluster.slot_ms * i) for i, job in enumerate(jobs)]
    jobs = [replace(job, arrival_ms=job.arrival_ms + i) for i, job in enumerate(jobs)]
    return replace(cluster, horizon_slots=cluster.horizon_slots if horizon == "generated" else None), jobs


@cache
def whole(name, horizon, parameters=()):
    """The events of a run whose simulation has all jobs from the beginning."""
    cluster, jobs = workload(name, horizon)
    return list(Simulation(cluster, jobs, build(name, dict(parameters)), 1).events())


def before(events, at_ms):
    """What the log says about the time before; a run ends earlier if nothing more arrives."""
    return [fact for fact in facts(events, without=("run_finished",)) if fact[0] < at_ms]


def futures(jobs):
    """Other jobs from the job KNOWN on: with the sizes of others, none of them, and twice as many."""
    past, later = jobs[:KNOWN], jobs[KNOWN:]
    others = [replace(jobs[0], id=job.id, arrival_ms=job.arrival_ms) for job in later]
    more = [replace(job, id=f"{job.id}-again", arrival_ms=job.arrival_ms + 1) for job in later]
    return {
        "resized": [*past, *others],
        "removed": past,
        "doubled": sorted([*past, *later, *more], key=lambda job: job.arrival_ms),
    }


def phase_with_outage(cluster, jobs, name, index, hours):
    """A server fails when the job KNOWN has arrived."""
    at_ms = jobs[KNOWN].arrival_ms
    failed = replace(cluster.servers[index], away=((at_ms, at_ms + hours * HOUR_MS),))
    servers = tuple(failed if i == index else server for i, server in enumerate(cluster.servers))
    return Phase(at_ms, replace(cluster, servers=servers), jobs, build(name), ())


@pytest.mark.parametrize(("name", "horizon"), CASES)
def test_the_jobs_that_a_scheduler_can_read_are_those_that_have_arrived(name, horizon):
    cluster, jobs = workload(name, horizon)
    simulation = Simulation(cluster, jobs, build(name), 1)
    counts = set()
    while simulation.run_until(max_events=1):
        counts.add(len(simulation.scheduler.jobs))
        assert len(simulation.scheduler.jobs) == simulation.arrived
    assert counts >= set(range(1, JOBS + 1))


@pytest.mark.parametrize(("name", "horizon"), CASES)
def test_a_restored_run_knows_the_same_jobs_and_goes_on_alike(name, horizon):
    """After an outage, so that records of remaining work are restored, too."""
    cluster, jobs = workload(name, horizon)
    phase = phase_with_outage(cluster, jobs, name, len(cluster.servers) - 1, 5)
    saved = Simulation(cluster, jobs, build(name), 1, [phase])
    saved.run_until(phase.at_ms + 1, max_events=10_000)
    restored = Simulation(cluster, jobs, build(name), 1, [phase._replace(scheduler=build(name))])
    restored.restore(saved.state())
    assert restored.scheduler.jobs == saved.scheduler.jobs
    assert len(restored.scheduler.jobs) == restored.arrived > KNOWN
    assert facts(restored.events()) == facts(saved.events())


@pytest.mark.parametrize("horizon", HORIZONS)
@pytest.mark.parametrize("name", PRICED)
def test_a_state_that_was_saved_without_a_horizon_is_restored(name, horizon):
    """Version 0.1.0 saved none: the slots in use are those of the restored run, and it decides as before."""
    cluster, jobs = workload(name, horizon)
    saved = Simulation(cluster, jobs, build(name), 1)
    saved.run_until(jobs[KNOWN].arrival_ms, max_events=10_000)
    state = saved.state()
    del state["scheduler"]["horizon"]
    restored = Simulation(cluster, jobs, build(name), 1)
    restored.restore(state)
    assert facts(restored.events(), without=("priced",)) == facts(saved.events(), without=("priced",))


@pytest.mark.parametrize(("name", "horizon"), CASES)
def test_a_run_that_hears_of_its_jobs_one_by_one_decides_the_same(name, horizon):
    cluster, jobs = workload(name, horizon)
    _, events = fed(cluster, jobs, name)
    # prices are logged again at each addition
    assert facts(events, without=("priced",)) == facts(whole(name, horizon), without=("priced",))
    assert {"decided", "plan_changed"} <= {event.kind for event in events}


@pytest.mark.parametrize(("name", "horizon"), CASES)
def test_other_jobs_to_come_change_nothing_before_they_arrive(name, horizon):
    cluster, jobs = workload(name, horizon)
    at_ms = jobs[KNOWN].arrival_ms
    expected = before(whole(name, horizon), at_ms)
    assert any(kind == "plan_changed" for _, kind, _ in expected)
    for title, other in futures(jobs).items():
        assert before(Simulation(cluster, other, build(name), 1).events(), at_ms) == expected, title


@pytest.mark.parametrize(("name", "horizon"), CASES)
def test_an_unannounced_outage_changes_nothing_before_it_begins(name, horizon):
    cluster, jobs = workload(name, horizon)
    at_ms = jobs[KNOWN].arrival_ms
    for index, hours in ((0, 5), (len(cluster.servers) - 1, 50)):
        phase = phase_with_outage(cluster, jobs, name, index, hours)
        events = list(Simulation(cluster, jobs, build(name), 1, [phase]).events())
        assert before(events, at_ms) == before(whole(name, horizon), at_ms)
        assert any(event.kind == "server_changed" and event.at_ms == at_ms for event in events)


@pytest.mark.parametrize("name", PRICED)
def test_an_announced_outage_is_known_to_those_who_plan(name):
    cluster, jobs = workload(name)
    at_ms = jobs[KNOWN].arrival_ms
    servers = tuple(replace(server, away=((at_ms, at_ms + HOUR_MS * 50),)) for server in cluster.servers)
    events = Simulation(replace(cluster, servers=servers), jobs, build(name), 1).events()
    assert before(events, at_ms) != before(whole(name, "generated"), at_ms)


def test_the_schedulers_that_can_look_at_the_trace_are_those_with_the_option():
    """Without the option no scheduler is clairvoyant."""
    assert [name for name in schedulers() if build(name).clairvoyant] == []
    asked = [name for name, cls in schedulers().items() if "estimate_from" in {f.name for f in fields(cls.Parameters)}]
    assert asked == PRICED
    assert all(build(name, {"estimate_from": CLAIRVOYANT}).clairvoyant for name in asked)


@pytest.mark.parametrize("horizon", HORIZONS)
@pytest.mark.parametrize("name", PRICED)
def test_with_the_option_the_jobs_to_come_change_decisions(name, horizon):
    cluster, jobs = workload(name, horizon)
    at_ms, given = jobs[KNOWN].arrival_ms, (("estimate_from", CLAIRVOYANT),)
    other = Simulation(cluster, futures(jobs)["removed"], build(name, dict(given)), 1).events()
    assert before(other, at_ms) != before(whole(name, horizon, given), at_ms)


@pytest.mark.parametrize("name", PRICED)
def test_the_horizon_that_forms_state_is_the_one_that_the_run_reaches(name):
    cluster, jobs = workload(name, "endless")
    simulation = Simulation(cluster, jobs, build(name), 1)
    reached = []
    while simulation.run_until(max_events=1):
        reached.append(simulation.scheduler.horizon)
    assert reached == sorted(reached)
    assert reached[0] < reached[-1] == build(name).horizon_for(cluster, jobs)


@pytest.mark.parametrize("name", schedulers())
def test_what_a_job_asks_for_matters_only_to_schedulers_that_use_it(name):
    """A number of requested workers that a scheduler declares unused changes none of its decisions."""
    cluster, jobs = workload(name)
    used = "requested_workers" not in schedulers()[name].unused()
    other = [replace(job, requested_workers=1 if (job.requested_workers or 0) > 1 else 2) for job in jobs]
    events = list(Simulation(cluster, other, build(name, {}), 1).events())
    same = facts(events) == facts(whole(name, "generated"))
    assert same or used, f"{name} uses requested_workers"
    if name in ("oasis", "pd-ors", "replanning", "harmony"):
        assert not used
