"""Contention of jobs on shared machines without coordination, the paper's naive co-location.

Subtasks of different jobs contend for CPU and network.

k subtasks on one resource progress at 1 / (k (1 + contention (k - 1))) each: an equal share, less what switching costs.
The paper measures this on machines; the contention of 0.05 meets its means.
"""

from __future__ import annotations

from collections.abc import Sequence

CONTENTION = 0.05
ITERATIONS = 40  # of the slowest job; the first half is left out


def paces_ms(comp_ms: Sequence[float], comm_ms: Sequence[float], contention: float = CONTENTION) -> list[float]:
    """Mean iteration time of each job while all run: computation and communication in turn."""
    jobs = range(len(comp_ms))
    lengths = [(max(c, 1e-6), max(n, 1e-6)) for c, n in zip(comp_ms, comm_ms, strict=True)]
    if len(lengths) == 1:
        return [sum(lengths[0])]
    phase, left = [0 for _ in jobs], [length[0] for length in lengths]
    turns, now = [0 for _ in jobs], 0.0
    marks: list[tuple[float, int]] = [(0.0, 0) for _ in jobs]  # (ms, turns) when the job was half through
    while min(turns) < ITERATIONS:
        there = [phase.count(0), phase.count(1)]
        rates = [1 / (k * (1 + contention * (k - 1))) if k else 0.0 for k in there]
        step = min(left[j] / rates[phase[j]] for j in jobs)
        now += step
        for j in jobs:
            left[j] -= step * rates[phase[j]]
            if left[j] <= 1e-9 * lengths[j][phase[j]]:
                phase[j] = 1 - phase[j]
                left[j] = lengths[j][phase[j]]
                if phase[j] == 0:
                    turns[j] += 1
                    if turns[j] == ITERATIONS // 2:
                        marks[j] = (now, turns[j])
        if max(turns) > 100 * ITERATIONS:
            break  # jobs of very different lengths: the short one has had enough turns
    return [_mean(now, turns[j], *marks[j], left[j], phase[j], lengths[j]) for j in jobs]


def _mean(
    now: float, turns: int, from_ms: float, from_turns: int, left: float, phase: int, length: tuple[float, float]
) -> float:
    """Time per iteration since the mark, the unfinished one counted by its part."""
    part = (length[0] - left if phase == 0 else sum(length) - left) / sum(length)
    return (now - from_ms) / max(turns + part - from_turns, 1e-9)
