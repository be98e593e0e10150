"""Quota queues: worked by hand, against plain loops, and what they guarantee."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.algorithms.quota_queues import QuotaQueues
from scheduling.kernel.registry import build
from scheduling.kernel.resource_vector import MASK
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import ModelError, Utility
from scheduling.reporting.reasons import sentence
from scheduling.slotted.quotas.book import cohorts_of, quotas_of
from tests.cases import cases
from tests.scheduling.backfilling.reference_quota_queues import Queues, as_jobs, instance
from tests.scheduling.builders import random_away
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.rivals import (
    completed,
    cuts_of,
    decided,
    events_of,
    in_pieces,
    verified,
    workers,
    workload,
)

NAME = "quota_queues"
TEN = cluster(worker_server("w", 10), ps_server("s"), horizon=None)
TWO = {"quotas": "prod=60,dev=40"}


def ask(name, arrival_ms, queue, gpus, slots, **changes):
    """A gang that needs GPUs only."""
    only = {"worker": (1_000, 0, 0, 0, 0), "ps": (0, 0, 0, 0, 0), "group": queue}
    return job(name, arrival_ms, workers=gpus, slots=slots, **(only | changes))


def spans(events, jobs):
    return {row.id: [(a // 1_000, b // 1_000) for a, b, _ in workers(events, i)] for i, row in enumerate(jobs)}


# 10 GPUs, of which dev has 4: it holds 9 when prod asks for 6 of its own 6
WORKED = [
    ask("d1", 0, "dev", 3, 10), ask("d2", 500, "dev", 5, 10), ask("d3", 600, "dev", 1, 10),
    ask("p", 1_500, "prod", 6, 2),
]  # fmt: skip


def test_a_queue_borrows_what_is_idle_and_gives_it_back():
    """Slot 2: prod needs 6 GPUs and 1 is free. Of dev's jobs the latest start goes first: d3 (1 GPU), then d2 (5), and
    7 would be free. Without d3 there are still 6: d3 runs on. d2 did 1 of its 10 slots and does the rest from slot 4.
    """
    events = events_of(TEN, WORKED, NAME, **TWO)
    assert spans(events, WORKED) == {"d1": [(0, 10)], "d2": [(1, 2), (4, 13)], "d3": [(1, 11)], "p": [(2, 4)]}
    assert decided(events) == [
        (0, 0, "started", "quota_queues.within_quota"),
        (1_000, 1, "started", "quota_queues.borrowing"),
        (1_000, 2, "started", "quota_queues.borrowing"),
        (2_000, 1, "preempted", "quota_queues.reclaimed"),
        (2_000, 3, "started", "quota_queues.within_quota"),
        (4_000, 1, "resumed", "quota_queues.borrowing"),
    ]


def test_without_reclaiming_the_owner_waits():
    events = events_of(TEN, WORKED, NAME, **TWO, reclaim="never")
    assert spans(events, WORKED)["p"] == [(11, 13)]
    assert spans(events, WORKED)["d2"] == [(1, 11)]


def test_borrowing_has_a_limit():
    """With 20 % dev may hold 6 of 10: d2 waits for d1, and d3 goes ahead of it unless the order is strict."""
    events = events_of(TEN, WORKED[:3], NAME, **TWO, borrow_percent=20)
    assert spans(events, WORKED[:3]) == {"d1": [(0, 10)], "d2": [(10, 20)], "d3": [(1, 11)]}
    events = events_of(TEN, WORKED[:3], NAME, **TWO, borrow_percent=20, strict=True)
    assert spans(events, WORKED[:3]) == {"d1": [(0, 10)], "d2": [(10, 20)], "d3": [(10, 20)]}


def test_without_borrowing_what_exceeds_the_quota_is_rejected():
    events = events_of(TEN, WORKED, NAME, **TWO, borrow_percent=0)
    assert decided(events)[1] == (500, 1, "rejected", "quota_queues.exceeds_quota")
    assert sorted(completed(events)) == [0, 2, 3]


def test_queues_of_other_cohorts_keep_their_quotas():
    """prod and dev are one cohort of 7 GPUs, lab is alone. d1 holds 5 of them until prod asks for its 4; d2 is then
    within the quota of dev, and d1 waits for it."""
    jobs = [
        ask("l", 0, "lab", 3, 5), ask("d1", 0, "dev", 5, 5), ask("d2", 0, "dev", 3, 5), ask("p", 1_500, "prod", 4, 2),
    ]  # fmt: skip
    own = {"quotas": "prod=40,dev=30,lab=30", "cohorts": "prod+dev"}
    events = events_of(TEN, jobs, NAME, **own)
    assert spans(events, jobs) == {"l": [(0, 5)], "d1": [(0, 2), (7, 10)], "d2": [(2, 7)], "p": [(2, 4)]}


def test_a_job_within_its_quota_starts_before_one_that_borrows():
    jobs = [ask("x", 0, "x", 10, 1), ask("d", 0, "dev", 6, 3), ask("p", 100, "prod", 6, 3)]
    found = spans(events_of(TEN, jobs, NAME, **TWO), jobs)
    assert found == {"x": [(0, 1)], "d": [(4, 7)], "p": [(1, 4)]}


@pytest.mark.parametrize(("order", "first"), [("arrival", "a"), ("priority", "b")])
def test_the_order_of_a_queue(order, first):
    best = Utility(99.0, 0.0, 1.0)
    jobs = [ask("x", 0, "dev", 10, 1), ask("a", 100, "dev", 10, 1), ask("b", 200, "dev", 10, 1, utility=best)]
    found = spans(events_of(TEN, jobs, NAME, **TWO, order=order), jobs)
    assert found[first] == [(1, 2)]


def test_the_lowest_priority_is_preempted_first():
    low = Utility(1.0, 0.0, 1.0)
    jobs = [ask("low", 0, "dev", 5, 9, utility=low), ask("high", 0, "dev", 5, 9), ask("p", 500, "prod", 3, 1)]
    found = spans(events_of(TEN, jobs, NAME, **TWO), jobs)
    assert found == {"low": [(0, 1), (2, 10)], "high": [(0, 9)], "p": [(1, 2)]}


def test_users_can_be_the_queues():
    jobs = [ask("a", 0, None, 10, 9, user="ann"), ask("b", 500, None, 5, 1, user="bob")]
    own = {"queue_by": "user", "other_percent": 50}
    assert spans(events_of(TEN, jobs, NAME, **own), jobs) == {"a": [(0, 1), (2, 10)], "b": [(1, 2)]}
    assert spans(events_of(TEN, jobs, NAME, other_percent=50), jobs) == {"a": [(0, 9)], "b": [(9, 10)]}


def test_reasons_are_sentences():
    values = {"waited_ms": 0, "queue": "dev", "workers": 3, "ps": 1, "percent": 40}
    assert sentence("quota_queues.within_quota", values) == (
        "Started with 3 workers and 1 parameter server, without waiting, within the quota of queue dev, 40 %."
    )
    assert sentence("quota_queues.borrowing", values | {"queue": ""}) == (
        "Started with 3 workers and 1 parameter server, without waiting; the queue of jobs without a queue name "
        "borrows beyond its quota of 40 %."
    )
    assert sentence("quota_queues.reclaimed", {"queue": "dev", "by": "p"}) == (
        "Preempted: queue dev borrows, and job p needs this capacity within the quota of its own queue. Completed "
        "work is kept."
    )
    assert sentence("quota_queues.exceeds_quota", values | {"borrow": 20}) == (
        "Rejected: its request of 3 workers and 1 parameter server exceeds what queue dev may hold, 40 % of the "
        "cluster and at most 20 % borrowed in its cohort."
    )


def test_quotas_and_cohorts_are_read():
    assert quotas_of("") == {}
    assert quotas_of("a=1, b=c=99") == {"a": 1, "b=c": 99}
    assert cohorts_of("a+b, c") == {"a": ("a", "b"), "b": ("a", "b"), "c": ("c",)}
    for text in ("a", "a=", "=3", "a=1,a=2", "a=-1", "a=1.5", "a=60,b=41"):
        with pytest.raises(ModelError, match="parameter quotas must"):
            build(NAME, {"quotas": text})
    for text in ("a+", "a+a", "a,b+a"):
        with pytest.raises(ModelError, match="parameter cohorts must"):
            build(NAME, {"cohorts": text})


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_plain_loops_find_the_same_runs(first):
    for seed in range(first, first + cases(100, 15)):
        gpus, requests, rules = instance(seed)
        machines, jobs = as_jobs(gpus, requests)
        events = events_of(machines, jobs, NAME, **rules.parameters())
        runs, rejected = Queues(gpus, requests, rules).play()
        found = {i: [(a // 1_000, b // 1_000) for a, b, _ in workers(events, i)] for i in range(len(jobs))}
        assert {i: own for i, own in found.items() if own} == runs, seed
        assert {i for _, i, kind, _ in decided(events) if kind == "rejected"} == rejected, seed


class Watched(QuotaQueues):
    """Checks each slot and each choice of the jobs that are preempted; on one server with GPUs only."""

    slots = choices = 0

    def on_slot(self, now_ms, slot):
        decision = super().on_slot(now_ms, slot)
        if decision.wake_ms is None:
            heads = [(queue, keys[0][1]) for queue, kinds in self.lines.items() for keys in kinds.values()]
            assert not any(self.book.within(queue, self._amounts(job)) for queue, job in heads)
            self.slots += bool(heads)
        return decision

    def _victims(self, job):
        found, free = super()._victims(job), self.packing.free[0] & MASK
        needed = self._amounts(job) & MASK
        for size in range(len(found) + 1):
            for some in combinations(found, size):
                fits = free + sum(self._amounts(other) & MASK for other in some) >= needed
                assert fits == (size == len(found))
        self.choices += 1
        return found


def test_no_job_within_its_quota_waits_and_no_job_is_preempted_without_need():
    """All subsets of the preempted jobs are tried. The quotas are at most 100 % together, with one cohort."""
    slots = choices = 0
    for seed in range(cases(400, 60)):
        gpus, requests, rules = instance(seed)
        rules = rules._replace(reclaim=True, strict=False, borrow=100, cohorts=())
        machines, jobs = as_jobs(gpus, requests)
        scheduler = Watched(Watched.Parameters(**rules.parameters()))
        list(Simulation(machines, jobs, scheduler, 0).events())
        slots, choices = slots + scheduler.slots, choices + scheduler.choices
    assert (slots > cases(500, 75), choices > cases(50, 5)) == (True, True), (slots, choices)


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.parametrize("seed", range(3))
def test_generated_workloads_are_verified_with_and_without_absences(world, seed):
    machines, jobs = workload(world, seed=seed)
    rng = np.random.default_rng(seed)
    jobs = [replace(row, group=str(rng.choice(["a", "b", "c"]))) for row in jobs]
    own = {"quotas": "a=50,b=20", "other_percent": 10}
    for with_away in (False, True):
        if with_away:
            machines = random_away(machines, rng, 40)
        events = verified(machines, jobs, NAME, seed, **own)
        assert completed(events)
        assert in_pieces(machines, jobs, NAME, cuts_of(events, seed), seed, **own) == events


@settings(max_examples=cases(60, 10))
@given(st.integers(0, 10_000), st.lists(st.integers(1, 40), max_size=3))
def test_saved_and_continued_it_has_the_same_log(seed, cuts):
    gpus, requests, rules = instance(seed)
    machines, jobs = as_jobs(gpus, requests)
    events = events_of(machines, jobs, NAME, **rules.parameters())
    assert in_pieces(machines, jobs, NAME, cuts, **rules.parameters()) == events
