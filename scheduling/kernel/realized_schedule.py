"""Realized schedule of a run: every plan replaces the future bars of the jobs, or of the workers, that it names.

A bar holds until its key, a job or a worker, is named again: then what had begun is cut, and what had not is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from scheduling.kernel.plan_scopes import scope_of
from scheduling.model.bars import CHUNK, CLOUD, COUNT, END, GROUP, JOB, ROLE, SERVER, START, WIDTH, WORKER_SLOT, Role
from scheduling.model.values import Event

_PS = int(Role.PS)
_Plan = tuple[int, Any, Any]  # at_ms, keys, bars


class Futures:
    """Collector of planning events that gives the realized bars."""

    def __init__(self) -> None:
        self.of_jobs: list[_Plan] = []
        self.of_workers: list[_Plan] = []

    def feed(self, event: Event) -> None:
        """Addition of an event; events without plans change nothing."""
        if event.kind == "plan_changed":
            data = event.data
            plans = self.of_workers if scope_of(data).of_workers else self.of_jobs
            plans.append((event.at_ms, data["keys"], data["bars"]))

    def matrix(self) -> np.ndarray:
        """int64 [bar, 9], the columns of Placement: by job, and by time within a job where workers were planned."""
        bars = _held_by_jobs(self.of_jobs)
        if not self.of_workers:
            return bars
        both = np.concatenate([bars, _held_by_workers(self.of_workers)])
        order = (WORKER_SLOT, SERVER, CHUNK, ROLE, START, JOB)  # the last one first
        return both[np.lexsort(both[:, order].T)]


def _held_by_jobs(plans: Sequence[_Plan]) -> np.ndarray:
    """The bars of plans of jobs, job by job in the order of the plans."""
    flat = chain.from_iterable(chain.from_iterable(bars for _, _, bars in plans))
    bars = np.fromiter(flat, dtype=np.int64).reshape(-1, WIDTH)
    named = np.fromiter(chain.from_iterable(keys for _, keys, _ in plans), dtype=np.int64)
    bars, _ = _held(plans, named, bars, bars[:, JOB])
    return bars[np.argsort(bars[:, JOB], kind="stable")]


def _held_by_workers(plans: Sequence[_Plan]) -> np.ndarray:
    """The bars of plans of workers; those that continue each other without a change become one."""
    named = np.concatenate([np.asarray(keys, dtype=np.int64).reshape(-1, 3) for _, keys, _ in plans])
    bars = np.concatenate([np.asarray(bars, dtype=np.int64).reshape(-1, WIDTH) for _, _, bars in plans])
    _, server, _ = named.T
    servers = int(max(server.max(initial=0), bars[:, SERVER].max(initial=0))) + 1 - CLOUD
    own = np.where(bars[:, SERVER] == CLOUD, bars[:, JOB], bars[:, WORKER_SLOT])
    codes = [
        (worker * 2 + (role == _PS)) * servers + server - CLOUD  # one number for each worker
        for role, server, worker in (named.T, (bars[:, ROLE], bars[:, SERVER], own))
    ]
    return _merged(*_held(plans, codes[0], bars, codes[1]))


def _held(
    plans: Sequence[_Plan], named: np.ndarray, bars: np.ndarray, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Realized bars of all plans, and their keys.

    named: the keys of the plans, flat; keys: [bar] on which it stands.
    """
    at_ms = np.array([at for at, _, _ in plans], dtype=np.int64)
    number = np.repeat(np.arange(len(plans)), np.array([len(part) for _, part, _ in plans], dtype=np.int64))
    of_bar = np.repeat(np.arange(len(plans)), np.array([len(part) for _, _, part in plans], dtype=np.int64))
    names = np.sort(named * len(plans) + number)  # when each key is named, in order
    own = keys * len(plans) + of_bar
    following = np.searchsorted(names, own, side="right")
    again = following < len(names)
    again[again] = names[following[again]] // len(plans) == own[again] // len(plans)
    ends = bars[:, END].copy()
    ends[again] = np.minimum(ends[again], at_ms[names[following[again]] % len(plans)])
    kept = ends > bars[:, START]
    bars = bars[kept]
    bars[:, END] = ends[kept]
    return bars, keys[kept]


def _merged(bars: np.ndarray, workers: np.ndarray) -> np.ndarray:
    """Bars that continue each other on their worker without a change become one."""
    same = [JOB, ROLE, SERVER, COUNT, WORKER_SLOT, CHUNK, GROUP]
    bars = bars[np.lexsort((bars[:, START], bars[:, CHUNK], workers))]
    first = np.ones(len(bars), dtype=bool)
    first[1:] = (bars[1:, same] != bars[:-1, same]).any(axis=1) | (bars[1:, START] != bars[:-1, END])
    begins = np.flatnonzero(first)
    out = bars[begins]
    out[:, END] = bars[np.append(begins[1:], len(bars)) - 1, END] if len(bars) else out[:, END]
    return out
