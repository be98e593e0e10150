"""Starts of jobs in runs with random edits: the first worker bar that ran, in the log, at the end and at past times."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from dashboard.readmodels.job_table import known_at
from scheduling.kernel.realized_schedule import Futures
from scheduling.model.bars import Role
from scheduling.model.values import ModelError
from tests.twin.scenarios.builders_phases import scenario_state, some_edits, staged
from twin.eventlog.fold import JOB_FIELDS, NEVER, RunState
from twin.eventlog.job_states import SUSPENDED, job_states
from twin.scenarios.edits.base import ScenarioState
from twin.scenarios.store import played
from twin.studies.gallery.flash_crowd import FlashCrowd

SEED = 5
FIRST = 2**62
START = JOB_FIELDS.index("start_ms")
OF_PROFILE = {
    "oasis": ("dorm", "themis", "drf", "fifo", "quota_queues", "replanning", "oasis"),
    "pd-ors": ("drf", "fifo", "pd_ors"),
    "a-online": ("srtf", "tiresias_l", "batch_sche", "a_online"),
    "harmony": ("harmony", "isolated", "naive_colocation"),
}
CASES = [(profile, name) for profile, names in OF_PROFILE.items() for name in names]


def change_bandwidth(at_ms):
    """Change that every plan survives."""
    return {"verb": "change_bandwidth", "servers": "p39", "factor": 0.9, "at_ms": at_ms}


def fail(at_ms):
    return {"verb": "fail_servers", "servers": "w01", "for_ms": 5_400_000, "at_ms": at_ms}


@pytest.mark.parametrize(("profile", "name"), CASES)
@pytest.mark.thorough
def test_a_start_is_the_begin_of_the_first_worker_bar_that_ran(profile, name):
    edited = 0
    for seed in range(8):
        stages = stages_at_busy_times(profile, name, seed)
        if len(stages) > 1:
            edited += 1
            check_starts(list(played(stages, SEED).events()), f"{profile}, {name}, seed {seed}")
    assert edited > 3


@pytest.mark.parametrize(
    ("scheduler", "edits"),
    [
        ("dorm", [change_bandwidth(79_200_000)]),  # some jobs start at that time, and are preempted later
        ("oasis", [change_bandwidth(75_600_000), fail(78_118_840)]),  # jobs lose their place in their first slot
        ("oasis", [change_bandwidth(74_000_000), fail(78_118_840)]),
    ],
)
@pytest.mark.thorough
def test_a_kept_plan_keeps_its_start(scheduler, edits):
    stages = staged(ScenarioState(*FlashCrowd.workload(), scheduler, {}), edits)
    check_starts(list(played(stages, FlashCrowd.seed).events()), scheduler)


def stages_at_busy_times(profile, name, seed):
    """A scenario with random edits, most at instants at which something happens in its run without edits."""
    draw = random.Random(f"{profile} {name} {seed}")
    base = scenario_state(profile, name, seed)
    events = list(played(staged(base, []), SEED).events())
    times = sorted({event.at_ms for event in events} - {0, events[-1].at_ms})
    edits = some_edits(draw, base, times[-1])
    if seed % 3 == 2:
        others = [other for other in OF_PROFILE[profile] if other != name]
        edits.append({"verb": "change_scheduler", "scheduler": draw.choice(others)})
    for edit in edits:
        edit["at_ms"] = draw.choice(times) + draw.choice((0, 0, 0, -1, 1, base.cluster.slot_ms // 3))
    try:
        return staged(base, edits)
    except ModelError:
        return []


def first_starts(events):
    """{job: start of its first worker bar that ran by the end of the log}, from the realized schedule."""
    futures = Futures()
    for event in events:
        futures.feed(event)
    found = {}
    for job, role, _, start_ms, *_ in futures.matrix().tolist():
        if role == Role.WORKER and start_ms <= events[-1].at_ms:
            found[job] = min(found.get(job, FIRST), start_ms)
    return found


def check_starts(events, run):
    real = first_starts(events)
    ends = [seq for seq, (event, later) in enumerate(pairwise(events), start=1) if later.at_ms > event.at_ms]
    some = [*ends[:: max(1, len(ends) // 60)], len(events)]
    state = RunState()
    for first, end in pairwise([0, *some]):
        state.feed(events[first:end])
        check_moment(state, state.sim_ms, state.jobs.rows, real, run)
    for end in some:
        at_ms = events[end - 1].at_ms
        check_moment(state, at_ms, known_at(state, at_ms), real, run)
    check_decisions(events, run)


def check_moment(state, at_ms, rows, real, run):
    starts = rows[:, START].astype(np.int64).tolist()
    for job, start_ms in enumerate(starts):
        first_ms = real.get(job, FIRST)
        where = f"{run}, job {job} at {at_ms} ms"
        if first_ms <= at_ms:
            assert start_ms == first_ms, where
        else:
            assert start_ms == NEVER or start_ms > at_ms, where
    for job in np.flatnonzero(job_states(state, at_ms) == SUSPENDED).tolist():
        assert 0 <= starts[job] <= at_ms, f"{run}, job {job} is suspended at {at_ms} ms"


def check_decisions(events, run):
    newest = {}
    for event in events:
        if event.kind == "decided":
            job, kind = event.data["job"], event.data["kind"]
            again = kind in ("started", "resumed") and newest.get(job) in ("started", "resumed")
            assert not again, f"{run}, job {job}: {newest[job]}, then {kind} at {event.at_ms} ms"
            newest[job] = kind
