"""Decisions of a run from its folded state: verdicts and plans as arrays, with one digest per plan."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import Cluster
from twin.eventlog.fold import BARS, FINISH_MS, FIRST_BAR, JOB_OF, SEQ, START_MS, VERDICT, RunState

ADMITTED, STARTED, PREEMPTED, PAUSED, REJECTED, UNFINISHED = (
    VERDICT[name] for name in ("admitted", "started", "preempted", "paused", "rejected", "unfinished")
)
REFUSAL = np.uint64(0x9E3779B97F4A7C15)  # what a refusal adds to the number of its instant
EMPTY = np.uint64(0xD1B54A32D192ED03)  # of a plan without bars, which is a plan, too


@dataclass(frozen=True)
class Decisions:
    """Decisions in the order of the log.

    verdicts: [n, DECIDED_FIELDS]; plans: [n, (SEQ, AT, JOB_OF)] with a digest each.
    """

    verdicts: np.ndarray
    plans: np.ndarray
    digests: np.ndarray  # uint64


def decisions_of(state: RunState, cluster: Cluster) -> Decisions:
    """The decisions up to the newest event that is folded."""
    planned = state.planned.rows
    digests = _digests(planned, state.bars.rows, server_numbers(cluster))
    return Decisions(state.decided.rows.copy(), planned[:, :START_MS].copy(), digests)


def server_numbers(cluster: Cluster) -> np.ndarray:
    """[server] a number made of its name, to separate servers of two clusters; CLOUD and NONE from the end."""
    names = [*(server.name for server in cluster.servers), "cloud", ""]  # [-2] and [-1]
    return np.array([int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) for name in names], dtype=np.uint64)


def mixed(values: np.ndarray) -> np.ndarray:
    """splitmix64's finalizer: each bit of a uint64 depends on all."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _digests(planned: np.ndarray, bars: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Digests of plans [first row, count]: sums over their bars, independent of the order of bars."""
    numbers = mixed(mixed(planned[:, START_MS].astype(np.uint64)) + planned[:, FINISH_MS].astype(np.uint64)) + EMPTY
    seqs, begins, events = np.unique(planned[:, SEQ], return_index=True, return_inverse=True)
    first, count = planned[begins, FIRST_BAR], planned[begins, BARS]
    event = np.repeat(np.arange(len(seqs)), count)
    rows = bars[np.arange(len(event)) + np.repeat(first - np.cumsum(count) + count, count)]
    width = max(planned[:, JOB_OF].max(initial=0), rows[:, JOB].max(initial=0)) + 1
    subject, wanted = events * width + planned[:, JOB_OF], event * width + rows[:, JOB]
    order = np.argsort(subject)
    place = np.searchsorted(subject[order], wanted)
    known = place < len(order)
    # others keep their times: nothing is decided about them
    known[known] = subject[order[place[known]]] == wanted[known]
    np.add.at(numbers, order[place[known]], _numbers(rows[known], names))
    return numbers


def _numbers(bars: np.ndarray, names: np.ndarray) -> np.ndarray:
    """[bar] a number of role, server, times and count; worker slots, chunks and groups do not count."""
    number = names[bars[:, SERVER]]
    for column in (ROLE, START, END, COUNT):
        number = mixed(number + bars[:, column].astype(np.uint64))
    return number
