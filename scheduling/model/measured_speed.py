"""Speed that was measured: the speed model fitted to iteration times, and jobs that train at it.

w workers and s parameter servers on one machine take for an iteration, in which each worker trains `batch` samples,

    fixed + sample x batch x max(1, w / cores) + 2 x megabyte x gradient x w / s

for workers share the cores, and a parameter server serves w / s of them. Without a network the last part is the time to
copy and to add gradients, so on a cluster the time on its network comes on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scheduling.model.speed import CHUNKS, FIELDS, as_chunks, completed, speed_of
from scheduling.model.values import Job, ModelError

MIN_SETTINGS = 6  # of a fit: two for each constant
HELD_OUT = 4  # every fourth setting is not fitted
MEASURED = ("minibatch_ms", "gradient_mb", "ps_update_ms")  # fields of a job that trains at a measured speed


class Setting(NamedTuple):
    """Measured setting, and its median time of an iteration."""

    workers: int
    ps: int
    batch: int  # samples of a worker in an iteration
    iteration_ms: float


@dataclass(frozen=True, slots=True)
class MeasuredSpeed:
    """Constants of the model, and the errors of the fit.

    r2           share of the variance of the fitted times that the model explains
    mean_error   mean and largest relative error on the settings that were held out
    """

    fixed_ms: float
    sample_ms: float
    megabyte_ms: float
    gradient_mb: float
    batch: int  # of a job that trains at this speed
    cores: int
    r2: float
    mean_error: float
    worst_error: float

    def iteration_ms(self, workers: int, ps: int, batch: int) -> float:
        """Time of an iteration by the model."""
        row = _row(Setting(workers, ps, batch, 0.0), self.gradient_mb, self.cores)
        return float(np.dot(row, (self.fixed_ms, self.sample_ms, self.megabyte_ms)))


def fit(settings: Sequence[Setting], gradient_mb: float, cores: int) -> MeasuredSpeed:
    """Constants >= 0 with the least squares of relative errors. ModelError if the settings do not determine them."""
    ordered = sorted(settings)
    held = ordered[HELD_OUT - 1 :: HELD_OUT]
    fitted = [setting for i, setting in enumerate(ordered) if (i + 1) % HELD_OUT]
    if len(settings) < MIN_SETTINGS:
        raise ModelError(f"a fit of the speed needs at least {MIN_SETTINGS} settings, got {len(settings):,}")
    rows = np.array([_row(setting, gradient_mb, cores) for setting in fitted])
    times = np.array([setting.iteration_ms for setting in fitted])
    if (times <= 0).any() or not np.isfinite(times).all():
        raise ModelError("iteration times of a fit must be finite numbers > 0")
    if np.linalg.matrix_rank(rows) < rows.shape[1]:
        raise ModelError(
            "the settings do not determine the speed; vary the batch, and the workers or parameter servers"
        )
    from scipy.optimize import nnls  # when it is used: generated jobs need no solver

    constants, _ = nnls(rows / times[:, None], np.ones(len(times)))
    fixed_ms, sample_ms, megabyte_ms = constants.tolist()
    if sample_ms == 0:
        raise ModelError(
            "the iteration times do not grow with the batch, so the time per sample is unknown; measure with a larger "
            "batch, with more iterations or on an idle machine"
        )
    left, total = times - rows @ constants, times - times.mean()
    found = MeasuredSpeed(
        fixed_ms, sample_ms, megabyte_ms, gradient_mb, max(setting.batch for setting in settings), cores,
        float(1 - (left @ left) / (total @ total)) if total.any() else 1.0, 0.0, 0.0,
    )  # fmt: skip
    errors = [abs(found.iteration_ms(*setting[:3]) / setting.iteration_ms - 1) for setting in held]
    return replace(found, mean_error=float(np.mean(errors)), worst_error=max(errors))


def trained_at(job: Job, measured: MeasuredSpeed) -> Job:
    """Job that trains at the measured speed for as long as before with one worker, at its own external rate.

    Mini-batches, their time and the gradient are replaced; workers, epochs and demands are kept. ModelError if the
    speed of the job is unknown.
    """
    speed = speed_of(job)
    if speed is None or speed.external_gbps is None:
        raise ModelError(f"job {job.id} has no known speed, so no measured one can replace it")
    gradient_mb = measured.gradient_mb
    other = speed._replace(
        source=CHUNKS, compute_ms=measured.sample_ms * measured.batch, gradient_mb=gradient_mb,
        fixed_ms=measured.fixed_ms + 2 * measured.megabyte_ms * gradient_mb,
    )  # fmt: skip
    gbps = speed.external_gbps
    other = other._replace(minibatches=speed.minibatches * speed.minibatch_ms(gbps) / other.minibatch_ms(gbps))
    gone = {part: None for parts in FIELDS.values() for part in parts} | {"iterations_per_epoch": None}
    bare = replace(job, **gone, ps_update_ms=other.fixed_ms)  # type: ignore[arg-type]  # mypy does not check ** by name
    values = as_chunks(bare, other)
    made = dict.fromkeys(FIELDS[CHUNKS], "derived") | dict.fromkeys(MEASURED, "measured")
    kept = {name: origin for name, origin in job.provenance.items() if name not in gone}
    return completed(replace(bare, **values, provenance=kept | made))


def _row(setting: Setting, gradient_mb: float, cores: int) -> tuple[float, float, float]:
    """Factors of the three constants."""
    workers, ps, batch, _ = setting
    return 1.0, batch * max(1.0, workers / cores), 2 * gradient_mb * workers / ps
