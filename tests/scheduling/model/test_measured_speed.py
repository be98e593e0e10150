"""Fits of the speed model, and jobs that train at a measured speed."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from scheduling.model.measured_speed import MeasuredSpeed, Setting, fit, trained_at
from scheduling.model.speed import speed_of
from scheduling.model.values import Job, ModelError
from scheduling.workloads import generate

KNOWN = MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 1.0, 0.0, 0.0)


def settings(noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Setting(w, s, batch, KNOWN.iteration_ms(w, s, batch) * float(np.exp(noise * rng.standard_normal())))
        for w, s, batch in product(range(1, 7), (1, 2), (64, 128, 256))
    ]


def test_an_iteration_by_hand():
    """6 workers on 4 cores and 2 servers: 2 + 0.05 x 128 x 1.5 + 0.7 x 2 x 4 x 3."""
    assert KNOWN.iteration_ms(6, 2, 128) == pytest.approx(2 + 9.6 + 16.8)


def test_known_constants_are_recovered():
    found = fit(settings(), 4.0, 4)
    assert (found.fixed_ms, found.sample_ms, found.megabyte_ms) == pytest.approx((2.0, 0.05, 0.7))
    assert found.r2 == pytest.approx(1.0)
    assert found.worst_error == pytest.approx(0.0, abs=1e-9)
    assert found.batch == 256


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_reported_as_error(seed):
    found = fit(settings(0.05, seed), 4.0, 4)
    assert (found.sample_ms, found.megabyte_ms) == pytest.approx((0.05, 0.7), rel=0.3)
    assert 0.9 < found.r2 < 1
    assert 0.005 < found.mean_error <= found.worst_error < 0.3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (settings()[:5], "at least 6 settings, got 5"),
        ([Setting(1, 1, 64, 5.0)] * 8, "do not determine the speed"),
        ([row._replace(iteration_ms=0.0) for row in settings()], "finite numbers > 0"),
        ([row._replace(iteration_ms=100.0 / row.batch) for row in settings()], "do not grow with the batch"),
    ],
)
def test_settings_that_give_no_fit_are_refused(rows, message):
    with pytest.raises(ModelError, match=message):
        fit(rows, 4.0, 4)


@pytest.mark.parametrize("profile", ["oasis", "pd-ors", "a-online", "harmony"])
def test_jobs_keep_their_length_and_get_the_measured_mini_batch(profile):
    _, jobs = generate(profile, num_jobs=10, num_servers=10, seed=2)
    for job in jobs:
        new, before, gbps = trained_at(job, KNOWN), speed_of(job), speed_of(job).external_gbps
        after = speed_of(new)
        assert (after.gradient_mb, after.fixed_ms) == (4.0, pytest.approx(2 + 0.7 * 8))
        assert after.compute_ms == pytest.approx(0.05 * 256, rel=0.05), "whole mini-batches"
        assert after.work_ms(gbps) == pytest.approx(before.work_ms(gbps), rel=1e-6)
        assert (after.epochs, after.most_workers) == (before.epochs, before.most_workers)
        assert new.iterations * new.comp_machine_ms == pytest.approx(
            after.epochs * after.minibatches * (after.compute_ms + after.fixed_ms)
        )
        assert (new.provenance["minibatch_ms"], new.provenance["gradient_mb"]) == ("measured", "measured")
        assert (new.provenance["num_chunks"], new.provenance["sample_ms"]) == ("derived", "derived")
        assert (new.worker, new.utility, new.arrival_ms) == (job.worker, job.utility, job.arrival_ms)


def test_a_job_without_a_speed_cannot_get_another():
    with pytest.raises(ModelError, match="job a has no known speed"):
        trained_at(Job("a", 0), KNOWN)
    assert replace(KNOWN, batch=1).iteration_ms(1, 1, 1) > 0
