"""How PD-ORS counts work in whole numbers."""

import math

import numpy as np
import pytest

from scheduling.slotted.pd_ors.work import MAX_WORK, count_work


def does(work, external, internal):
    """[external workers, internal workers] of one slot each: whether the plan counts it as the whole job."""
    return work.external[:external, None] + work.internal[None, :internal] >= work.need


def really_does(external, internal, outside, inside):
    count = np.arange(outside)[:, None] + np.arange(inside)[None, :] * (external / internal)
    return count >= external - 1e-9


@pytest.mark.parametrize("seed", range(100))
def test_a_short_job_is_counted_exactly(seed):
    """Whatever the rates are, and also where the external one is the higher."""
    rng = np.random.default_rng(seed)
    external = float(rng.uniform(0.05, 25))
    internal = external / float(rng.choice([1.0, 1.5, rng.uniform(0.5, 5)]))
    most = math.ceil(max(external, internal)) + 2
    work = count_work(external, internal, most)
    assert work.need <= MAX_WORK
    assert (does(work, most, most) == really_does(external, internal, most, most)).all()


@pytest.mark.parametrize("external", [90.0, 851.2, 3999.5, 4000.5, 250_000.0])
def test_what_is_counted_as_a_long_job_always_does_it(external):
    """A slot loses less than a part of a worker-slot, and the need is rounded up by less than one."""
    rate = 1.5363
    work = count_work(external, external / rate, 500)
    assert MAX_WORK / 2 < work.need <= MAX_WORK + 1
    workers = np.arange(501)
    for done, worth in ((work.external, workers), (work.internal, workers * rate)):
        lost = worth / external * work.need - done
        assert (lost >= -1e-9).all()
        assert (lost < 1 + worth / external).all()


def test_the_units_are_no_finer_than_they_have_to_be():
    assert count_work(7.0, 7.0, 2).need == 7
    assert count_work(3.0, 2.0, 2).need == 6  # 2 for each external worker-slot, 3 for each internal one
    assert count_work(1e-12, 1e-12, 2).need == 1


def test_work_up_to_the_limit_has_units():
    """With rounding, as many internal worker-slots as the limit allows are one too many to count exactly."""
    for work in (MAX_WORK - 0.5, float(MAX_WORK)):
        assert count_work(work, work, 3).need == pytest.approx(work, abs=1)
