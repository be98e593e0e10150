"""Memberships of jobs in co-location groups, from the `grouped` events of a run: the one derivation in Python.

A membership lasts from one `grouped` event of its group to the next. A job moves until it is ready, and is then
profiled or runs. A stay is the time of a job in one group on the same servers, whoever joins or leaves the group
meanwhile.
static/js/core/memberships.js follows the same rules, and joins memberships of a job in one group on the same servers to
stays; tests/fixtures/memberships.json pins both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from twin.eventlog.fold import NEVER, RunState

RUNNING, PROFILING, MOVING = "running", "profiling", "moving"


class Membership(NamedTuple):
    """Job in a group whose jobs, servers and ratios do not change meanwhile."""

    job: int
    from_ms: int
    until_ms: int  # NEVER = not ended
    data: Mapping[str, Any]  # of the event
    place: int  # of the job in it

    @property
    def states(self) -> list[tuple[str, int, int]]:
        """[(state, from, until)] of the membership, without those that last no time."""
        doing = PROFILING if self.data["profiling"][self.place] else RUNNING
        ready_ms = self.data["ready_ms"][self.place]
        ready_ms = max(self.from_ms, ready_ms if self.until_ms == NEVER else min(ready_ms, self.until_ms))
        both = [(MOVING, self.from_ms, ready_ms), (doing, ready_ms, self.until_ms)]
        return [one for one in both if one[1] != one[2]]

    def state(self, at_ms: int) -> str:
        """State at a time that the membership includes."""
        return next(name for name, begin_ms, _ in reversed(self.states) if begin_ms <= at_ms)


def intervals(state: RunState, at_ms: int | None = None) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """(from, until, data of `grouped`): the memberships of all jobs of the data, without those that last no time.

    In the order of the log. at_ms: as known then, without later ends.
    """
    for from_ms, until_ms, data in state.groups:
        if from_ms != until_ms and (at_ms is None or from_ms <= at_ms):
            yield from_ms, NEVER if at_ms is not None and until_ms > at_ms else until_ms, data


def memberships(state: RunState, at_ms: int | None = None, job: int | None = None) -> Iterator[Membership]:
    """Memberships of all jobs or of one, from `intervals`."""
    for from_ms, until_ms, data in intervals(state, at_ms):
        if job is None:
            yield from _of(from_ms, until_ms, data)
        elif job in data["jobs"]:
            yield Membership(job, from_ms, until_ms, data, data["jobs"].index(job))


def current(state: RunState, at_ms: int) -> Iterator[Membership]:
    """Memberships that last at a time."""
    for from_ms, until_ms, data in intervals(state, at_ms):
        if until_ms == NEVER:
            yield from _of(from_ms, until_ms, data)


def _of(from_ms: int, until_ms: int, data: Mapping[str, Any]) -> Iterator[Membership]:
    return (Membership(job, from_ms, until_ms, data, place) for place, job in enumerate(data["jobs"]))
