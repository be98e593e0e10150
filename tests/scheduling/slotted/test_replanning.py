"""The re-planning scheduler: quotes against exhaustive search, numbers by hand, promises, and what it earns."""

from dataclasses import replace

import numpy as np
import pytest

from scheduling.algorithms.replanning import Replanning, ReplanningParameters
from scheduling.kernel.registry import build
from scheduling.model.bars import Placement
from scheduling.model.decision import Reason
from scheduling.reporting.reasons import sentence
from scheduling.slotted.oasis.quote import Quote
from scheduling.slotted.replanning.plans import OpenJob, Plan, jobs_of, rows_of, state_of
from scheduling.workloads import generate
from tests.scheduling import oracle, tiny
from tests.scheduling.rivals import completed, cuts_of, decided, events_of, in_pieces, verified, workers

CLAIRVOYANT = {"estimate_from": "clairvoyant"}  # price bounds of all jobs: the same in every slot
PROMISES = ("start", "arrival", "never")


def started(cluster, jobs, **parameters):
    scheduler = Replanning(ReplanningParameters(**(CLAIRVOYANT | parameters)))
    scheduler.start(cluster, jobs, np.random.default_rng(0))
    return scheduler


def crowded(seed):
    """Jobs in the order of arrival that do not all fit."""
    rng = np.random.default_rng(seed)
    cluster = tiny.cluster(workers=2, ps=1, slots=8, gpus=2, ps_cpus=3)
    return cluster, sorted((tiny.random_job(rng, n, 6) for n in range(9)), key=lambda job: job.arrival_ms)


def earned(events):
    return sum(event.data["utility"] for event in events if event.kind == "job_completed")


