"""Counterfactuals reverse the decision at the stated value, in the state in which the job was decided."""

import re
from dataclasses import replace

import numpy as np
import pytest

from scheduling.kernel.quotes import ADMITTED
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import Placement
from scheduling.model.decision import Reason
from scheduling.model.utility import utility_at
from scheduling.slotted.counterfactuals import (
    CLOSE_SLOTS,
    MAX_PRIORITY,
    Counterfactual,
    counterfactuals,
    least_multiple,
    sentence,
    unit_of,
)
from scheduling.workloads import generate
from tests.scheduling import tiny


def as_it_was(cluster, jobs, events, seq, name="oasis", **parameters):
    """A scheduler in the state before event `seq`."""
    scheduler = build(name, parameters)
    scheduler.start(cluster, jobs, np.random.default_rng(0))
    bars = [bar for event in events if event.seq < seq and event.kind == "plan_changed" for bar in event.data["bars"]]
    arrived = sum(event.seq < seq and event.kind == "job_arrived" for event in events)
    scheduler.assume(np.array(bars, dtype=np.int64).reshape(-1, len(Placement._fields)), arrived)
    return scheduler


SHARED = ("pd-ors", "calibrated", 40, 8, 4, 20)  # profile, variant, jobs, servers, seed, slots
WORLDS = {
    "oasis": ("oasis", {}, ("oasis", "calibrated", 40, 16, 4, 60)),
    "oasis in the world of pd-ors": ("oasis", {"model": "pd-ors"}, SHARED),
    "pd-ors": ("pd_ors", {}, SHARED),
    "pd-ors, not refined": ("pd_ors", {"refine": False, "price_mode": "literal"}, SHARED),
    "clairvoyant oasis": ("oasis", {"estimate_from": "clairvoyant"}, ("oasis", "calibrated", 40, 16, 4, 60)),
    "clairvoyant pd-ors": ("pd_ors", {"estimate_from": "clairvoyant"}, SHARED),
    "pd-ors as in the paper": ("pd_ors", {"mode": "paper"}, ("pd-ors", "calibrated", 20, 8, 4, 20)),
}


@pytest.fixture(scope="module", params=WORLDS)
def world(request):
    """(cluster, jobs, scheduler, parameters, the events of a run)"""
    name, parameters, (profile, variant, num_jobs, num_servers, seed, slots) = WORLDS[request.param]
    cluster, jobs = generate(
        profile, variant=variant, num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots
    )
    return cluster, jobs, name, parameters, list(Simulation(cluster, jobs, build(name, parameters), 0).events())


def test_a_quote_is_what_was_decided(world):
    """Every decision of the run, with all its numbers, from the bars of the log alone; and `admits` knows it, too."""
    cluster, jobs, name, parameters, events = world
    for event in events:
        if event.kind == "decided" and event.data["kind"] != "unfinished":
            scheduler, job = as_it_was(cluster, jobs, events, event.seq, name, **parameters), jobs[event.data["job"]]
            reason = scheduler.explain(event.at_ms, job)
            assert (reason.code, reason.values) == (event.data["code"], event.data["values"])
            assert scheduler.quote(event.at_ms, job).admitted == (reason.code == ADMITTED)


@pytest.mark.thorough
def test_each_counterfactual_reverses_the_answer(world):
    cluster, jobs, name, parameters, events = world
    seen = set()
    for event in events:
        if event.kind != "decided" or event.data["code"] not in (ADMITTED, "payoff_not_positive"):
            continue
        job = jobs[event.data["job"]]
        admitted = event.data["code"] == ADMITTED
        scheduler = as_it_was(cluster, jobs, events, event.seq, name, **parameters)

        def says(changed, most=None, scheduler=scheduler, index=event.data["job"]):
            scheduler.with_record(index, replace(scheduler.jobs[index], utility=changed.utility))
            return scheduler.explain(changed.arrival_ms, changed, most).code == ADMITTED

        for found in counterfactuals(scheduler, event.data["job"]):
            if found.value is None:
                continue
            seen.add((found.what, admitted))
            utility = job.utility
            if found.what == "priority":
                assert found.value >= utility.priority / MAX_PRIORITY
                assert says(replace(job, utility=replace(utility, priority=found.value)))
                less = replace(job, utility=replace(utility, priority=found.value - 1.001 * unit_of(found.value)))
                assert not says(less) or found.value <= utility.priority / MAX_PRIORITY * 1.02
            elif found.what == "target_slots":
                assert says(replace(job, utility=replace(utility, target_slots=found.value)))
                unit = max(unit_of(found.value), CLOSE_SLOTS)
                assert found.value <= unit or not says(
                    replace(job, utility=replace(utility, target_slots=found.value - 1.001 * unit))
                )
            elif found.what == "workers":
                assert found.actual == (
                    job.global_batch if scheduler.model.training(scheduler, cluster) == "pd-ors" else job.num_chunks
                )
                assert says(job, int(found.value))
                assert found.value == 1 or not says(job, int(found.value) - 1)
            else:
                assert says(replace(job, arrival_ms=int(found.value))) == found.admitted == (not admitted)
    assert {("priority", True), ("workers", True)} <= seen
    assert {("priority", False), ("target_slots", False)} & seen


