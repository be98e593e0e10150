"""Backfill passes of Slurm's model: one interval after the other, or at moments that are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from scheduling.model.values import ModelError
from scheduling.slotted.slurm.passes import SPREAD_MS, Passes, as_text, moments_of
from tests.scheduling.backfilling.builders_slurm import machines, node, places, request
from tests.scheduling.rivals import events_of


def test_a_pass_follows_one_interval_after_the_last_or_with_the_next_change():
    passes = Passes([], 30)
    assert passes.next(7, None) == 7
    assert passes.next(8, 7) == 37
    assert passes.next(90, 7) == 90


def test_known_passes_are_followed_and_gaps_between_them_are_not_waited_for():
    passes = Passes([10, 40, 71, 500], 30)
    assert [passes.next(3, None), passes.next(11, 10), passes.next(40, 10), passes.next(41, 40)] == [10, 40, 40, 71]
    assert passes.next(72, 71) == 101
    assert passes.next(480, 131) == 500
    assert passes.next(501, 500) == 530


@given(some.lists(some.integers(0, 10**9), max_size=50), some.sampled_from([1_000, 2_000, 30_000]))
def test_moments_survive_as_text(moments, interval_ms):
    found = moments_of(as_text(moments, interval_ms), interval_ms)
    assert len(found) == len(moments)
    assert all(abs(one - other) <= SPREAD_MS for one, other in zip(found, sorted(moments), strict=True))


def test_even_passes_are_one_row_of_the_text():
    moments = [5_700 + 30_000 * n + (n % 3) * 100 for n in range(2_880)] + [100_000_000]
    assert as_text(moments, 30_000) == "5700*2880, 100000000"
    assert moments_of(" 4, 100*3 ", 50) == [4, 100, 150, 200]
    assert moments_of("", 50) == []


@pytest.mark.parametrize("text", ["soon", "1;2", "-5", "3*", "1.5", "7*9999999"])
def test_another_text_is_refused_in_one_sentence(text):
    with pytest.raises(ModelError, match=r"Known backfill passes\) must be times in ms.*got '"):
        moments_of(text, 1_000)


def test_too_many_passes_are_refused():
    with pytest.raises(ModelError, match="at most 1,000,000 passes"):
        moments_of("1*900000, 2*900000", 1_000)


def test_a_job_is_backfilled_by_a_known_pass():
    """a holds 3 of 4 GPUs until slot 20, b (2 GPUs) waits for it. d (1 GPU, 3 slots) is backfilled: by the pass at 5 s,
    one interval after the first one, or by the known pass at 7.2 s, in the slot that begins at 8 s."""
    jobs = [request("a", gpus=3, slots=20), request("b", 500, gpus=2, slots=5), request("d", 700, slots=3)]
    own = {"main_ms": 0, "backfill_ms": 5_000, "resolution_ms": 1_000}
    assert places(events_of(machines(node("w0")), jobs, "slurm", **own))[2] == (5, [0])
    assert places(events_of(machines(node("w0")), jobs, "slurm", **own, known_passes="0, 7200"))[2] == (8, [0])
