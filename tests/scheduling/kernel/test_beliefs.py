"""Runs on beliefs: schedulers know believed run times, the kernel the true work."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.kernel.beliefs.belief import scaled
from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import END, ROLE, START
from scheduling.model.values import Cluster, ModelError, Server, Utility
from scheduling.reporting.reasons import sentence
from scheduling.run_times.beliefs import ASSUMED_MS, Learned, Recorded, beliefs, names
from scheduling.verification.verify import verify
from tests.cases import cases
from tests.scheduling.builders import output_of_run
from tests.scheduling.builders_beliefs import BELIEVING, TYPED, Table, instance, plain, simulation, true_ms
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server

SECOND = 1_000
CLAIRVOYANT = {"estimate_from": "clairvoyant"}  # price bounds of all jobs
SHARES = (0.2, 0.5, 0.9, 1.0, 1.3, 2.5)
SEEDS = st.integers(0, 10_000)


def plans_of(events, index):
    """[(at, finish, [(start, end) of worker bars])] of the plans of a job."""
    return [
        (event.at_ms, row[2], [(bar[START], bar[END]) for bar in event.data["bars"] if bar[ROLE] == 0])
        for event in events
        if event.kind == "plan_changed"
        for row in event.data["jobs"]
        if row[0] == index
    ]


def completions(events):
    return {event.data["job"]: event.at_ms for event in events if event.kind == "job_completed"}


def overran(events):
    return [(event.at_ms, event.data["job"]) for event in events if event.data.get("kind") == "overran"]


def test_a_job_that_ends_early_frees_its_servers_at_that_slot():
    """One GPU. a takes 2 slots and is believed to take 5: b starts at slot 2, not 5."""
    machines = cluster(worker_server("w", 1), ps_server("p"), horizon=20)
    jobs = [job("a", slots=2), job("b", slots=3)]
    sim = simulation("fifo", machines, jobs, {}, Table([5 * SECOND, 3 * SECOND]))
    events = list(sim.events())
    assert plans_of(events, 0) == [(0, 5 * SECOND, [(0, 5 * SECOND)]), (2 * SECOND, 2 * SECOND, [])]
    assert plans_of(events, 1) == [(2 * SECOND, 5 * SECOND, [(2 * SECOND, 5 * SECOND)])]
    assert completions(events) == {0: 2 * SECOND, 1: 5 * SECOND}
    assert verify(**output_of_run(sim, events)) == []


def test_a_gang_that_runs_longer_than_believed_keeps_its_servers():
    """a takes 5 slots and is believed to take 2, then 4, then 6: it runs without a break, and b after it."""
    machines = cluster(worker_server("w", 1), ps_server("p"), horizon=20)
    sim = simulation("fifo", machines, [job("a", slots=5), job("b")], {}, Table([2 * SECOND, SECOND]))
    events = list(sim.events())
    assert overran(events) == [(2 * SECOND, 0), (4 * SECOND, 0)]
    assert plans_of(events, 0) == [
        (0, 2 * SECOND, [(0, 2 * SECOND)]),
        (2 * SECOND, 4 * SECOND, [(2 * SECOND, 4 * SECOND)]),
        (4 * SECOND, 6 * SECOND, [(4 * SECOND, 6 * SECOND)]),
        (5 * SECOND, 5 * SECOND, []),
    ]
    assert completions(events) == {0: 5 * SECOND, 1: 6 * SECOND}
    first = next(event for event in events if event.data.get("kind") == "overran")
    assert first.data["values"] == {"believed_ms": 2_000, "ran_ms": 2_000, "later_ms": 4_000}
    assert sentence(first.data["code"], first.data["values"]) == (
        "Ran for 2 s without completing; its predicted run time was 2 s and is now 4 s."
    )
    assert verify(**output_of_run(sim, events)) == []


@pytest.mark.parametrize("name", ["fifo", "easy", "conservative", "drf", "rrh", "dorm"])
@pytest.mark.parametrize("training", ["oasis", "pd-ors"])
def test_a_prolonged_plan_is_as_long_as_the_work_that_is_believed_to_be_left(name, training):
    """A gang of 2 for 16 slots, believed to take 1, then 3, 7, 15 and 31: its plans end after these slots."""
    machines = Cluster("small", SECOND, (Server("h", "edge", (2_000, 8_000, 8_000, 8_000, 8_000)),), 60)
    samples = {"num_samples": 320, "global_batch": 2, "sample_ms": 100.0, "workers_per_ps": 2, "internal_gbps": 1.0,
               "external_gbps": 1.0}  # fmt: skip
    jobs = [job("a", workers=2, slots=16, **samples)]

    class Doubling(Table):
        def later(self, job, row, believed_ms, ran_ms):
            return 2 * believed_ms + SECOND

    sim = simulation(name, machines, jobs, {"model": training}, Doubling([SECOND]))
    events = list(sim.events())
    at_ms = [0, 1, 3, 7, 15]
    plans = {at: finish for at, finish, bars in plans_of(events, 0) if bars}
    assert plans == {at * SECOND: (2 * at + 1) * SECOND for at in at_ms}
    assert completions(events) == {0: 16 * SECOND}
    assert verify(**output_of_run(sim, events)) == []


def test_oasis_is_offered_a_job_again_whose_belief_is_used_up():
    """Two GPUs' worth of slots: a believes 2 of its 3 slots; b has been promised the slot after them."""
    machines = cluster(worker_server("w", 1), ps_server("p"), horizon=20)
    jobs = [job("a", slots=3), job("b", arrival_ms=500, slots=2)]
    sim = simulation("oasis", machines, jobs, CLAIRVOYANT, Table([2 * SECOND, 2 * SECOND]))
    events = list(sim.events())
    assert overran(events) == [(2 * SECOND, 0)]
    kinds = [(e.at_ms, e.data["job"], e.data["kind"]) for e in events if e.kind == "decided"]
    assert kinds == [(0, 0, "admitted"), (500, 1, "admitted"), (2_000, 0, "overran"), (2_000, 0, "admitted")]
    assert completions(events) == {1: 4 * SECOND, 0: 5 * SECOND}  # b holds the GPU from 2 to 4, then a has 1 slot left
    assert sum(end - begin for _, _, bars in _held(events, 0) for begin, end in bars) == 3 * SECOND
    assert verify(**output_of_run(sim, events)) == []


