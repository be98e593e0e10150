"""Jobs in co-location groups: the activity of each at a time, and all its intervals, from `grouped` events."""

from __future__ import annotations

from typing import Any

from twin.eventlog.fold import NEVER, RunState

RUNNING, PROFILING, MOVING = "running", "profiling", "moving"


def members(state: RunState, at_ms: int) -> dict[int, dict[str, Any]]:
    """Jobs in a group at a given time, as {job: `here` of its group}."""
    found = {}
    for from_ms, until_ms, data in state.groups:
        if from_ms <= at_ms and (until_ms == NEVER or at_ms < until_ms):
            for place, job in enumerate(data["jobs"]):
                found[job] = here(data, place)
    return found


def here(data: dict[str, Any], place: int) -> dict[str, Any]:
    """Part of a `grouped` event about one job, and the properties of its group."""
    own = {"disk_ratio": "disk_ratios", "model_disk_ratio": "model_disk_ratios", "memory_gb": "memory_gb",
           "comp_ms": "comp_ms", "comm_ms": "comm_ms", "pace_ms": "pace_ms"}  # fmt: skip
    shared = ("group", "machines", "cpu_utilization", "net_utilization", "memory_used", "bound")
    return (
        {name: data[key][place] for name, key in own.items()}
        | {name: data[name] for name in shared}
        | {"jobs": len(data["jobs"])}
    )


def stretches(state: RunState, job: int, at_ms: int) -> list[dict[str, Any]]:
    """[{state, from_ms, until_ms (None = not ended), ...`here`}]: intervals in groups, and suspended ones.

    As known at at_ms: None also if the interval ends later. Adjacent intervals that differ only in ratios are merged,
    with the ratios of the last.
    """
    found: list[dict[str, Any]] = []
    known = (row for row in state.groups if job in row[2]["jobs"] and row[0] <= at_ms)
    for from_ms, until_ms, data in sorted(known, key=lambda row: row[0]):
        place = data["jobs"].index(job)
        end_ms = None if until_ms == NEVER or until_ms > at_ms else until_ms
        ready_ms = data["ready_ms"][place]
        parts = [(PROFILING if data["profiling"][place] else RUNNING, from_ms, end_ms)]
        if ready_ms > from_ms:
            cut = ready_ms if end_ms is None else min(ready_ms, end_ms)
            parts = [(MOVING, from_ms, cut), *((name, cut, end_ms) for name, _, _ in parts if cut != end_ms)]
        for name, begin, until in parts:
            if begin > at_ms:
                continue
            end = None if until is not None and until > at_ms else until
            last = found[-1] if found else None
            if last and last["until_ms"] != begin:
                found.append({"state": "suspended", "from_ms": last["until_ms"], "until_ms": begin})
                last = None
            now = {"state": name, **here(data, place)}
            if last and all(last[key] == now[key] for key in ("state", "group", "machines", "jobs")):
                found[-1] = {"from_ms": last["from_ms"], "until_ms": end, **now}
            else:
                found.append({"from_ms": begin, "until_ms": end, **now})
    return found
