"""What a run decided, from its log: verdicts and plans as arrays, each plan as one number that only an equal plan has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from scheduling.model import Cluster
from twin import collector
from twin.eventlog import lines_and_bars

KINDS = ("admitted", "started", "resumed", "preempted", "rejected", "unfinished")
ADMITTED, STARTED, _, PREEMPTED, REJECTED, UNFINISHED = range(len(KINDS))
POSITION = {name: i for i, name in enumerate(KINDS)}
OTHER = len(KINDS)  # a kind that is told and counted nowhere
JOB, ROLE, SERVER, START, END, COUNT = range(6)  # columns of a bar
REFUSAL = np.uint64(0x9E3779B97F4A7C15)  # what a refusal adds to the number of its instant
EMPTY = np.uint64(0xD1B54A32D192ED03)  # of a plan without bars, which is a plan, too


@dataclass(frozen=True)
class Decisions:
    """In the order of the log. verdicts: [n, (seq, at_ms, job, kind)]; plans: [n, (seq, at_ms, job)] with a digest each."""

    verdicts: np.ndarray
    plans: np.ndarray
    digests: np.ndarray  # uint64


def read(run_id: int, cluster: Cluster, last_seq: int) -> Decisions:
    """The decisions up to event `last_seq`."""
    names = server_numbers(cluster)
    told, plans, digests = [_rows([], 4)], [_rows([], 5)], [np.empty(0, dtype=np.uint64)]
    with collector.paused():
        for lines, bars in lines_and_bars(run_id, up_to=last_seq):
            verdicts: list[int] = []
            planned: list[int] = []
            lanes: list[tuple[int, int, np.ndarray, Sequence[int]]] = []
            for seq, at_ms, kind, data in lines:
                if kind == "planned":
                    planned += (seq, at_ms, data["job"], *data["bars"])
                elif kind == "lanes_planned":
                    lanes.append((seq, at_ms, np.asarray(data["jobs"]).reshape(-1, 3), data["bars"]))
                elif kind == "decided":
                    verdicts += (seq, at_ms, data["job"], POSITION.get(data["kind"], OTHER))
            told.append(_rows(verdicts, 4))
            plans.append(_rows(planned, 5))
            digests.append(_digests(bars, plans[-1][:, 3:], names))
            for seq, at_ms, jobs, (first, count) in lanes:
                rows = np.zeros((len(jobs), 5), dtype=np.int64)
                rows[:, 0], rows[:, 1], rows[:, 2] = seq, at_ms, jobs[:, 0]
                plans.append(rows)
                digests.append(_lane_digests(bars[first : first + count], jobs, names))
    verdict, plan, digest = np.concatenate(told), np.concatenate(plans), np.concatenate(digests)
    known = plan[:, 0] <= last_seq
    return Decisions(verdict[verdict[:, 0] <= last_seq], plan[known, :3], digest[known])


def _rows(flat: list[int], width: int) -> np.ndarray:
    return np.array(flat, dtype=np.int64).reshape(-1, width)


def server_numbers(cluster: Cluster) -> np.ndarray:
    """[server] a number made of its name, so that servers of two clusters can be told apart; CLOUD and NONE from the end."""
    names = [*(server.name for server in cluster.servers), "cloud", ""]  # [-2] and [-1]
    return np.array([int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) for name in names], dtype=np.uint64)


def mixed(values: np.ndarray) -> np.ndarray:
    """splitmix64's finalizer: each bit of a uint64 depends on all."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _digests(bars: np.ndarray, spans: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Of each plan [first row, count]: a sum over its bars, so that their order does not matter."""
    sums = np.concatenate(([np.uint64(0)], np.cumsum(_numbers(bars, names), dtype=np.uint64)))
    return sums[spans[:, 0] + spans[:, 1]] - sums[spans[:, 0]] + EMPTY


def _lane_digests(bars: np.ndarray, jobs: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Of each row [job, start_ms, finish_ms] of a plan of lanes: its times, and its bars on these lanes."""
    numbers = mixed(mixed(jobs[:, 1].astype(np.uint64)) + jobs[:, 2].astype(np.uint64)) + EMPTY
    order = np.argsort(jobs[:, 0])
    place = np.searchsorted(jobs[order, 0], bars[:, JOB])
    told = place < len(jobs)
    told[told] = jobs[order[place[told]], 0] == bars[told, JOB]
    np.add.at(numbers, order[place[told]], _numbers(bars[told], names))
    return numbers


def _numbers(bars: np.ndarray, names: np.ndarray) -> np.ndarray:
    """[bar] a number of role, server, times and count; lanes, chunks and groups are not told."""
    number = names[bars[:, SERVER]]
    for column in (ROLE, START, END, COUNT):
        number = mixed(number + bars[:, column].astype(np.uint64))
    return number
