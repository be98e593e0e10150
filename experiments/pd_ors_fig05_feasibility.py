"""Range in which the probabilistic feasibility of the rounding is informative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from experiments import Chart, Figure, Options, Steps, Table
from scheduling.slotted.solvers.rounding import gain

TITLE = "right-hand side of the condition delta ≥ 3 m / e^(G W_a / 2)"
PAPER = "PD-ORS, Fig. 5"
CLAIM = "The larger W_a is, the smaller is the least delta for which the condition holds"
DELTAS = tuple(step / 100 for step in range(2, 11))
WIDTHS = (10, 20, 30, 40, 60)  # W_a
ROWS, PACKING_WIDTH, COVERS = 401, 15, 1  # r = R H + 1, W_b, m
SETTING = (
    f"G_delta of Lemma 1 with W_b = {PACKING_WIDTH}, r = {ROWS} as in the paper, m = {COVERS}, as Problem (23) has one "
    f"row to cover; W_a from {WIDTHS[0]} to {WIDTHS[-1]}, as the paper does not state its values; nothing is sampled"
)
SEEDS = 1
CHARTS = (Chart("3 m / e^(G W_a / 2), and delta itself"),)
LEFT = "delta"


def run(options: Options, widths: Sequence[int] = WIDTHS) -> Steps:
    values = yield {f"W_a = {width}": partial(_bounds, width) for width in widths}
    rows = tuple((delta, delta, *(values[f"W_a = {width}"][i] for width in widths)) for i, delta in enumerate(DELTAS))
    from_on = [_from_on(values[f"W_a = {width}"]) for width in widths]
    checks = (
        *(
            Figure(f"least delta that meets the condition, W_a = {width}", delta, "")
            for width, delta in zip(widths, from_on, strict=True)
        ),
        Figure(
            "least delta that meets the condition: largest rise with W_a",
            max(map(_rise, from_on, from_on[1:])),
            "",
            0.0,
        ),
        Figure("least delta that meets the condition, largest W_a", from_on[-1], "", DELTAS[0]),
    )
    return Table(("delta", LEFT, *(f"W_a = {width}" for width in widths)), rows, checks)


def bound(delta: float, width: int) -> float:
    """3 m / e^(G W_a / 2)"""
    return 3 * COVERS / math.exp(gain(delta, PACKING_WIDTH, ROWS, cover=False) * width / 2)


def _bounds(width: int) -> list[float]:
    return [bound(delta, width) for delta in DELTAS]


def _from_on(bounds: Sequence[float]) -> float:
    """Least of DELTAS from which on the condition holds; infinite if for none."""
    kept = [bound <= delta for bound, delta in zip(bounds, DELTAS, strict=True)]
    least = next((i for i in range(len(kept)) if all(kept[i:])), None)
    return math.inf if least is None else DELTAS[least]


def _rise(before: float, after: float) -> float:
    return 0.0 if before == after else after - before