def test_every_later_arrival_is_answered_as_if_it_were_asked_alone(world):
    """What the answers share of the machines' state changes none of them; nor does what was asked before."""
    cluster, jobs, name, parameters, events = world
    answers = set()
    decided = [e for e in events if e.kind == "decided" and e.data["kind"] != "unfinished"]
    by_verdict = [[e for e in decided if (e.data["code"] == ADMITTED) == admitted] for admitted in (True, False)]
    for event in by_verdict[0][::3][:5] + by_verdict[1][::3][:5]:
        scheduler, job = as_it_was(cluster, jobs, events, event.seq, name, **parameters), jobs[event.data["job"]]
        later = range(
            job.arrival_ms // cluster.slot_ms + 1, min(scheduler.horizon, job.arrival_ms // cluster.slot_ms + 15)
        )
        found = list(scheduler.clone().admits_later(job, later))
        for slot, admitted in zip(later, found, strict=True):
            moved = replace(job, arrival_ms=slot * cluster.slot_ms)
            assert (scheduler.explain(moved.arrival_ms, moved).code == ADMITTED) == admitted, (job.id, slot)
        answers |= set(found)
    assert answers == {True, False}


def test_a_copy_changes_alone_and_answers_alike(world):
    cluster, jobs, name, parameters, events = world
    event = [e for e in events if e.kind == "decided" and e.data["kind"] != "unfinished"][-1]
    fresh = as_it_was(cluster, jobs, events, 0, name, **parameters)
    job = jobs[event.data["job"]]
    before = fresh.explain(event.at_ms, job)
    copied = fresh.clone()
    bars = [bar for e in events if e.seq < event.seq and e.kind == "plan_changed" for bar in e.data["bars"]]
    copied.assume(np.array(bars, dtype=np.int64), event.data["job"] + 1)
    assert copied.explain(event.at_ms, job).values == event.data["values"]
    assert fresh.explain(event.at_ms, job) == before


def test_without_time_nothing_is_searched_and_with_all_of_it_everything(world):
    cluster, jobs, name, parameters, events = world
    event = next(e for e in events if e.kind == "decided" and e.data["code"] == ADMITTED)
    reason = Reason(event.data["code"], event.data["values"])
    scheduler = as_it_was(cluster, jobs, events, event.seq, name, **parameters)
    rows = counterfactuals(scheduler, event.data["job"], reason, until=0.0)
    assert not any(row.searched for row in rows)
    assert all(row.value is None for row in rows)
    assert all("Search not completed within the time limit" in sentence(row, True, cluster.slot_ms) for row in rows)
    again = counterfactuals(scheduler, event.data["job"], reason)
    assert all(row.searched for row in again)
    fresh = as_it_was(cluster, jobs, events, event.seq, name, **parameters)
    assert again == counterfactuals(fresh, event.data["job"])


@pytest.mark.thorough
def test_the_reversal_happens_in_a_new_simulation(world):
    """With the job changed as stated, the run decides the other way, or as before; clairvoyant bounds stay."""
    cluster, jobs, name, parameters, events = world
    decided = [e for e in events if e.kind == "decided" and e.data["code"] in (ADMITTED, "payoff_not_positive")]
    reversed_ = 0
    for event in [*decided[:4], *(e for e in decided if e.data["code"] != ADMITTED)][:8]:
        index = event.data["job"]
        utility = jobs[index].utility
        rows = {
            row.what: row
            for row in counterfactuals(as_it_was(cluster, jobs, events, event.seq, name, **parameters), index)
        }
        for what, least in (("priority", 0.0), ("target_slots", CLOSE_SLOTS)):
            if what not in rows or rows[what].value is None:
                continue
            value = rows[what].value
            if value <= getattr(utility, what) / MAX_PRIORITY * 1.02:
                continue  # the lower limit of the search
            less = value - 1.001 * max(unit_of(value), least)
            for tried, expected in ((value, "admitted"), (less, "rejected")):
                if tried <= 0:
                    continue
                changed = list(jobs)
                changed[index] = replace(jobs[index], utility=replace(utility, **{what: tried}))
                again = (
                    run_with_history(cluster, changed, jobs, name, parameters)
                    if "estimate_from" in parameters
                    else Simulation(cluster, changed, build(name, parameters), 0).events()
                )
                verdict = next(e.data["kind"] for e in again if e.kind == "decided" and e.data["job"] == index)
                assert verdict == expected, (what, tried)
                reversed_ += verdict != event.data["kind"]
    assert reversed_


