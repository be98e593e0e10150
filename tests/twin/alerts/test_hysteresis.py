"""An alert ends only when its finding was absent for the whole time, whatever happened before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from twin.alerts.hysteresis import settled

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TURNS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from([True, False, None])), max_size=40)


@given(TURNS, st.integers(0, 60))
def test_it_ends_exactly_when_every_look_of_the_time_found_nothing(turns, clear_s):
    now, absent_at, since = BEGIN, None, None
    for seconds, present in turns:
        now += timedelta(seconds=seconds)
        absent_at, ended = settled(absent_at, present, now, clear_s)
        since = None if present is not False else since or now  # first of an unbroken row of looks without it
        assert ended == (since is not None and (now - since).total_seconds() >= clear_s)
        assert (absent_at is None) == (present is not False)
        if ended:
            break


@given(st.integers(1, 600), st.integers(1, 20))
def test_a_finding_that_comes_and_goes_faster_than_the_time_is_one_alert(clear_s, times):
    now, absent_at = BEGIN, None
    for i in range(2 * times):
        absent_at, ended = settled(absent_at, i % 2 == 0, now, clear_s)
        assert not ended
        now += timedelta(seconds=clear_s / 2)
