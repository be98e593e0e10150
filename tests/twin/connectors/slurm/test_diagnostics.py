"""Values of sdiag, and the clock that follows from them."""

import re

import pytest

from tests.twin.connectors.slurm.texts import VERSIONS, recorded
from twin.connectors._slurm.clock import Clock
from twin.connectors._slurm.diagnostics import read_diagnostics
from twin.connectors.facts import ConnectorError


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_diagnostics_of_each_version_are_read(version):
    counts = read_diagnostics(recorded(version, "sdiag"))
    assert counts.since_ms < counts.at_ms < counts.since_ms + 60_000
    assert counts.since_ms <= counts.counted_ms <= counts.at_ms
    assert counts.backfilled_ms is not None
    assert counts.since_ms <= counts.backfilled_ms <= counts.at_ms
    # counted every 30 s
    assert (counts.pending, counts.running, set(counts.spent)) == (14 if version == "22.05" else 0, 0, {0})
    calls, ms = counts.spent[0]
    assert 20 < calls < 40
    assert 10 < ms < 1000


def test_calls_and_time_are_those_of_the_user():
    text = recorded("22.05", "sdiag").replace("Jobs pending:   14\n", "Jobs pending:   144\n")
    text = text.replace(
        "by user\n", "by user\n\tann             (    1001) count:12     ave_time:500    total_time:6000\n"
    )
    counts = read_diagnostics(text)
    assert counts.pending == 144
    assert counts.spent[1001] == (12, 6.0)


@pytest.mark.parametrize("when", ["N/A", "Thu Jan 01 00:00:00 1970 (0)"])
def test_a_controller_without_a_backfill_pass_has_no_moment_of_one(when):
    text = re.sub(r"Last cycle when: .*", f"Last cycle when: {when}", recorded("22.05", "sdiag"))
    assert read_diagnostics(text).backfilled_ms is None


def test_another_answer_gives_one_clear_sentence():
    with pytest.raises(ConnectorError, match=r"sdiag: no line like .* begins with 'slurm_get_statistics: error'"):
        read_diagnostics("slurm_get_statistics: error\n")


def test_the_clock_agrees_until_it_must_not():
    clock = Clock()
    assert clock.offset_ms == 0
    clock.heard(10_000, asked_ms=10_400, answered_ms=10_450)
    assert (clock.low_ms, clock.high_ms, clock.offset_ms) == (-450, 599, 0)


def test_bounds_tighten_and_a_step_starts_again():
    clock = Clock()
    clock.heard(15_000, asked_ms=10_000, answered_ms=10_010)
    clock.heard(16_000, asked_ms=10_600, answered_ms=10_610)
    assert (clock.low_ms, clock.high_ms, clock.offset_ms) == (5390, 5999, 5390)
    clock.heard(11_000, asked_ms=11_500, answered_ms=11_510)
    assert clock.offset_ms == 0