def run_with_history(cluster, jobs, history, name, parameters):
    """The first decisions of a run of `jobs` whose price bounds come from another set of jobs."""

    class Recorder(type(build(name))):
        def _estimate(self, *capacities):
            decided, self.jobs = self.jobs, history
            if name == "oasis":
                rows, self.rows = self.rows, [self._converted(job) for job in history]
            found = super()._estimate(*capacities)
            self.jobs = decided
            if name == "oasis":
                self.rows = rows
            return found

    events = Simulation(cluster, jobs, Recorder(build(name, parameters).parameters), 0).events()
    return (e for e in events if e.kind == "decided" and e.data["kind"] != "unfinished")


def test_the_least_priority_of_a_job_that_the_prices_are_estimated_from():
    """A higher priority of the second job raises the prices.

    The priority at which its first cost would be covered is therefore not enough.
    """
    cluster = tiny.cluster(slots=2, gpus=2, ps_cpus=4)
    jobs = [tiny.job("a", work=2, chunks=1), tiny.job("b", work=1, chunks=1, priority=0.001)]
    events = list(Simulation(cluster, jobs, build("oasis"), 0).events())
    decided = next(e for e in events if e.kind == "decided" and e.data["job"] == 1)
    assert decided.data["kind"] == "rejected"
    cost = decided.data["values"]["cost"]

    def admitted(priority):
        utility = replace(jobs[1].utility, priority=priority)
        again = Simulation(cluster, [jobs[0], replace(jobs[1], utility=utility)], build("oasis"), 0).events()
        return {e.data["job"]: e.data["kind"] for e in again if e.kind == "decided"}[1] == "admitted"

    found = {row.what: row for row in counterfactuals(as_it_was(cluster, jobs, events, decided.seq), 1)}
    assert found["priority"].value == 0.133  # the payoff is above 0 from a priority of 0.1321 on
    assert admitted(0.133)
    assert not admitted(0.132)
    assert utility_at(replace(jobs[1].utility, priority=2.01 * cost), 0) > cost
    assert not admitted(2.01 * cost)
    assert "target_slots" not in found, "it is insensitive to time"


def test_clairvoyant_price_bounds_stay_and_the_sentence_says_so():
    cluster = tiny.cluster(slots=2, gpus=2, ps_cpus=4)
    jobs = [tiny.job("a", work=2, chunks=1), tiny.job("b", work=1, chunks=1, priority=0.001)]
    events = list(Simulation(cluster, jobs, build("oasis", {"estimate_from": "clairvoyant"}), 0).events())
    decided = next(e for e in events if e.kind == "decided" and e.data["job"] == 1)
    before = as_it_was(cluster, jobs, events, decided.seq, estimate_from="clairvoyant")
    found = {row.what: row for row in counterfactuals(before, 1)}
    assert found["priority"].value == pytest.approx(2 * decided.data["values"]["cost"], rel=2e-3)
    text = sentence(found["priority"], False, cluster.slot_ms)
    assert re.fullmatch(
        r"With unchanged price bounds: admitted with a priority of at least [\d.]+; it has 0\.001\.", text
    )


@pytest.mark.parametrize(
    ("own", "text"),
    [(0.001, "0.001"), (9999.4, "9999"), (9999.6, "10,000"), (12_345.6, "12,350"), (1e6, "1,000,000")],
)
def test_a_number_has_no_exponent_where_rounding_gives_it_a_fifth_digit(own, text):
    found = Counterfactual("priority", own, 2 * own, True)
    assert sentence(found, False, 1000).endswith(f"; it has {text}.")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.104, "0.104"), (15.0, "15"), (1.0, "1"), (3.24, "3.24"), (8140.0, "8140"), (126_000.0, "126,000")],
)
def test_a_value_is_written_in_full(value, text):
    found = Counterfactual("priority", 1.0, value, True)
    assert sentence(found, False, 1000) == f"Admitted with a priority of at least {text}; it has 1."
    slots = "1 slot" if text == "1" else f"{text} slots"
    target = Counterfactual("target_slots", 2.0, value, True)
    assert sentence(target, True, 1000) == f"Admitted with a target as short as {slots}; it has 2."


def test_the_stated_value_is_the_least_of_three_digits():
    rng = np.random.default_rng(0)
    for least in 10 ** rng.uniform(-5, 6, 1_000):
        value = least * (1 + rng.uniform(0, 1e-3))  # as the search finds it
        stated = least_multiple(value, unit_of(value), lambda x, least=least: x >= least)
        assert least <= stated
        assert stated - 1.001 * unit_of(value) < least
        assert float(f"{stated:.3g}") == stated