@pytest.mark.parametrize("seed", range(100))
def test_each_quote_equals_exhaustive_search_at_prices_that_rise_over_the_lead(seed):
    """Every way to run one job from slot 1 to 3 of a cluster that another job uses in part."""
    rng = np.random.default_rng(seed)
    lead = int(rng.integers(1, 6))
    cluster = tiny.cluster(workers=2, ps=1, slots=4, gpus=int(rng.integers(1, 3)), ps_cpus=int(rng.integers(1, 4)))
    other, job = (replace(tiny.random_job(rng, n, 1), arrival_ms=n * 1_000) for n in range(2))
    scheduler = started(cluster, [other, job], price_mode="literal", lead_slots=lead)
    scheduler.on_arrival(0, 0)
    plan = scheduler.on_slot(0, 0).plan.get(0, [])
    scheduler.on_arrival(1_000, 1)
    free = np.array([[server.capacity for server in cluster.servers]] * 4)
    for bar in plan:
        demand = np.array(other.worker if bar.role == 0 else other.ps)
        free[bar.start_ms // 1_000 : bar.end_ms // 1_000, bar.server] -= bar.count * demand
    rising = np.minimum(1.0, (np.arange(4) - 1 + 1) / lead)
    payoff, last = oracle.best_payoff(cluster, job, scheduler.prices(np.arange(4)) * rising[:, None, None], free)
    quote = scheduler._quote(1_000, 1, 1) if 1 in scheduler.open else None
    best = None if quote is None or isinstance(quote, Reason) else quote.best()
    if payoff <= 1e-12:
        assert best is None
        return
    assert best is not None
    assert (best.payoff, 1 + best.last) == (pytest.approx(payoff, abs=1e-9), last)
    assert quote.bound() >= best.payoff - 1e-9, "nothing is cheaper than an empty cluster"


def test_without_a_lead_a_quote_is_that_of_oasis():
    cluster, jobs = crowded(3)
    scheduler = started(cluster, jobs, lead_slots=1)
    for index, job in enumerate(jobs[:3]):
        scheduler.on_arrival(job.arrival_ms, index)
        slot = job.arrival_ms // 1_000
        own = scheduler._quote(job.arrival_ms, slot, index)
        theirs = Quote(job, own.need, own.most, slot, 8, scheduler.books)
        assert own.best() is not None
        assert own.paying().cost == theirs.paying().cost


def test_a_job_waits_until_it_pays():
    """One GPU for 12 slots; `long` takes slots 0 to 5, and both floors are 0.289.

    `small` is worth 2 and has 2 worker-slots of 4 units (GPU, vCPU, and Gbps of both roles) at the floor, a cost of
    2.31: OASiS rejects it. Here the slot that begins now costs half: from slot 6 on its cost is 4 * 0.289 * (0.5 + 1) =
    1.73, so it waits and runs in slots 6 and 7.
    """
    cluster = tiny.cluster(gpus=1, ps_cpus=1, slots=12)
    jobs = [
        tiny.job("long", 0, work=6, chunks=1, priority=100.0),
        tiny.job("small", 1_000, work=2, chunks=1, priority=4.0),
    ]
    scaled = CLAIRVOYANT | {"floor_scale": 700.0}
    assert started(cluster, jobs, **scaled).bounds.worker_floor == pytest.approx(0.289, abs=5e-4)
    assert decided(events_of(cluster, jobs, "oasis", **scaled))[1][2:] == ("rejected", "payoff_not_positive")
    events = events_of(cluster, jobs, "replanning", lead_slots=2, **scaled)
    assert decided(events) == [(0, 0, "admitted", "replanning.planned"), (6_000, 1, "admitted", "replanning.planned")]
    assert completed(events) == {0: 6_000, 1: 8_000}


def test_a_denser_arrival_takes_the_place_of_a_plan_that_is_not_promised():
    """One GPU: `first` starts at once; the denser `urgent` comes in slot 2 and is worth nearly nothing after slot 3.

    Without promises `first` stops, keeps its 2 worker-slots, and goes on after it; with them it goes on, and `urgent`
    waits.
    """
    cluster = tiny.cluster(gpus=1, ps_cpus=1, slots=12)
    jobs = [
        tiny.job("first", 0, work=4, chunks=1, priority=20.0),
        tiny.job("urgent", 2_000, work=2, chunks=1, priority=400.0, sensitivity=10.0, target=2.0),
    ]
    loose = events_of(cluster, jobs, "replanning", promise="never", **CLAIRVOYANT)
    assert completed(loose) == {0: 6_000, 1: 4_000}
    assert [(at_ms, job, kind) for at_ms, job, kind, _ in decided(loose)] == [
        (0, 0, "admitted"), (2_000, 1, "admitted"), (2_000, 0, "moved"),
    ]  # fmt: skip
    assert workers(loose, 0) == [(0, 2_000, 1), (4_000, 6_000, 1)]
    assert completed(events_of(cluster, jobs, "replanning", **CLAIRVOYANT)) == {0: 4_000, 1: 6_000}


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("seed", range(20))
def test_promises_hold_and_every_run_is_verified(seed, promise):
    cluster, jobs = crowded(seed)
    events = verified(cluster, jobs, "replanning", promise=promise, lead_slots=3)
    done, planned, promised = completed(events), {}, {}
    for event in events:
        for job, start_ms, finish_ms in event.data["jobs"] if event.kind == "plan_changed" else ():
            if promise == "arrival" and finish_ms >= 0:
                promised.setdefault(job, finish_ms)
            if promise == "start" and 0 <= planned.get(job, (-1, -1))[0] < event.at_ms:
                promised.setdefault(job, planned[job][1])
            planned[job] = start_ms, finish_ms
    assert all(done[job] <= finish_ms for job, finish_ms in promised.items())
    assert all(sentence(e.data["code"], e.data["values"]) for e in events if e.kind == "decided")
    ended = {job for _, job, kind, _ in decided(events) if kind in ("rejected", "unfinished")}
    assert ended | set(done) == set(range(len(jobs))), "every job is accounted for"


@pytest.mark.parametrize("seed", range(10))
def test_a_rejected_job_pays_at_no_later_moment_on_an_empty_cluster(seed):
    cluster, jobs = crowded(seed)
    events = events_of(cluster, jobs, "replanning", **CLAIRVOYANT)
    refused = [(at_ms, job) for at_ms, job, _, code in decided(events) if code == "replanning.hopeless"]
    for at_ms, job in refused:
        alone = started(cluster, jobs)
        alone.open[job] = OpenJob(oracle.worker_slots(jobs[job], 1_000))
        for slot in range(at_ms // 1_000, 8):
            quote = alone._quote(slot * 1_000, slot, job)
            assert isinstance(quote, Reason) or quote.best() is None


@pytest.mark.parametrize("seed", range(5))
def test_decisions_know_no_job_before_its_arrival(seed):
    cluster, jobs = generate("oasis", num_jobs=20, num_servers=10, seed=seed, horizon_slots=40)
    last_ms = jobs[12].arrival_ms
    past = [
        [event[1:] for event in events_of(cluster, some, "replanning") if event.at_ms < last_ms][1:]
        for some in (jobs, jobs[:12])
    ]
    assert past[0] == past[1]


@pytest.mark.parametrize("promise", PROMISES)
def test_a_saved_run_goes_on_as_the_undisturbed_one(promise):
    cluster, jobs = generate("oasis", num_jobs=25, num_servers=8, seed=2, horizon_slots=40)
    whole = events_of(cluster, jobs, "replanning", promise=promise)
    assert in_pieces(cluster, jobs, "replanning", cuts_of(whole, 3), promise=promise) == whole


def test_state_is_restored_exactly():
    cluster, jobs = crowded(1)
    scheduler = started(cluster, jobs, promise="arrival")
    for index in range(4):
        scheduler.on_arrival(jobs[index].arrival_ms, index)
        scheduler.on_slot(jobs[index].arrival_ms, jobs[index].arrival_ms // 1_000)
    assert any(own.plan for own in scheduler.open.values())
    assert jobs_of(state_of(scheduler.open)) == scheduler.open


@pytest.mark.parametrize("seed", range(10))
def test_a_candidate_leaves_prices_and_room_as_they_were(seed):
    cluster, jobs = crowded(seed)
    scheduler = started(cluster, jobs)
    for index, job in enumerate(jobs[:5]):
        now_ms, slot = job.arrival_ms, job.arrival_ms // 1_000
        for done in [other for other, own in scheduler.open.items() if own.plan and own.plan.finish < slot]:
            scheduler.on_completion(now_ms, done)
        scheduler.on_arrival(now_ms, index)
        scheduler.on_slot(now_ms, slot)
    before = [(book.free.copy(), book.price.copy()) for book in scheduler.books]
    scheduler._candidate(now_ms, slot, list(scheduler.open))
    for book, (free, price) in zip(scheduler.books, before, strict=True):
        assert (book.free == free).all()
        assert (book.price == price).all()


def test_the_most_workers_of_a_plan_are_counted_over_time():
    """2 workers in slots 0 and 1, 1 more in slot 1, 3 others in slot 2."""
    bars = [(0, 0, 0, 0, 2_000, 2), (0, 0, 1, 1_000, 2_000, 1), (0, 0, 0, 2_000, 3_000, 3), (0, 1, 2, 0, 3_000, 9)]
    plan = Plan([Placement(*bar) for bar in bars], 2, 1.0)
    assert plan.most_workers() == 3
    assert plan.worked_ms(1_500) == 2 * 1_500 + 500
    assert rows_of([plan.rest(1_500)])[:, 3].tolist() == [1_500, 1_500, 2_000, 1_500]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"promise": "always"}, "promise"), ({"lead_slots": "0"}, "lead_slots"), ({"lead_slots": "soon"}, "lead_slots")],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        build("replanning", parameters)


