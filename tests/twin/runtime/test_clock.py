"""The clock of a live run, in numbers."""

from datetime import UTC, datetime, timedelta

import pytest

from twin.runs.clock import Clock

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def later(seconds):
    return NOON + timedelta(seconds=seconds)


def test_an_hour_of_the_cluster_passes_in_two_seconds_at_1800():
    assert Clock(0, NOON, 1800.0).now_ms(later(2)) == 3_600_000


def test_it_stands_still_at_speed_zero():
    assert Clock(5_000, NOON, 0.0).now_ms(later(60)) == 5_000


def test_it_does_not_run_backwards_with_the_wall_clock():
    assert Clock(5_000, NOON, 10.0).now_ms(later(-3)) == 5_000


def test_a_new_speed_counts_from_now_on():
    clock = Clock(0, NOON, 10.0).with_speed(100.0, later(1))
    assert clock.now_ms(later(1)) == 10_000
    assert clock.now_ms(later(2)) == 110_000


def test_it_says_when_a_moment_comes():
    assert Clock(0, NOON, 10.0).wall_of(30_000) == later(3)
    assert Clock(0, NOON, 0.0).wall_of(1) is None


@pytest.mark.parametrize("speed", [-1.0, 1e9, float("nan")])
def test_it_refuses_a_speed_out_of_range(speed):
    with pytest.raises(ValueError, match="speed must be from 0"):
        Clock(0, NOON, 1.0).with_speed(speed, NOON)
