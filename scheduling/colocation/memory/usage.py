"""Memory of a group: its use, the share on disk, and the cost of that (Harmony Section IV-C).

The paper gives the mechanism and few numbers. The model is ours, and its constants yield the numbers of the paper: the
best fixed ratio is 0.3 for 8 jobs on 32 machines. On each of n machines a group uses HEAP / n x (inputs and models in
memory) + HEAP x WORK_SET / n x the largest job at work. Above GC_FROM of the usable memory computation slows down;
above OUT_OF_MEMORY of it the group fails. Data on disk is read once an iteration, in the background: reading costs CPU
time, and the iteration is delayed by what the disk cannot deliver within it. hill_climbing.py searches for the ratios.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scheduling.colocation.selection.performance import MIN_ITERATION_MS

HEAP = 1.5  # bytes held for a byte of data (Java objects)
WORK_SET = 0.05  # of a job's data, touched by its running subtask
USABLE = 0.85  # of a machine's memory
GC_FROM, GC_FULL = 0.7, 1.5  # of the usable memory; slowdown - 1 when all of it is used
OUT_OF_MEMORY = 1.15
RELOAD_CPU_MS = 1_000.0  # per GB read, on the machine that reads it


class Data(NamedTuple):
    """Data of one job: sizes in GB over all its machines; `touched` is the share of the input read per iteration."""

    input_gb: float
    model_gb: float
    touched: float


@dataclass(frozen=True, slots=True)
class GroupMachines:
    """Machines of a group: how many, the memory of the smallest in GB, the slowest disk's rate in GB per ms."""

    count: int
    memory_gb: float
    disk_gb_per_ms: float


class Ratios(NamedTuple):
    """Ratios: the share of each job's input and model on disk, and the time of an iteration with them."""

    disk: list[float]
    model: list[float]
    pace_ms: float


def usage(data: Sequence[Data], machines: GroupMachines, disk: Sequence[float], model: Sequence[float]) -> float:
    """Ratio of held to usable memory on each machine."""
    usable = USABLE * machines.memory_gb * machines.count
    held = sum((1 - a) * d.input_gb + (1 - b) * d.model_gb for d, a, b in zip(data, disk, model, strict=True))
    work = max((d.input_gb * (a > 0) + d.model_gb for d, a in zip(data, disk, strict=True)), default=0.0)
    filled = HEAP * (held + WORK_SET * work)
    return filled / usable if usable > 0 else float(filled > 0) * 1e9


def held_gb(data: Data, machines: int, disk: float, model: float) -> float:
    """Memory of a job's data on each of n machines, in GB."""
    return HEAP * ((1 - disk) * data.input_gb + (1 - model) * data.model_gb) / machines


def machines_needed(data: Data, memory_gb: float, disk: float, model: float) -> tuple[float, float]:
    """(spread, peak) of grouping.Work: machines that a job fills, what adds up, what counts for the largest.

    disk, model: the shares of its input and of its model on disk.
    """
    usable = USABLE * memory_gb
    spread, peak = (
        part / usable if usable > 0 else 1e12 * (part > 0)
        for part in (
            HEAP * ((1 - disk) * data.input_gb + (1 - model) * data.model_gb),
            HEAP * WORK_SET * (data.input_gb * (disk > 0) + data.model_gb),
        )
    )
    return spread, peak


def pace_ms(
    comp_ms: Sequence[float], comm_ms: Sequence[float], data: Sequence[Data], machines: GroupMachines,
    disk: Sequence[float], model: Sequence[float],
) -> float:  # fmt: skip
    """Time of an iteration: Eq. (1) with what garbage collection and reading from disk add to it."""
    slower = 1 + GC_FULL * max(0.0, (usage(data, machines, disk, model) - GC_FROM) / (1 - GC_FROM)) ** 2
    read = [
        (a * d.input_gb * d.touched + b * d.model_gb) / machines.count
        for d, a, b in zip(data, disk, model, strict=True)
    ]  # GB on each machine
    busy = [c * slower + RELOAD_CPU_MS * gb for c, gb in zip(comp_ms, read, strict=True)]
    period = max(sum(busy), sum(comm_ms), max(b + n for b, n in zip(busy, comm_ms, strict=True)))
    return max(period, sum(read) / machines.disk_gb_per_ms, MIN_ITERATION_MS)


def fixed(
    comp_ms: Sequence[float], comm_ms: Sequence[float], data: Sequence[Data], machines: GroupMachines, ratio: float
) -> Ratios:
    """Ratios with the same share of every input on disk, and no model."""
    disk, model = [ratio] * len(data), [0.0] * len(data)
    return Ratios(disk, model, pace_ms(comp_ms, comm_ms, data, machines, disk, model))


def beginning(data: Sequence[Data], machines: GroupMachines) -> tuple[list[float], list[float]]:
    """Least equal ratio at which no memory is short, first of the inputs, then of the models, to a thousandth."""
    size = len(data)
    for pick in (lambda x: ([x] * size, [0.0] * size), lambda x: ([1.0] * size, [x] * size)):
        if usage(data, machines, *pick(0.0)) <= GC_FROM:
            return pick(0.0)
        if usage(data, machines, *pick(1.0)) <= GC_FROM:
            low, high = 0, 1000  # thousandths; low is too little
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if usage(data, machines, *pick(middle / 1000)) <= GC_FROM else (middle, high)
            return pick(high / 1000)
    return [1.0] * size, [1.0] * size
