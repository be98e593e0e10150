"""Small runs whose memberships in co-location groups tests/fixtures/memberships.json pins, and a plain derivation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from scheduling.model.values import Event
from scheduling.workloads import generate
from tests.twin.scenarios.builders_phases import scenario_state, staged
from twin.scenarios.edits.base import ScenarioState
from twin.scenarios.store import played

H = 3_600_000
MAX_CHANGES = 120  # of groups; a longer run is one that goes on
KEYS = ("group", "servers", "jobs", "machines", "ready_ms", "profiling")


def _harmony(scheduler: str, jobs: int, servers: int, seed: int, parameters: Mapping[str, Any]) -> ScenarioState:
    return ScenarioState(*generate("harmony", num_jobs=jobs, num_servers=servers, seed=seed), scheduler, parameters)


def _changed(at_ms: int, scheduler: str) -> dict[str, Any]:
    return {"verb": "change_scheduler", "at_ms": at_ms, "scheduler": scheduler}


def runs() -> Iterator[tuple[str, list[Event]]]:
    """(name, events) of each run."""
    online = {"profiling": "online"}
    for name, base, edits in (
        ("regroupings, with profiling", _harmony("harmony", 6, 6, 2, online), []),
        ("rounds on machines of several types", scenario_state("pd-ors", "gavel", 3, jobs=6, servers=3), []),
        ("a job per group", _harmony("isolated", 5, 4, 1, {}), []),
        (
            "an outage of servers",
            _harmony("harmony", 5, 5, 4, {}),
            [{"verb": "fail_servers", "at_ms": 2 * H, "servers": "*[0-2]", "for_ms": 3 * H}],
        ),
        (
            "hand-overs to another model and back",
            scenario_state("pd-ors", "harmony", 2, jobs=8, servers=5),
            [_changed(20 * H, "fifo"), _changed(40 * H, "isolated")],
        ),
    ):
        yield name, list(_until(played(staged(base, edits), 5).events(), MAX_CHANGES))


def _until(events: Iterable[Event], changes: int) -> Iterator[Event]:
    for event in events:
        changes -= event.kind == "grouped"
        if changes < 0:
            return
        yield event


def of_groups(events: Iterable[Event]) -> list[list[Any]]:
    """[[seq, at_ms, kind, data]] of the `grouped` events, with the data that memberships depend on, and of the end."""
    found = [
        [event.seq, event.at_ms, "grouped", {key: event.data[key] for key in KEYS}]
        for event in events
        if event.kind == "grouped"
    ]
    return [*found, *([event.seq, event.at_ms, "run_finished", {}] for event in events if event.kind == "run_finished")]


def moments_of(events: list[list[Any]]) -> list[int]:
    """Times at which the fixture states what is known: of changes, between them, and the newest."""
    times = sorted({row[1] for row in events if row[2] == "grouped"})
    inner = [times[len(times) * part // 6] for part in range(1, 6)]
    return sorted({*inner, *((a + b) // 2 for a, b in pairwise(inner)), events[-1][1]})


def known(events: list[list[Any]], at_ms: int) -> dict[str, list[list[Any]]]:
    """Stays [job, from, until, group, servers], and states [job, state, from, until], by job and time; -1 = not ended.

    Plain: the groups after each instant with a change say where each job is from then until the next one.
    """
    standing: dict[int, dict[str, Any]] = {}
    after: dict[int, dict[int, dict[str, Any]]] = {}  # time -> the groups from then on
    for _, ms, kind, data in events:
        if kind == "grouped" and ms <= at_ms:
            standing[data["group"]] = data
            after[ms] = dict(standing)
    stays: dict[int, list[list[Any]]] = {}
    states: dict[int, list[list[Any]]] = {}
    for begin, end in pairwise([*after, -1]):
        for data in after[begin].values():
            for job, ready_ms, profiling in zip(data["jobs"], data["ready_ms"], data["profiling"], strict=True):
                _extend(stays.setdefault(job, []), [job], begin, end, [data["group"], data["servers"]])
                doing, place = "profiling" if profiling else "running", [data["group"], data["servers"]]
                ready = max(begin, ready_ms if end < 0 else min(ready_ms, end))
                if ready > begin:
                    _extend(states.setdefault(job, []), [job, "moving"], begin, ready, place)
                if ready != end:
                    _extend(states.setdefault(job, []), [job, doing], ready, end, place)
    return {name: [row for job in sorted(rows) for row in rows[job]] for name, rows in
            (("stays", stays), ("states", states))}  # fmt: skip


def _extend(rows: list[list[Any]], subject: list[Any], begin: int, end: int, place: list[Any]) -> None:
    """A row, or more of the last one where it goes on."""
    width = len(subject)
    if rows and rows[-1][:width] == subject and rows[-1][width + 1] == begin and rows[-1][width + 2 :] == place:
        rows[-1][width + 1] = end
    else:
        rows.append([*subject, begin, end, *place])
