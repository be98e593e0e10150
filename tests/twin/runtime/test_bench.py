"""The performance table's frame (its figures are measured, not tested)."""

import re

import pytest
from django.core.management import call_command

import benchmarks


def test_every_row_has_a_title_and_can_run():
    assert {"event_log", "fifo", "memory", "oasis_decision", "up_again"} <= set(benchmarks.names())
    assert all(module.TITLE and callable(module.run) for module in map(benchmarks.row, benchmarks.names()))


def test_a_figure_is_held_against_its_target():
    fast = benchmarks.Figure("rate", 600_000, "rows/s", 500_000, at_least=True)
    slow = benchmarks.Figure("time", 6, "s", 5)
    assert (fast.holds, fast.target) == (True, ">= 500,000 rows/s")
    assert (slow.holds, slow.target) == (False, "<= 5 s")
    assert benchmarks.Figure("plain", 1, "s").holds is None


def test_an_unknown_row_is_answered_with_those_that_exist(capsys):
    with pytest.raises(SystemExit, match="2"):
        call_command("bench", only=["fifoo"])
    assert re.match(r"bench: unknown benchmark 'fifoo'; known: .*fifo", capsys.readouterr().err)
