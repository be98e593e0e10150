"""Forecasts on a small made-up queue: far better than by limits; and on a real trace, where it is there."""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks._replayed_queue import Row, easy, forecasts, read
from scheduling.forecast import scoring

TRACE = Path(os.environ.get("TWIN_TRACES", "/nowhere")) / "swf/NASA-iPSC-1993-3.1-cln.swf.gz"


def errors(rows, total, every):
    found = list(forecasts(rows, easy(rows, total), total, every))
    real = np.array([row.real_ms for row in found])
    return {
        name: scoring.errors(real, np.array([row.predicted_ms[name] for row in found])).mean_ms
        for name in found[0].predicted_ms
    }  # fmt: skip


@pytest.mark.thorough
def test_predicted_run_times_give_starts_five_times_better_than_limits():
    rng = np.random.default_rng(1)
    usual = {str(user): int(rng.integers(60, 1_200)) for user in range(5)}
    rows, at = [], 0
    for _ in range(250):
        at += int(rng.exponential(110))
        user = str(rng.integers(5))
        run = max(1, round(usual[user] * float(rng.lognormal(0, 0.2))))
        rows.append(Row(at * 1_000, run * 1_000, int(rng.integers(1, 5)), usual[user] * 15_000, user))
    found = errors(rows, 8, 3)
    assert found["twin"] <= found["limit"] / 5


def test_plain_easy_by_hand():
    """b waits for a; c ends by its limit before, so it is backfilled; d would not."""
    minute = 60_000
    rows = [
        Row(0, 5 * minute, 3, 10 * minute, "u"), Row(1, minute, 4, minute, "u"), Row(2, minute, 1, 9 * minute, "u"),
        Row(3, minute, 1, 11 * minute, "u"),
    ]  # fmt: skip
    assert easy(rows, 4) == [0, 5 * minute, 2, 6 * minute]


@pytest.mark.slow
@pytest.mark.skipif(not TRACE.is_file(), reason="TWIN_TRACES names no folder with the trace")
def test_forecasts_on_a_real_trace():
    rows, total, _ = read(TRACE, 2_000, seed=1)
    found = errors(rows, total, 8)
    assert found["twin"] <= found["limit"] / 5