@pytest.mark.parametrize("name", [name for name in BELIEVING if name not in TYPED])
def test_a_belief_that_is_used_up_at_the_horizon_plans_nothing_after_it(name):
    """a takes 3 slots and is believed to take 2, as many as there are."""
    machines = cluster(worker_server("w", 1), ps_server("p"), horizon=2)
    sim = simulation(name, machines, [job("a", slots=3)], {}, Table([2 * SECOND]))
    events = list(sim.events())
    assert completions(events) == {}
    assert all(end <= 2 * SECOND for _, _, bars in plans_of(events, 0) for _, end in bars)
    assert verify(**output_of_run(sim, events)) == []


def test_oasis_frees_the_prices_of_what_an_early_end_leaves():
    machines, soon = cluster(worker_server("w", 1), ps_server("p"), horizon=20), Utility(10.0, 1.0, 3.0)
    jobs = [job("a", slots=1, utility=soon), job("b", arrival_ms=1_500, slots=3, utility=soon)]
    free = completions(simulation("oasis", machines, jobs, CLAIRVOYANT, Table([SECOND, 3 * SECOND])).events())
    early = completions(simulation("oasis", machines, jobs, CLAIRVOYANT, Table([3 * SECOND, 3 * SECOND])).events())
    assert free == early == {0: SECOND, 1: 5 * SECOND}  # not 6: a does not hold slot 2 any more


def _held(events, index):
    """Plans of a job, each cut where the next one begins."""
    found = plans_of(events, index)
    ends = [at for at, _, _ in found[1:]] + [1 << 60]
    return [
        (at, finish, [(begin, min(end, cut)) for begin, end in bars if begin < cut])
        for (at, finish, bars), cut in zip(found, ends, strict=True)
    ]


def _sampled(data, name, machines, jobs, parameters):
    """Beliefs that are a share of the true run times."""
    true = true_ms(name, machines, jobs, parameters)
    believed = [max(1, round(ms * data.draw(st.sampled_from(SHARES)))) for ms in true]
    return Table(believed, 7 if name in TYPED else 2 * SECOND)


@pytest.mark.parametrize("name", BELIEVING)
@settings(max_examples=cases(25, 5), deadline=None)
@given(seed=SEEDS, data=st.data())
def test_whatever_is_believed_the_true_work_is_done(name, seed, data):
    """The verifier counts the work of the true jobs; a run that is saved and continued has the same log."""
    machines, jobs, parameters = instance(name, seed)
    table = _sampled(data, name, machines, jobs, parameters)
    sim = simulation(name, machines, jobs, parameters, table)
    events = list(sim.events())
    assert verify(**output_of_run(sim, events)) == []
    cut = data.draw(st.integers(1, len(events)))
    first = simulation(name, machines, jobs, parameters, table)
    begun = first.run_until(max_events=cut)
    again = simulation(name, machines, jobs, parameters, table)
    again.restore(first.state())
    assert repr([*begun, *again.events()]) == repr(events)


@pytest.mark.parametrize("name", BELIEVING)
@settings(max_examples=cases(20, 4), deadline=None)
@given(seed=SEEDS)
def test_true_beliefs_give_the_ordinary_log(name, seed):
    machines, jobs, parameters = instance(name, seed)
    true = true_ms(name, machines, jobs, parameters)
    if not all(ms and ms == int(ms) for ms in true):
        true = [max(1, round(ms)) for ms in true]
        jobs = [_lasting(row, ms, name, machines, parameters) for row, ms in zip(jobs, true, strict=True)]
        if true_ms(name, machines, jobs, parameters) != true:
            return
    believed = [int(ms) for ms in true]
    sim = simulation(name, machines, jobs, parameters, Table(believed, before_ms=believed))
    assert repr(plain(list(sim.events()))) == repr(list(simulation(name, machines, jobs, parameters, None).events()))


