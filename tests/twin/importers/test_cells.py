"""Values in the forms in which people and tools write them."""

from datetime import UTC, datetime
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.traces.importing.reading import AS_STATED, Reading
from twin.traces.uploads.cells import DAY, MONTH, dates, durations, is_date, is_undecided, numbers, order_of_dates
from twin.traces.uploads.cells import quantities as amounts


def alike(found, wanted) -> bool:
    return (isnan(found) and wanted is None) or found == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("1,5", 1.5), ("1,000", None), ("-12,345", None), ("0,125", 0.125), ("1234,567", 1234.567),
     ("-,25", -0.25), ("1.234,5", 1234.5), ("x", None), ("", None), ("1e400", None),
     ("nan", None), ("inf", None), ("1,2,3", None)],
)  # fmt: skip
def test_numbers_may_have_a_decimal_comma(text, value):
    assert alike(numbers([text])[0], value)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.200", "12.345", "0.5"], [1.2, 12.345, 0.5]),
        (["600,5", "1.200", "1.200,0", "1.5", "0.125", "-1.234.567"], [600.5, None, 1200.0, 1.5, 0.125, None]),
        (["1,000", "1.200"], [None, 1.2]),
    ],
)
def test_a_dot_may_separate_thousands_beside_decimal_commas(cells, values):
    """1.200 may be 1.2 or 1,200 there; without a decimal comma in the column it is 1.2."""
    assert all(map(alike, numbers(cells), values))
    assert all(map(alike, durations(cells, 1), values))
    assert all(map(alike, amounts(cells, 1.0), values))


def test_a_unit_does_not_make_it_certain():
    assert all(map(alike, amounts(["1,5", "1.200 GB", "1.5GB"], 1.0), [1.5, None, 1.5e9]))
    assert all(map(alike, durations(["700,5", "1.200s"], 1_000), [700_500, None]))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90 * 60), ("1,5", 90), ("01:02:03", 3723), ("1-02:03:04", 93_784), ("12:30", 750),
        ("2 days 03:04:05.500000", 183_845.5), ("0 days 00:00:30", 30), ("2 days", 172_800), ("1h30m", 5400),
        ("45s", 45), ("PT1H30M", 5400), ("P1DT1S", 86_401), ("1:2:3:4", None), ("soon", None), ("", None),
    ],
)  # fmt: skip
def test_durations_have_many_forms_and_plain_numbers_are_minutes_here(text, seconds):
    assert alike(durations([text], 60_000)[0], None if seconds is None else seconds * 1000)


@pytest.mark.parametrize(
    ("text", "value"),
    [("500m", 0.5), ("2", 2), ("16Gi", 16 * 2**30), ("16G", 16e9), ("64GB", 64e9), ("100M", 1e8), ("1,5", 1.5),
     ("1.5Ki", 1536), ("12 MiB", 12 * 2**20), ("1e3", 1000), ("4 apples", None), ("Gi", None)],
)  # fmt: skip
def test_quantities_have_units(text, value):
    assert alike(amounts([text], 1.0)[0], value)


@pytest.mark.parametrize(
    ("text", "order", "moment"),
    [
        ("2026-11-23 13:36:05", DAY, "2026-11-23T13:36:05"), ("2026-11-23T13:36:05Z", DAY, "2026-11-23T13:36:05"),
        ("2026-11-23 13:36:05+02:00", DAY, "2026-11-23T11:36:05"), ("2026-11-23", DAY, "2026-11-23T00:00:00"),
        ("03/04/2026 13:36", DAY, "2026-04-03T13:36:00"), ("03/04/2026 13:36", MONTH, "2026-03-04T13:36:00"),
        ("3/4/2026 1:36 PM", MONTH, "2026-03-04T13:36:00"), ("12/4/2026 12:05 AM", MONTH, "2026-12-04T00:05:00"),
        ("23.11.2026 13:36:05", MONTH, "2026-11-23T13:36:05"), ("2026/11/23 13:36", DAY, "2026-11-23T13:36:00"),
        ("Mon Nov 23 13:36:05 2026", DAY, "2026-11-23T13:36:05"), ("Mon Nov  2 13:36:05 UTC 2026", DAY,
                                                                   "2026-11-02T13:36:05"),
        ("23 Nov 2026 13:36", DAY, "2026-11-23T13:36:00"), ("Nov 23, 2026 1:36 PM", DAY, "2026-11-23T13:36:00"),
        ("31/02/2026", DAY, None), ("2026", DAY, None), ("1700000000", DAY, None), ("13:36", DAY, None),
        ("23/11/26", DAY, None), ("", DAY, None), ("13/13/2026", DAY, None), ("1/1/2026 25:00", DAY, None),
    ],
)  # fmt: skip
def test_dates_have_many_forms(text, order, moment):
    wanted = None if moment is None else datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000
    assert alike(dates([text], order, AS_STATED)[0], wanted)


@given(st.datetimes(datetime(1980, 1, 1), datetime(2090, 1, 1)), st.sampled_from([DAY, MONTH]))
def test_a_date_is_read_as_it_was_written(moment, order):
    moment = moment.replace(microsecond=0)
    form = "%d/%m/%Y %H:%M:%S" if order == DAY else "%m/%d/%Y %H:%M:%S"
    ms = moment.replace(tzinfo=UTC).timestamp() * 1000
    cells = [moment.strftime(form), moment.ctime(), moment.isoformat(), "x"]
    assert dates(cells, order, AS_STATED)[:3].tolist() == [ms, ms, ms]


def test_a_time_zone_moves_dates_without_an_offset_only():
    """Berlin in winter is UTC+1."""
    cells = ["2026-11-23 13:00:00", "2026-11-23 13:00:00Z", "2026-11-23 13:00:00+03:00", "23/11/2026 13:00"]
    local = dates(cells, DAY, Reading(time_zone="Europe/Berlin")) - dates(cells, DAY, AS_STATED)
    assert (local / 3_600_000).tolist() == [-1, 0, 0, -1]


def test_the_order_of_dates_is_what_a_day_above_twelve_says():
    assert order_of_dates(["03/04/2026", "13/04/2026"]) == DAY
    assert order_of_dates(["03/04/2026", "03/14/2026"]) == MONTH
    assert order_of_dates(["03.04.2026"]) == DAY
    assert order_of_dates(["03/04/2026", "2026-03-04"]) == ""
    assert is_undecided(["03/04/2026"])
    assert not is_undecided(["2026-03-04", "5"])


@pytest.mark.parametrize(("text", "yes"), [("2026-03-04", True), ("3/14/2026", True), ("7", False), ("2026", False)])
def test_a_cell_is_a_date(text, yes):
    assert is_date(text) == yes
