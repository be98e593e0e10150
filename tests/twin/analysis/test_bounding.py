"""What is claimed of a run that was edited on the way: bounds of the cluster at its largest, or nothing."""

from __future__ import annotations

import random

import pytest

from scheduling.kernel.execution_model import Outcome
from scheduling.kernel.registry import build
from scheduling.model.bars import CHUNK, END, ROLE, Role
from scheduling.model.values import ModelError
from scheduling.reporting.metrics import summarize
from scheduling.typed_workers.certificate import isolated
from tests.cases import cases
from tests.twin.scenarios.builders_phases import last_event_ms, scenario_state, some_edits, staged
from twin.analysis.bounding_cluster import bounding
from twin.management.commands.simulate import Played
from twin.scenarios.store import played

H = 3_600_000


@pytest.mark.parametrize(
    ("profile", "name"), [("oasis", "fifo"), ("oasis", "oasis"), ("pd-ors", "pd_ors"), ("a-online", "srtf")]
)
@pytest.mark.thorough
def test_no_edited_run_ever_beats_its_bound(profile, name):
    """certify rechecks what it proves, and raises where the schedule is better than the bound."""
    claimed = 0
    for seed in range(cases(5, 3)):
        draw = random.Random(f"bounding {profile} {name} {seed}")
        base = scenario_state(profile, name, seed)
        try:
            stages = staged(base, some_edits(draw, base, last_event_ms(base)))
        except ModelError:
            continue
        found = bounding(stages)
        assert not isinstance(found, str), found
        scheduler, cluster = found
        jobs, seen = stages[-1].state.jobs, Played()
        metrics = summarize(seen.passing(played(stages, 5).events()), cluster, jobs)
        bars = seen.futures.matrix()
        horizon = max(1, -(-int(bars[:, END].max(initial=0)) // cluster.slot_ms))
        outcome = Outcome(range(len(jobs)), seen.completions, metrics["total_utility"] or 0.0, bars, horizon)
        made = scheduler.model.proof(scheduler, cluster, jobs, outcome)
        if made is not None and seen.completions:
            claimed += 1
            low, high = sorted((made[0].achieved, made[0].bound))
            assert (made[0].achieved, made[0].bound) == ((low, high) if profile != "a-online" else (high, low))
    assert claimed or cases(0, 1)


def test_what_no_single_cluster_can_stand_for_is_said():
    base = scenario_state("oasis", "fifo", 1)
    server = base.cluster.servers[0].name
    for edit, sentence in (
        ({"verb": "change_bandwidth", "servers": server, "factor": 2}, None),
        ({"verb": "switch_cloud", "on": True}, "an edit switched the unlimited cloud on or off"),
        ({"verb": "change_scheduler", "scheduler": "harmony"}, "changed the execution model"),
        ({"verb": "change_scheduler", "scheduler": "oasis"}, None),
    ):
        found = bounding(staged(base, [edit | {"at_ms": 5 * H}]))
        assert (found if isinstance(found, str) else None) == sentence or (sentence and sentence in str(found)), edit
    before = bounding(staged(base, []))
    resized = {"verb": "resize_servers", "servers": server, "resource": "gpu"}
    larger = bounding(staged(base, [resized | {"amount": 99, "at_ms": H}, resized | {"amount": 1, "at_ms": 2 * H}]))
    assert not isinstance(before, str)
    assert not isinstance(larger, str)
    assert (before[1].servers[0].capacity[0] < 99_000, larger[1].servers[0].capacity[0]) == (True, 99_000)


@pytest.mark.parametrize(
    ("names", "gangs"),
    [
        (("a_online_edge",), False),
        (("srtf",), True),
        (("a_online_edge", "srtf"), True),
        (("tiresias_l", "a_online_edge"), True),
    ],
)
def test_a_run_of_chunks_and_gangs_is_bounded_as_one_of_gangs(names, gangs):
    """A gang may finish before the time that its chunks, undivided, take alone."""
    base = scenario_state("a-online", names[0], 3)
    half = last_event_ms(base) // 2
    stages = staged(base, [{"verb": "change_scheduler", "scheduler": name, "at_ms": half} for name in names[1:]])
    seen = Played()
    for _ in seen.passing(played(stages, 5).events()):
        pass
    bars, jobs, cluster = seen.futures.matrix(), stages[-1].state.jobs, base.cluster
    kinds = {bool(chunk >= 0) for role, chunk in bars[:, [ROLE, CHUNK]].tolist() if role == Role.WORKER}
    assert kinds == ({True, False} if len(names) == 2 else {not gangs})
    horizon = max(1, -(-int(bars[:, END].max()) // cluster.slot_ms))
    outcome = Outcome(range(len(jobs)), seen.completions, 0.0, bars, horizon)
    scheduler = build(names[-1])
    made, plain = scheduler.model.certify(scheduler, cluster, jobs, outcome, None)
    assert plain["gangs"] is gangs
    assert made.bound >= isolated(cluster, jobs, sorted(seen.completions), gangs)
    assert made.achieved >= made.bound
