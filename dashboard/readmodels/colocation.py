"""Jobs in co-location groups: the group of each at a time, and the intervals of a job, from its memberships."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twin.eventlog.fold import NEVER, RunState
from twin.eventlog.memberships import current, memberships


def members(state: RunState, at_ms: int) -> dict[int, dict[str, Any]]:
    """Jobs in a group at a given time, as {job: `here` of its group}."""
    return {one.job: here(one.data, one.place) for one in current(state, at_ms)}


def here(data: Mapping[str, Any], place: int) -> dict[str, Any]:
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
    """[{state, from_ms, until_ms (None = not ended), ...`here`}]: states in groups, and suspended intervals.

    As known at at_ms: None also if the interval ends later. Finer than a stay: an interval has one number of jobs and
    of machines; adjacent ones that differ only in ratios are merged, with the ratios of the last.
    """
    found: list[dict[str, Any]] = []
    for one in memberships(state, at_ms, job):
        for name, begin, until in one.states:
            if begin > at_ms:
                continue
            end = None if until == NEVER or until > at_ms else until
            last = found[-1] if found else None
            if last and last["until_ms"] != begin:
                found.append({"state": "suspended", "from_ms": last["until_ms"], "until_ms": begin})
                last = None
            now = {"state": name, **here(one.data, one.place)}
            if last and all(last[key] == now[key] for key in ("state", "group", "machines", "jobs")):
                found[-1] = {"from_ms": last["from_ms"], "until_ms": end, **now}
            else:
                found.append({"from_ms": begin, "until_ms": end, **now})
    return found
