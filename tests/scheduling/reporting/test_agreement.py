"""Agreement of a simulated schedule with a real one: numbers by hand."""

import numpy as np
import pytest

from scheduling.forecast.agreement import Agreement, agreement


def of(arrived, real, simulated, within_ms=10):
    columns = (np.array(column, dtype=np.int64) for column in (arrived, *zip(*real, strict=True)))
    arrived, start, end = columns
    began, ended = (np.array(column, dtype=np.int64) for column in zip(*simulated, strict=True))
    return agreement(arrived, (start, end), (began, ended), within_ms)


def test_the_same_schedule_agrees_in_everything():
    real = [(0, 100), (100, 150), (100, 200)]
    found = of([0, 0, 50], real, real)
    assert found == Agreement(3, 200, 200, 0.0, 50.0, 50.0, 1.0, pytest.approx(1.0), None)


def test_differences_by_hand():
    """Job 1 starts 50 ms late, job 2 by 10, which is tolerated; jobs 3 and 4 ran in one of them only."""
    found = of(
        [0, 0, 50, 60, 70],
        [(0, 100), (100, 150), (120, 200), (150, -1), (130, 160)],
        [(0, 100), (150, 200), (110, 190), (150, 170), (-1, -1)],
    )
    assert (found.jobs, found.makespan_real_ms, found.makespan_ms, found.makespan_error) == (3, 200, 200, 0.0)
    assert (found.wait_real_ms, found.wait_ms) == (pytest.approx(170 / 3), 70.0)
    assert (found.within, found.first) == (pytest.approx(2 / 3), 1)
    assert found.order == pytest.approx(1 / 3), "two of three pairs have the same order"


def test_the_first_divergence_is_the_earliest_start_of_either():
    found = of([0, 0, 0], [(50, 60), (90, 95), (70, 80)], [(50, 60), (20, 30), (100, 110)])
    assert found.first == 1, "its simulated start at 20 is before the real start of job 2"


def test_nothing_and_one_job():
    assert of([0], [(-1, -1)], [(0, 5)]) == Agreement(0)
    assert of([3], [(3, 8)], [(3, 8)]).order is None
