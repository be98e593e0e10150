"""Metrics from the events of a run against those from its folded state at the end: every registered scheduler."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduling.kernel.registry import build, schedulers
from scheduling.model.values import ModelError
from scheduling.reporting.metric_table import BY_KEY, COMPARISON, METRICS, RUN, value_of
from scheduling.reporting.metrics import summarize
from tests.cases import cases
from tests.twin.scenarios.builders_phases import last_event_ms, scenario_state, some_edits, staged
from twin.analysis.comparison.decisions import decisions_of
from twin.analysis.comparison.metrics import COMPARED, metrics_of, slowdown
from twin.analysis.comparison.outcomes import FOREVER, believed, outcomes_of
from twin.eventlog.fold import RunState
from twin.scenarios.store import played

PROFILES = ("pd-ors", "oasis", "a-online", "harmony")
ELSEWHERE = ("lanes.mean_slowdown", "groups.cpu_utilization", "groups.net_utilization")
SHARED = [key for key in COMPARED if BY_KEY[key].scope == RUN and key not in ELSEWHERE]
HAND_OVERS = ("fifo", "srtf", "harmony")


def profile_of(name: str) -> str:
    """The first profile on whose clusters and jobs the scheduler completes one."""
    for profile in PROFILES:
        try:
            stages = staged(scenario_state(profile, name, 1, jobs=4, servers=3), [])
            if any(event.kind == "job_completed" for event in played(stages, 1).events()):
                return profile
        except ModelError:
            continue
    raise AssertionError(f"{name} completes no job of any profile")


def trained(stages):
    return tuple(dict.fromkeys(
        build(state.scheduler, state.parameters).model.training(build(state.scheduler, state.parameters), state.cluster)
        for _, state, _ in stages
    ))  # fmt: skip


def packed(stages):
    built = [(at_ms, state, build(state.scheduler, state.parameters)) for at_ms, state, _ in stages]
    return [(at_ms, scheduler.model.packs(scheduler, state.cluster)) for at_ms, state, scheduler in built]


def both(stages, seed):
    """(from the events, from the folded state) of a run."""
    events = list(played(stages, seed).events())
    clusters = [(stage.at_ms, stage.state.cluster) for stage in stages]
    cluster, jobs = clusters[-1][1], stages[-1].state.jobs
    state = RunState().feed(events)
    outcomes = outcomes_of(state, decisions_of(state, cluster), cluster, len(jobs), FOREVER)
    none = np.empty(0, dtype=np.int64)
    found = metrics_of(outcomes, believed(state, FOREVER), clusters, jobs, FOREVER, none, packed(stages))
    found |= slowdown(outcomes, clusters, jobs, trained(stages))
    return summarize(events, cluster, jobs, clusters if len(clusters) > 1 else ()), found


def agree(stages, seed):
    plain, found = both(stages, seed)
    keys = [*SHARED, "lanes.mean_slowdown"]
    assert {key: found[key] for key in keys} == {key: pytest.approx(value_of(plain, key)) for key in keys}
    return plain


@pytest.mark.parametrize("name", schedulers())
@settings(max_examples=cases(8, 2))
@given(seed=st.integers(0, 1000), jobs=st.integers(1, 8), servers=st.integers(2, 5), later=st.booleans())
@example(seed=120, jobs=8, servers=5, later=True)  # Tiresias-L takes over a job whose change of queue is overdue
def test_both_agree_with_edits_and_hand_overs(name, seed, jobs, servers, later):
    base = scenario_state(profile_of(name), name, seed, jobs=jobs, servers=servers)
    draw, edits = random.Random(seed), []
    if later:
        last_ms = last_event_ms(base)
        edits = some_edits(draw, base, last_ms)
        if draw.random() < 0.5:
            at_ms = draw.randrange(1, last_ms)
            edits.append({"verb": "change_scheduler", "at_ms": at_ms, "scheduler": draw.choice(HAND_OVERS)})
    try:
        stages = staged(base, edits)
    except ModelError:  # an edit that is impossible here
        stages = staged(base, [])
    agree(stages, seed)


def test_the_runs_have_rejected_suspended_and_unfinished_jobs():
    """Outcomes that the sampled runs have to have, in runs that have them for certain."""
    crowded = agree(staged(scenario_state("pd-ors", "oasis", 1, jobs=24, servers=2), []), 1)
    assert crowded["rejected"] > 0
    assert crowded["completed"] < crowded["jobs"]
    paused = agree(staged(scenario_state("a-online", "srtf", 3, jobs=14, servers=2), []), 3)
    assert paused["suspensions"] > 0
    base = scenario_state("oasis", "fifo", 2, jobs=10, servers=4)
    dropped = agree(staged(base, [{"verb": "drop_jobs", "at_ms": 1, "jobs": base.jobs[-1].id}]), 2)
    assert dropped["jobs"] == 9


def test_each_metric_of_the_table_has_one_place():
    """Keys of every run are computed in run_metrics.py, and those of one model in its part."""
    every = {metric.key for metric in METRICS if metric.scope == RUN}
    own = {key for key in every if key.partition(".")[0] in ("lanes", "groups")}
    plain, found = both(staged(scenario_state("oasis", "fifo", 1), []), 1)
    flat = {f"{key}.{name}" if isinstance(value, dict) else key for key, value in plain.items()
            for name in (value if isinstance(value, dict) else [""])}  # fmt: skip
    assert every - own == flat
    compared = {metric.key for metric in METRICS if metric.scope == COMPARISON}
    assert set(found) - flat - own <= compared
