"""Counterfactuals flip the answer where they say, asked of the state as it was when the job was decided."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scheduling.counterfactuals import ADMITTED, counterfactuals
from scheduling.model import Placement
from scheduling.registry import build
from scheduling.simulation import Simulation
from scheduling.utility import utility_at
from scheduling.workloads import generate
from tests.scheduling import tiny


def as_it_was(cluster, jobs, events, seq, name="oasis"):
    """A scheduler in the state before event `seq`."""
    scheduler = build(name)
    scheduler.start(cluster, jobs, np.random.default_rng(0))
    bars = [bar for event in events if event.seq < seq and event.kind == "planned" for bar in event.data["bars"]]
    scheduler.assume(np.array(bars, dtype=np.int64).reshape(-1, len(Placement._fields)))
    return scheduler


@pytest.fixture(scope="module")
def scenario():
    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=40, num_servers=16, seed=4, horizon_slots=60)
    return cluster, jobs, list(Simulation(cluster, jobs, build("oasis"), 0).events())


def test_a_quote_is_what_was_decided(scenario):
    """Every decision of the run, with all its numbers, from the bars of the log alone."""
    cluster, jobs, events = scenario
    for event in events:
        if event.kind == "decided":
            reason = as_it_was(cluster, jobs, events, event.seq).quote(event.at_ms, jobs[event.data["job"]])
            assert (reason.code, reason.values) == (event.data["code"], event.data["values"])


def test_each_counterfactual_flips_the_answer(scenario):
    cluster, jobs, events = scenario
    seen = set()
    for event in events:
        if event.kind != "decided" or event.data["code"] not in (ADMITTED, "payoff_not_positive"):
            continue
        job = jobs[event.data["job"]]
        admitted = event.data["code"] == ADMITTED
        scheduler = as_it_was(cluster, jobs, events, event.seq)

        def says(changed, most=None, scheduler=scheduler):
            return scheduler.quote(changed.arrival_ms, changed, most).code == ADMITTED

        for found in counterfactuals(scheduler, job):
            if found.value is None:
                continue
            seen.add((found.what, admitted))
            utility = job.utility
            if found.what == "priority":
                assert says(replace(job, utility=replace(utility, priority=found.value)))
                less = replace(job, utility=replace(utility, priority=found.value / 1.002))
                assert not says(less) or math.isclose(found.value, utility.priority / 1e6, rel_tol=1e-6)
            elif found.what == "target_slots":
                assert says(replace(job, utility=replace(utility, target_slots=found.value)))
                assert found.value <= 0.02 or not says(replace(job, utility=replace(utility, target_slots=found.value - 0.02)))
            elif found.what == "workers":
                assert says(job, int(found.value))
                assert found.value == 1 or not says(job, int(found.value) - 1)
            else:
                assert says(replace(job, arrival_ms=int(found.value))) == found.admitted == (not admitted)
    assert {("priority", True), ("priority", False), ("workers", True)} <= seen


def test_the_least_priority_by_hand():
    """A second job of the same kind finds every GPU dear: it is admitted from the priority at which its worth exceeds the cost."""
    cluster = tiny.cluster(slots=2, gpus=2, ps_cpus=4)
    jobs = [tiny.job("a", work=2, chunks=1), tiny.job("b", work=1, chunks=1, priority=0.001)]
    events = list(Simulation(cluster, jobs, build("oasis"), 0).events())
    decided = next(e for e in events if e.kind == "decided" and e.data["job"] == 1)
    assert decided.data["kind"] == "rejected"
    cost = decided.data["values"]["cost"]
    found = {row.what: row for row in counterfactuals(as_it_was(cluster, jobs, events, decided.seq), jobs[1])}
    assert found["priority"].value == pytest.approx(2 * cost, rel=2e-3)
    assert utility_at(replace(jobs[1].utility, priority=found["priority"].value), 0) >= cost
    assert "target_slots" not in found, "it is insensitive to time"
