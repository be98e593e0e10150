"""Times in messages: by the clock of a run, or in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from twin.moments import date_time, moment_utc, run_moment, unix_ms

MS = 1_795_549_205_123
TEXT = "2026-11-24 19:40:05"


def test_a_moment_of_the_real_world_is_in_utc_to_the_second():
    assert (moment_utc(MS), date_time(MS)) == (f"{TEXT} UTC", TEXT)


def test_a_time_of_a_run_is_in_utc_where_its_times_count_from_a_moment():
    assert run_moment(3_600_123, MS - 3_600_123) == f"{TEXT} UTC"
    assert run_moment(3_600_123, None) == "01:00:00.123"
    assert run_moment(3_600_123, None, whole=True) == "01:00:00"


@pytest.mark.parametrize("micros", [122_501, 123_000, 123_499])
def test_the_nearest_ms_is_meant(micros):
    assert unix_ms(datetime(2026, 11, 24, 19, 40, 5, micros, UTC)) == MS


def test_a_whole_ms_is_kept_whose_float_lies_below_it():
    ms = 2150399568319
    at = datetime.fromtimestamp(ms / 1000, UTC)
    assert int(at.timestamp() * 1000) < ms == unix_ms(at)
