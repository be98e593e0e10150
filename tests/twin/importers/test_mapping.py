"""Guess and preview of a column mapping, by the values of a few rows."""

import pytest

from twin.traces.importing.reading import Reading
from twin.traces.mappings.guess import guess
from twin.traces.mappings.preview import preview

PLAIN = Reading()


def test_common_names_are_recognized_each_column_once():
    columns = ["Job Name", "submit_time", "duration", "num_gpu", "queue", "time"]
    assert guess(columns, [["j1", "2026-01-01 00:00:00", "60", "2", "q", "5"]]) == {
        "id": "Job Name", "arrival": "submit_time", "run": "duration", "gpus": "num_gpu", "group": "queue",
        "arrival_unit": "datetime", "run_unit": "s",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "mapping"),
    [
        (["id", "submit", "start", "end"], {"id": "id", "arrival": "submit", "start": "start", "end": "end"}),
        (["SubmitTime", "start_time", "end_time"],
         {"arrival": "SubmitTime", "start": "start_time", "end": "end_time"}),
        (["x", "y"], {}),
    ],
)  # fmt: skip
def test_the_start_is_distinguished_and_what_is_unknown_is_left_open(columns, mapping):
    assert guess(columns, []) == mapping


@pytest.mark.parametrize(
    ("column", "cell", "unit"),
    [
        ("submit", "5", "s"), ("submit_ms", "5", "ms"), ("submit (min)", "5", "min"), ("submitHours", "5", "h"),
        ("submit", "1700000000", "s"), ("submit", "1700000000000", "ms"), ("submit", "1700000000000000", "us"),
        ("submit", "23/11/2026 10:00", "datetime"), ("submit", "Mon Nov 23 13:36:05 2026", "datetime"),
    ],
)  # fmt: skip
def test_the_unit_of_arrivals(column, cell, unit):
    assert guess([column, "run"], [[cell, "1"]])["arrival_unit"] == unit


@pytest.mark.parametrize(
    ("columns", "row", "unit"),
    [
        (["submit", "run_ms"], ["0", "60"], "ms"), (["submit", "run"], ["0", "90000000"], "ms"),
        (["submit", "run"], ["0", "5000000000"], "us"), (["submit", "run"], ["0", "3600"], "s"),
        (["submit", "run", "start", "end"], ["0", "2", "100", "7300"], "h"),
        (["submit", "run", "start", "end"],
         ["2026-01-01 00:00:00", "90", "2026-01-01 00:10:00", "2026-01-01 01:40:00"], "min"),
        (["submit", "run"], ["0", "01:00:00"], "s"),
    ],
)  # fmt: skip
def test_the_unit_of_run_times(columns, row, unit):
    """By the name, by end - start, or by the size."""
    assert guess(columns, [row] * 3)["run_unit"] == unit


@pytest.mark.parametrize(
    ("column", "cell", "unit"),
    [("mem", "16", "GB"), ("mem", "16384", "MB"), ("mem_mib", "16", "MiB"), ("memory", "17179869184", "B"),
     ("memory (GiB)", "9", "GiB"), ("mem", "16Gi", "GB")],
)  # fmt: skip
def test_the_unit_of_memory(column, cell, unit):
    assert guess(["submit", column], [["1", cell]])["memory_unit"] == unit


def test_the_order_of_dates_is_guessed_where_a_day_is_above_twelve():
    assert guess(["submit"], [["03/04/2026"], ["03/14/2026"]])["date_order"] == "month"
    assert "date_order" not in guess(["submit"], [["03/04/2026"]])


def test_ten_rows_show_arrivals_run_times_and_why_rows_are_skipped():
    lines = ["sent,took,cards", "100,2,2", "160,0.5,x", "x,1,1", '220,"1', "280,00:10:00,4"]
    found = preview("a.csv", lines, {"arrival": "sent", "run": "took", "run_unit": "min", "gpus": "cards"}, PLAIN)
    assert [(row["line"], row["arrival"], row["run_ms"], row["gpus"], row["reason"]) for row in found["rows"]] == [
        (2, 0, 120_000, 2.0, ""), (3, 60_000, 30_000, None, "unreadable_gpus"),
        (4, None, 60_000, 1.0, "unreadable_arrival"), (5, None, None, None, "unreadable_quotes"),
        (6, 180_000, 600_000, 4.0, ""),
    ]  # fmt: skip
    assert (found["running"], found["problem"]) == ("The run time of a job is took.", "")
    assert len(preview("a.csv", ["a,b", *["1,2"] * 20], {"arrival": "a", "run": "b"}, PLAIN)["rows"]) == 10


def test_dates_are_shown_in_utc_and_a_problem_in_its_words():
    lines = ["sent,done", "3/4/2026 10:00,3/4/2026 11:00"]
    mapping = {"arrival": "sent", "end": "done", "arrival_unit": "datetime"}
    assert "can be read in two ways" in preview("a.csv", lines, mapping, PLAIN)["problem"]
    found = preview("a.csv", lines, mapping | {"date_order": "day"}, Reading(time_zone="Europe/Berlin"))
    assert found["rows"][0]["arrival"] == "2026-04-03 08:00:00"
    assert "waiting before the start counts as work" in found["running"]
    assert preview("a.csv", lines, {}, PLAIN)["problem"].startswith("a.csv: map its columns first")