def test_a_job_without_a_utility_or_too_large_is_rejected_on_arrival():
    cluster = tiny.cluster(gpus=1, ps_cpus=1, slots=4)
    jobs = [replace(tiny.job("none"), utility=None), tiny.job("large", work=9, chunks=1), tiny.job("wide", gpus=2)]
    kinds = {job: (kind, code) for _, job, kind, code in decided(events_of(cluster, jobs, "replanning"))}
    assert kinds[0][0] == kinds[1][0] == kinds[2][0] == "rejected"
    assert (kinds[1][1], kinds[2][1]) == ("too_late", "fits_nowhere")


def test_the_last_slot_before_the_horizon_ends_all_waiting():
    """A job that cannot end any more is rejected; nothing is asked after the horizon."""
    cluster = tiny.cluster(gpus=1, ps_cpus=1, slots=3)
    jobs = [tiny.job("a", work=3, chunks=1, priority=100.0), tiny.job("b", work=1, chunks=1, priority=1.0)]
    events = events_of(cluster, jobs, "replanning", **CLAIRVOYANT)
    assert completed(events) == {0: 3_000}
    assert {job for _, job, kind, _ in decided(events) if kind == "rejected"} <= {1}


@pytest.mark.slow
def test_it_earns_more_than_oasis_where_jobs_compete():
    """300 jobs of OASiS' workload on 100 servers, T = 100: at least 1.15 times with promises, 1.3 without."""
    instances = [generate("oasis", num_jobs=300, num_servers=100, seed=seed, horizon_slots=100) for seed in range(3)]
    oasis, kept, loose = (
        sum(earned(events_of(*instance, name, **parameters)) for instance in instances)
        for name, parameters in (("oasis", {}), ("replanning", {}), ("replanning", {"promise": "never"}))
    )
    assert kept >= 1.15 * oasis
    assert loose >= 1.30 * oasis


def test_work_before_a_change_of_plan_counts():
    """Two workers of slots 0 to 3 have done 4 worker-slots at the end of slot 1, after one of a plan before."""
    own = OpenJob(9, done_ms=1_000, plan=Plan([Placement(0, 0, 0, 0, 4_000, 2)], 3, 1.0))
    assert own.with_plan(None, 2_000) == OpenJob(9, done_ms=5_000)


def test_a_window_does_not_reach_as_far_as_a_job_to_come_would_allow():
    """Three jobs of 60 slots on one GPU arrive in slots 0 to 2: the window of the last ends 2 x 60 slots later.

    From slot 63 on it has no 60 slots left. A job that arrives in slot 500 is not known then.
    """
    cluster = replace(tiny.cluster(gpus=1), horizon_slots=None)
    jobs = [tiny.job(f"j{n}", n * tiny.SLOT, work=60, chunks=1) for n in range(3)]
    late = tiny.job("late", 500 * tiny.SLOT, work=60, chunks=1)
    for known in (jobs, [*jobs, late]):
        events = events_of(cluster, known, "replanning")
        told = [(e.at_ms, e.data["job"], e.data["code"]) for e in events if e.kind == "decided" and e.data["job"] == 2]
        assert told == [(63 * tiny.SLOT, 2, "too_late")]
