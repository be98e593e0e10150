"""Edits at later moments, played: random ones on every scheduler, held against the verifier and themselves."""

from __future__ import annotations

import random
from dataclasses import replace

import orjson
import pytest

from scheduling.kernel.registry import build, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.kernel.simulation import simulate
from scheduling.model.values import ModelError
from scheduling.workloads import generate
from tests.cases import cases
from tests.twin.scenarios.builders_phases import last_event_ms, scenario_state, some_edits, staged
from twin.analysis import verification
from twin.files.outputs import event_line
from twin.infra.columns import pack_state, unpack_state
from twin.scenarios.edits.base import ScenarioState
from twin.scenarios.store import played

OF_PROFILE = {
    "oasis": ("fifo", "drf", "rrh", "dorm", "oasis"), "pd-ors": ("fifo", "drf", "pd_ors", "oasis"),
    "a-online": ("srtf", "tiresias_l", "batch_sche", "a_online", "a_online_edge"),
    "harmony": ("harmony", "isolated", "naive_colocation"),
}  # fmt: skip
SERVERS = {"dorm": 4}  # its integer programs grow with jobs x servers
CASES = [(profile, name) for profile, names in OF_PROFILE.items() for name in names]


def problems_of(stages, events):
    plain = [orjson.loads(event_line(event)) for event in events]
    return verification.problems_of(verification.rows_of(stages), stages, plain)


@pytest.mark.parametrize(("profile", "name"), CASES)
@pytest.mark.thorough
def test_random_edits_leave_a_sound_run_that_can_be_cut_anywhere(profile, name):
    found = 0
    for seed in range(cases(16, 5)):
        draw = random.Random(f"{profile} {name} {seed}")
        base = scenario_state(profile, name, seed, servers=SERVERS.get(name, 6))
        try:
            stages = staged(base, some_edits(draw, base, last_event_ms(base)))
        except ModelError:
            continue
        if len(stages) < 2:
            continue
        found += 1
        events = list(played(stages, 5).events())
        assert problems_of(stages, events) == [], seed
        assert sum(event.kind == "edited" for event in events) == len(stages) - 1
        if seed % 3 == 0:
            cut = draw.randrange(1, len(events))
            first = played(stages, 5)
            resumed = first.run_until(max_events=cut)
            again = played(stages, 5)
            again.restore(unpack_state(pack_state(first.state())))
            resumed += list(again.events())
            assert [event_line(event) for event in resumed] == [event_line(event) for event in events]
    assert found > cases(6, 1)


@pytest.mark.parametrize(
    ("profile", "name", "other"),
    [
        (profile, name, other)
        for profile, names in OF_PROFILE.items()
        for name in names
        for other in names
        if other != name
    ],
)
def test_a_scheduler_hands_over_to_another_one(profile, name, other):
    for seed in range(cases(2, 1)):
        base = scenario_state(profile, name, seed)
        parameters = "model=pd-ors" if (profile, other) == ("pd-ors", "oasis") else ""
        change = {
            "verb": "change_scheduler",
            "scheduler": other,
            "parameters": parameters,
            "at_ms": last_event_ms(base) // 4,
        }
        stages = staged(base, [change])
        events = list(played(stages, 5).events())
        assert problems_of(stages, events) == [], seed


@pytest.mark.parametrize(
    ("profile", "name"), [case for case in CASES if case[1] not in ("oasis", "pd_ors", "rrh", "dorm", "oracle")]
)
def test_jobs_that_are_to_come_change_nothing_of_what_was(profile, name):
    """The same events as with those jobs in the trace: these schedulers know no job before it arrives."""
    for seed in range(cases(6, 2)):
        base = scenario_state(profile, name, seed)
        at_ms = last_event_ms(base) // 3
        edits = [{"verb": "add_jobs", "like": base.jobs[0].id, "arrival_ms": at_ms + 7, "count": 3, "every_ms": 11,
                  "at_ms": at_ms},
                 {"verb": "scale_arrivals", "factor": 2, "at_ms": at_ms}]  # fmt: skip
        stages = staged(base, edits)
        final = stages[-1].state
        mine = [event[1:] for event in played(stages, 5).events() if event.kind not in ("edited", "run_started")]
        whole = [
            event[1:] for event in simulate(final.cluster, final.jobs, build(name), 5) if event.kind != "run_started"
        ]
        assert [repr(event) for event in mine] == [repr(event) for event in whole]


@pytest.mark.parametrize("name", ["srtf", "tiresias_l"])
def test_no_gang_waits_for_servers_that_are_gone(name):
    """Jobs that ask for all workers of a type there were get those that are left, and are done."""
    cluster, rows = generate("a-online", num_jobs=12, num_servers=6, seed=2)
    base = ScenarioState(cluster, [replace(row, requested_workers=1000) for row in rows], name, {})
    at_ms = rows[6].arrival_ms - 1
    stages = staged(base, [{"verb": "remove_servers", "servers": cluster.servers[1].name, "at_ms": at_ms}])
    events = list(played(stages, 5).events())
    assert problems_of(stages, events) == []
    assert sum(event.kind == "job_completed" for event in events) == len(rows)


@pytest.mark.parametrize("name", ["a_online", "batch_sche"])
def test_a_cloud_that_is_switched_off_lets_go_of_all_it_held(name):
    for seed in range(cases(6, 2)):
        base = scenario_state("a-online", name, seed)
        stages = staged(base, [{"verb": "switch_cloud", "on": False, "at_ms": base.jobs[6].arrival_ms}])
        events = list(played(stages, 5).events())
        assert problems_of(stages, events) == [], seed
        assert problems_of([stages[0], stages[1]._replace(at_ms=1)], events) != [], (
            "a cloud that was gone earlier is noticed"
        )


def test_every_scheduler_says_how_far_its_jobs_are():
    assert [name for name, cls in schedulers().items() if cls.remaining_work is BaseScheduler.remaining_work] == []
