"""Bands and errors of forecasts: numbers by hand, and the coverage that bands of past errors have."""

import math

import numpy as np
import pytest

from scheduling.forecast import bands, scoring

MINUTE = 60_000


def alike(waits, forecast=MINUTE):
    """Bands after forecasts of one wait that turned out so."""
    return bands.Bands([(forecast, wait) for wait in waits])


def test_a_band_has_the_ranks_of_the_errors():
    band = bands.band([math.log(k) for k in range(1, 100)])
    assert [round(math.exp(edge)) for edge in band] == [10, 90], "ranks 10 and 90 of 99"
    waits = [k * MINUTE for k in range(1, 51)]
    assert alike(waits).around(MINUTE) == (MINUTE, 46 * MINUTE), "ranks 5 and 46; the forecast is not left out"


def test_only_the_nearest_forecasts_count_and_of_equal_ones_the_newest():
    short, long = [(MINUTE, MINUTE)] * 60, [(90 * MINUTE, 180 * MINUTE)] * 60
    found = bands.Bands([*short, *long])
    assert found.around(MINUTE) == (MINUTE, MINUTE)
    low, high = found.around(100 * MINUTE)
    assert (low, round(high / MINUTE)) == (100 * MINUTE, 200)
    assert alike([9 * MINUTE] * 50 + [MINUTE] * 50).around(MINUTE) == (MINUTE, MINUTE)
    assert alike([MINUTE] * 50 + [9 * MINUTE] * 50).around(MINUTE) == (MINUTE, 9 * MINUTE)
    assert alike([9 * MINUTE] * 100 + [MINUTE] * bands.LAST).around(MINUTE) == (MINUTE, MINUTE), "the last ones"


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_are_those_of_a_plain_search(seed):
    rng = np.random.default_rng(seed)
    past = [(int(wait), int(wait)) for wait in rng.integers(0, 40 * MINUTE, 120)]
    found = bands.Bands(past)
    for wait in rng.integers(0, 50 * MINUTE, 40):
        size = math.log(wait + bands.SMOOTH_MS)
        first = found._first(size)
        chosen = found.sizes[first : first + bands.NEAREST]
        plain = sorted(abs(one - size) for one in found.sizes)[: bands.NEAREST]
        assert sorted(abs(one - size) for one in chosen) == pytest.approx(plain)


def test_no_band_without_enough_errors():
    assert alike([MINUTE] * 8).around(MINUTE) is None
    assert alike([MINUTE] * 9).around(MINUTE) is not None


def test_the_band_holds_the_forecast_and_no_past_time():
    half = bands.SMOOTH_MS // 2
    band = bands.Band(math.log(0.5), math.log(2))
    assert band.around(bands.SMOOTH_MS) == (0, 3 * bands.SMOOTH_MS)
    assert band.around(0) == (0, 2 * half)
    late = bands.Band(math.log(1.5), math.log(2))
    assert late.around(bands.SMOOTH_MS) == (bands.SMOOTH_MS, 3 * bands.SMOOTH_MS), "it is not moved, nor left out"


def test_a_band_does_not_begin_before_the_job_may_start():
    band = bands.Band(math.log(0.5), math.log(2))
    assert band.around(bands.SMOOTH_MS, bands.SMOOTH_MS) == (bands.SMOOTH_MS, 3 * bands.SMOOTH_MS)
    assert band.around(bands.SMOOTH_MS, 1) == (1, 3 * bands.SMOOTH_MS)
    assert band.around(bands.SMOOTH_MS, -1) == (0, 3 * bands.SMOOTH_MS)


def test_all_errors_alike_give_a_band_without_width():
    assert alike([7 * MINUTE] * 20, 7 * MINUTE).around(7 * MINUTE) == (7 * MINUTE, 7 * MINUTE)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.thorough
def test_bands_of_past_errors_hold_four_of_five_starts(seed):
    """Also where long waits have larger errors than short ones."""
    rng = np.random.default_rng(seed)
    past, inside = [], {True: [], False: []}
    for _ in range(2_000):
        forecast = int(rng.integers(0, 10) * MINUTE)
        spread = 0.2 + 0.1 * forecast / MINUTE
        real = max(0, round((forecast + bands.SMOOTH_MS) * math.exp(rng.normal(0.1, spread)) - bands.SMOOTH_MS))
        if len(past) >= 100:
            low, high = bands.Bands(past).around(forecast)
            inside[forecast < 5 * MINUTE].append(low <= real <= high)
        past.append((forecast, real))
    for found in inside.values():
        assert 0.74 <= sum(found) / len(found) <= 0.89


def test_errors_by_hand():
    found = scoring.errors(np.array([0, 10, 20, 100]) * MINUTE, np.array([1, 10, 10, 20]) * MINUTE)
    assert found.count == 4
    assert (found.mean_ms, found.median_ms, found.p90_ms) == (22.75 * MINUTE, 5.5 * MINUTE, 80 * MINUTE)
    assert found.bias_ms == 22.25 * MINUTE
    assert found.within == (0.5, 0.75, 0.75)
    assert scoring.errors(np.array([]), np.array([])) == scoring.Errors(0)


def test_leads_begin_at_1_10_and_60_minutes_and_6_hours():
    waits = (0, MINUTE - 1, MINUTE, 10 * MINUTE, 60 * MINUTE, 360 * MINUTE)
    assert [scoring.LEADS[scoring.lead(wait)] for wait in waits] == [
        "under_1_min", "under_1_min", "1_to_10_min", "10_to_60_min", "1_to_6_h", "over_6_h",
    ]  # fmt: skip


def test_the_wilson_interval_of_a_coverage():
    found = scoring.coverage(80, 100)
    assert (round(found.low, 4), round(found.high, 4)) == (0.7112, 0.8666)
    assert scoring.coverage(0, 0) == scoring.Coverage(0)


@pytest.mark.parametrize(
    ("inside", "count", "state"),
    [(99, 99, "learning"), (80, 100, "calibrated"), (50, 100, "off"), (100, 100, "off"), (70, 100, "calibrated")],
)
def test_the_state_of_calibration(inside, count, state):
    assert scoring.calibration(scoring.coverage(inside, count)) == state