def _lasting(row, ms, name, machines, parameters):
    """The job with that run time."""
    pace = build(name, parameters).model.pace(build(name, parameters), machines)
    return scaled(row, ms / pace.alone_ms(row), 1.0) if pace.alone_ms(row) else row


@pytest.mark.parametrize("name", BELIEVING)
@settings(max_examples=cases(25, 5), deadline=None)
@given(seed=SEEDS, data=st.data())
def test_no_decision_depends_on_work_that_is_still_to_be_done(name, seed, data):
    """A job with twice or half the true work: until it ends in one of the two runs, the logs are equal."""
    machines, jobs, parameters = instance(name, seed)
    table = _sampled(data, name, machines, jobs, parameters)
    changed = data.draw(st.integers(0, len(jobs) - 1))
    factor = data.draw(st.sampled_from([0.5, 2.0]))
    others = [scaled(row, factor, 1.0) if i == changed else row for i, row in enumerate(jobs)]
    logs = [list(simulation(name, machines, rows, parameters, table).events()) for rows in (jobs, others)]
    until = min(completions(log).get(changed, 1 << 60) for log in logs)
    before = [repr([event for event in log if event.at_ms < until]) for log in logs]
    assert before[0] == before[1]


def test_predictors_learn_within_the_run_from_what_has_ended():
    """All of one user: the second job of 4 slots is believed to run as its limit, the third as the first one did."""
    machines = cluster(worker_server("w", 1), ps_server("p"), horizon=100)
    same = {"user": "ann", "limit_ms": 20 * SECOND}
    jobs = [job("a", slots=4, **same), job("b", 1_000, slots=4, **same), job("c", 6_000, slots=4, **same)]
    events = list(simulation("fifo", machines, jobs, {}, Learned("last-two")).events())
    assert [e.data["believed_ms"] for e in events if e.kind == "job_arrived"] == [20_000, 20_000, 4_000]
    assert completions(events) == {0: 4 * SECOND, 1: 8 * SECOND, 2: 12 * SECOND}


@pytest.mark.parametrize(
    ("believed_ms", "ran_ms", "limit_ms", "later_ms"),
    [(10_000, 10_000, None, 70_000), (100_000, 100_000, 150_000, 150_000), (90_000, 90_000, 90_000, 180_000)],
)
def test_a_belief_that_is_used_up_doubles_up_to_the_limit_and_beyond_a_wrong_one(
    believed_ms, ran_ms, limit_ms, later_ms
):
    row = job("a", limit_ms=limit_ms)
    assert Recorded("x", [1]).later(0, row, believed_ms, ran_ms) == later_ms


def test_nothing_is_known_of_a_job_without_a_limit_and_without_history():
    assert Learned("similar-p90").at_submission(0, job("a")) == ASSUMED_MS
    assert Learned("limit").at_submission(0, job("a", limit_ms=7)) == 7
    assert beliefs("exact") is None
    assert names() == ["exact", "last-two", "limit", "similar-median", "similar-p90"]
    with pytest.raises(ModelError, match="unknown predictor 'last'; did you mean 'last-two'"):
        beliefs("last")


@pytest.mark.parametrize("name", sorted(set(schedulers()) - set(BELIEVING)))
def test_other_schedulers_refuse_in_one_sentence(name):
    machines = cluster(worker_server("w", 1), ps_server("p"))
    with pytest.raises(ModelError, match=rf"^scheduler {name}: cannot run on predicted run times, because .+[a-z]$"):
        Simulation(machines, [job("a")], build(name, {}), 0, beliefs=Learned("limit"))


def test_a_run_on_beliefs_takes_no_edits():
    machines = cluster(worker_server("w", 1), ps_server("p"))
    with pytest.raises(ModelError, match="accepts no edits and no additions"):
        Simulation(machines, [], build("fifo", {}), 0, open_ended=True, beliefs=Learned("limit"))


def test_a_job_of_unknown_work_is_rejected_as_without_beliefs():
    machines = cluster(worker_server("w", 1), ps_server("p"))
    jobs = [replace(job("a"), minibatch_ms=None), job("b", slots=2)]
    events = list(simulation("fifo", machines, jobs, {}, Learned("limit")).events())
    first = next(e for e in events if e.kind == "decided")
    assert (first.data["job"], first.data["kind"]) == (0, "rejected")
    assert completions(events) == {1: 2 * SECOND}


def test_counts_of_jobs_stay_as_they_are():
    row = scaled(job("a", workers=2, slots=3, gradient_mb=5.0), 0.5, 6_000.0)
    assert (row.num_chunks, row.minibatches_per_chunk, row.minibatch_ms, row.gradient_mb) == (2, 3, 500.0, 2.5)
    assert np.isclose(scaled(job("a"), 1e300, 1_000.0).minibatch_ms, 2**53 / 4)
