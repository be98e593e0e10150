"""Share of the data on disk: fixed shares against the hill climbing of Harmony."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from experiments import Chart, Figure, Options, Steps, Table
from experiments._grid import play
from experiments._groups import spans, table1
from scheduling.colocation.job_mapping import PER_EPOCH
from scheduling.colocation.memory.hill_climbing import adapted
from scheduling.colocation.memory.usage import Data, GroupMachines, fixed
from scheduling.colocation.workload import COMBINATIONS

TITLE = "iteration time of the 8 combinations on 32 machines by the share of input on disk; ratios in a whole run"
PAPER = "Harmony, Section V-G"
CLAIM = (
    "The best fixed ratio is 0.3, with iterations of 52.9 s; adaptive ratios give 44.3 s. In the main run, ratios are "
    "0.34 on average, from 0.11 to 1"
)
SETTING = (
    "an iteration reads a tenth of the input (a mini-batch), as in all other experiments. Variant: all of the input, "
    "which gives the curve of the paper. Variant: all of the input, heaps by application (3 times the usual ones for "
    "the sparse NMF and LDA, half of them for the dense MLR and Lasso), and disks of 0.125 GB/s (assumed)"
)
SPARSE, HEAPS = ("nmf", "lda"), (3.0, 0.5)
SLOW_DISK = 0.000125  # GB per ms
MACHINES = GroupMachines(32, 32.0, 0.00015)
ADAPTED = -1.0  # in place of a share: ratios by hill climbing
WHOLE = 1.0  # share of the input that an iteration reads
SHARES = [share / 20 for share in range(21)]
SEEDS = 2
CHARTS = (
    Chart(
        "time of an iteration", "s", ("seconds", "seconds, all input", "seconds, heaps by application"),
        levels=(("paper: best fixed", 52.9), ("paper: adaptive", 44.3)),
    ),
)  # fmt: skip


def run(options: Options) -> Steps:
    names = {"a tenth": 1 / PER_EPOCH, "all": WHOLE}
    variant = "iterations with heaps by application"
    values = yield {
        **{f"iterations that read {name} of the input": partial(_times, read) for name, read in names.items()},
        variant: _times_by_application,
        **{f"ratios of workload {seed}": partial(_held, seed) for seed in options.seeds_or(SEEDS)},
    }
    batch, whole = (dict(values[f"iterations that read {name} of the input"]) for name in names)
    heaps = dict(values[variant])
    best = min(SHARES, key=lambda share: batch[share])
    top = min(SHARES, key=lambda share: heaps[share])
    least = min(SHARES, key=lambda share: whole[share])
    held = [row for seed in options.seeds_or(SEEDS) for row in values[f"ratios of workload {seed}"]]
    ratios = [ratio for ratio, _ in held]
    # over the time of jobs in groups
    average = sum(ratio * lasted for ratio, lasted in held) / sum(lasted for _, lasted in held)
    rows = (
        *((f"{share:g}", batch[share], whole[share], heaps[share]) for share in SHARES if round(share * 20) % 2 == 0),
        ("adapted", batch[ADAPTED], whole[ADAPTED], heaps[ADAPTED]),
    )
    checks = (
        Figure("best fixed ratio, at least", best, "", 0.2, at_least=True),
        Figure("best fixed ratio, at most", best, "", 0.45),
        Figure("everything on disk / best fixed (paper: slower)", batch[1.0] / batch[best], "x", 1.05, at_least=True),
        Figure("everything on disk / best fixed, all input in each iteration", whole[1.0] / whole[least], "x"),
        Figure("adaptive / best fixed (paper 0.84)", batch[ADAPTED] / batch[best], "x", 0.9),
        Figure("best fixed ratio, heaps by application (paper 0.3)", top, ""),
        Figure("iteration time at the best fixed ratio, heaps by application (paper 52.9)", heaps[top], "s"),
        Figure("adaptive / best fixed, heaps by application (paper 0.84)", heaps[ADAPTED] / heaps[top], "x", 0.9),
        Figure("mean ratio in a whole run (paper 0.34), at least", average, "", 0.15, at_least=True),
        Figure("mean ratio in a whole run (paper 0.34), at most", average, "", 0.55),
        Figure("smallest ratio in a whole run (paper 0.11)", min(ratios), ""),
        Figure("largest ratio in a whole run (paper 1)", max(ratios), ""),
    )
    return Table(("on disk", "seconds", "seconds, all input", "seconds, heaps by application"), rows, checks)


def times(
    shares: Sequence[float], read: float, heaps: Sequence[float] | None = None, machines: GroupMachines = MACHINES
) -> dict[float, float]:
    """Seconds of an iteration by the share of input on disk, and adapted, if it reads this share of the input.

    heaps: memory of each combination's data as a multiple of the usual one; what is read stays the same.
    """
    scales = heaps or [1.0] * len(COMBINATIONS)
    data = [
        Data(row.input_gb * scale, row.model_gb * scale, read / scale)
        for row, scale in zip(COMBINATIONS, scales, strict=True)
    ]
    comm = [row.comm_s * 1000 for row in COMBINATIONS]
    comp = [row.comm_s * row.share / (1 - row.share) * 1000 * 16 / machines.count for row in COMBINATIONS]
    found = {share: fixed(comp, comm, data, machines, share).pace_ms / 1000 for share in shares}
    return {**found, ADAPTED: adapted(comp, comm, data, machines).pace_ms / 1000}


def _times_by_application() -> list[tuple[float, float]]:
    heaps = [HEAPS[not row.name.startswith(SPARSE)] for row in COMBINATIONS]
    machines = GroupMachines(MACHINES.count, MACHINES.memory_gb, SLOW_DISK)
    return list(times(SHARES, WHOLE, heaps, machines).items())


def _times(read: float) -> list[tuple[float, float]]:
    return list(times(SHARES, read).items())


def _held(seed: int) -> list[tuple[Any, Any]]:
    """(disk ratio, ms) of each job in each stretch of its group"""
    groups = spans(play(table1(seed), ("harmony", {})))
    return [(ratio, end - start) for start, end, group in groups for ratio in group["disk_ratios"]]
