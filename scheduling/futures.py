"""What the bars of a run came to be: every plan replaces the future of the jobs, or of the lanes, that it names.

Plans of jobs are folded one by one, those of lanes all at once at the end: a bar holds until its lane is named again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from scheduling.model import CLOUD, Event, Placement, Role

WIDTH = len(Placement._fields)
_PS = int(Role.PS)


class Futures:
    """Takes the events that plan, and gives the bars as they were."""

    def __init__(self) -> None:
        self.jobs: dict[int, list[Placement]] = {}  # bars of plans of jobs
        self.lanes: list[tuple[int, Any, Any]] = []  # (at_ms, lanes, bars) of plans of lanes

    def feed(self, event: Event) -> None:
        """Takes an event; those that plan nothing change nothing."""
        if event.kind == "planned":
            job = event.data["job"]
            self.jobs[job] = until(self.jobs.get(job, ()), event.at_ms) + list(event.data["bars"])
        elif event.kind == "lanes_planned":
            self.lanes.append((event.at_ms, event.data["lanes"], event.data["bars"]))

    def matrix(self) -> np.ndarray:
        """int64 [bar, 9], the columns of Placement: by job, and by time within a job where lanes were planned."""
        flat = [bar for job in sorted(self.jobs) for bar in self.jobs[job]]
        bars = np.array(flat, dtype=np.int64).reshape(-1, WIDTH)
        if not self.lanes:
            return bars
        both = np.concatenate([bars, held(self.lanes)])
        return both[np.lexsort((both[:, 6], both[:, 2], both[:, 7], both[:, 1], both[:, 3], both[:, 0]))]


def until(bars: Iterable[Placement], at_ms: int) -> list[Placement]:
    """What of the bars has happened by `at_ms`."""
    return [bar if bar.end_ms <= at_ms else bar._replace(end_ms=at_ms) for bar in bars if bar.start_ms < at_ms]


def held(plans: Iterable[tuple[int, Any, Any]]) -> np.ndarray:
    """The bars of plans of lanes, each cut when its lane is named again and dropped when it had not begun."""
    plans = list(plans)
    lanes = [np.asarray(lanes, dtype=np.int64).reshape(-1, 3) for _, lanes, _ in plans]
    bars = [np.asarray(bars, dtype=np.int64).reshape(-1, WIDTH) for _, _, bars in plans]
    at_ms = np.array([at for at, _, _ in plans], dtype=np.int64)
    number = np.repeat(np.arange(len(plans)), [len(part) for part in lanes])
    of_bar = np.repeat(np.arange(len(plans)), [len(part) for part in bars])
    named, bar = np.concatenate(lanes), np.concatenate(bars)
    on_cloud = bar[:, 2] == CLOUD
    servers = int(max(named[:, 1].max(initial=0), bar[:, 2].max(initial=0))) + 1 - CLOUD
    codes = [
        (place * 2 + (role == _PS)) * servers + server - CLOUD  # one number for each lane
        for role, server, place in (named.T, (bar[:, 1], bar[:, 2], np.where(on_cloud, bar[:, 0], bar[:, 6])))
    ]
    names = np.sort(codes[0] * len(plans) + number)  # when each lane is named, in order
    key = codes[1] * len(plans) + of_bar
    following = np.searchsorted(names, key, side="right")
    again = following < len(names)
    again[again] = names[following[again]] // len(plans) == key[again] // len(plans)
    ends = bar[:, 4].copy()
    ends[again] = np.minimum(ends[again], at_ms[names[following[again]] % len(plans)])
    kept = ends > bar[:, 3]
    bar = bar[kept]
    bar[:, 4] = ends[kept]
    return _merged(bar, codes[1][kept])


def _merged(bars: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """Bars that continue each other on their lane without a change become one."""
    same = [0, 1, 2, 5, 6, 7, 8]
    bars = bars[np.lexsort((bars[:, 3], bars[:, 7], lanes))]
    first = np.ones(len(bars), dtype=bool)
    first[1:] = (bars[1:, same] != bars[:-1, same]).any(axis=1) | (bars[1:, 3] != bars[:-1, 4])
    begins = np.flatnonzero(first)
    out = bars[begins]
    out[:, 4] = bars[np.append(begins[1:], len(bars)) - 1, 4] if len(bars) else out[:, 4]
    return out
