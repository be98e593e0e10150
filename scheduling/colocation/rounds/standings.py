"""Standings of the jobs of a site: their shares of time, and the rounds that are due to them and that they had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduling.model.bars import NONE

TARGET, DUE, RECEIVED = range(3)


class Standings:
    """Rows of jobs, ascending.

    jobs      [row] index of the job
    current   [row] type on which it runs, NONE while it does not
    first_ms  [row] its first round; NONE before
    rounds    [TARGET | DUE | RECEIVED, row, type] shares, and rounds due and received since the first one
    last_ms   start of the newest round
    stale     the shares are of other jobs or machines
    """

    def __init__(self, types: int) -> None:
        self.types = types
        self.jobs = np.zeros(0, dtype=np.int64)
        self.current = np.zeros(0, dtype=np.int64)
        self.first_ms = np.zeros(0, dtype=np.int64)
        self.rounds = np.zeros((3, 0, types))
        self.last_ms = 0
        self.stale = False

    def row(self, job: int) -> int:
        """Row of a job."""
        return int(np.searchsorted(self.jobs, job))

    def add(self, job: int) -> None:
        """A job without shares."""
        at = self.row(job)
        self.jobs = np.insert(self.jobs, at, job)
        self.current = np.insert(self.current, at, NONE)
        self.first_ms = np.insert(self.first_ms, at, NONE)
        self.rounds = np.insert(self.rounds, at, 0.0, axis=1)
        self.stale = True

    def remove(self, job: int) -> None:
        at = self.row(job)
        self.jobs, self.current, self.first_ms = (
            np.delete(column, at) for column in (self.jobs, self.current, self.first_ms)
        )
        self.rounds = np.delete(self.rounds, at, axis=1)
        self.stale = True

    def account(self, now_ms: int, round_ms: int) -> None:
        """Start of a round: what the rounds since the newest one have added."""
        passed = (now_ms - self.last_ms) / round_ms
        self.last_ms = now_ms
        self.rounds[DUE] += passed * self.rounds[TARGET]
        runs = np.flatnonzero(self.current != NONE)
        self.rounds[RECEIVED, runs, self.current[runs]] += passed
        self.first_ms[self.first_ms == NONE] = now_ms

    def may_change(self) -> bool:
        """True if shares are stale, or if a job has a share on a type on which it does not run now."""
        return self.stale or bool(self.elsewhere().any())

    def elsewhere(self) -> np.ndarray:
        """[row, type] shares on types on which the job does not run now."""
        share = self.rounds[TARGET].copy()
        runs = np.flatnonzero(self.current != NONE)
        share[runs, self.current[runs]] = 0.0
        return share

    def had(self, at: int, rounds: float, round_ms: int) -> float:
        """Share of time that n rounds are, since the first round of a row."""
        passed = (self.last_ms - int(self.first_ms[at])) / round_ms
        return float(rounds) / passed if passed > 0 else 0.0

    def state(self) -> dict[str, Any]:
        return {
            "jobs": np.stack([self.jobs, self.current, self.first_ms]), "rounds": self.rounds.reshape(3, -1),
            "last_ms": self.last_ms, "stale": self.stale,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self.jobs, self.current, self.first_ms = np.array(state["jobs"], dtype=np.int64).reshape(3, -1)
        self.rounds = np.array(state["rounds"], dtype=np.float64).reshape(3, len(self.jobs), self.types)
        self.last_ms, self.stale = int(state["last_ms"]), bool(state["stale"])
