"""Prices of resources on servers that workers and parameter servers share [PD-ORS, Eq. 12-14].

``p = L (U / L) ** (allocated / capacity)``, as in pricing/prices.py, with one floor L for all resources and roles. U^r
is the greatest utility per unit of r that a worker with its parameter server could be worth, L the least per unit and
slot.

Differs from the paper:
- U^r is the maximum over the jobs that request some of r; a resource that no job requests is free (the paper divides by
  zero).
- Its argument is the shortest duration less one slot, as everywhere else (Eq. 13 subtracts a time from a duration).
- Jobs that cannot end before the horizon count for nothing; u_i(T - a_i) is at least MIN_SHARE of u_i(0), because it
  underflows to 0 for most time-critical jobs and a price of 0 never rises.
- 1 / mu is taken with equality for the tightest job. U is at least e L. Durations in U are at the better rate of the
  two.
- Bandwidth is no resource of this model: it has no price.
- Mode `marginal` (ours, the default): L is the utility density of the job at which the cluster would be full if jobs
  were taken by falling density, a worker with its share of a parameter server, 1 / gamma; never less than the printed
  L.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.model.training_models import NEEDS, pd_ors_sample_ms, pd_ors_slots
from scheduling.model.utility import arrival_slot, utility_at
from scheduling.model.values import BANDWIDTH, RESOURCES, Job, ModelError
from scheduling.slotted.pricing.prices import MIN_SHARE, MODES, UNIT, marginal_density


@dataclass(frozen=True, slots=True)
class SharedPrices:
    """Bounds of the prices, utility per whole unit and slot; a ceiling of 0 marks a resource that is free."""

    floor: float  # L
    ceiling: tuple[float, ...]  # U^r, in the order of RESOURCES

    def __post_init__(self) -> None:
        if not 0 < self.floor < math.inf:
            raise ModelError(f"prices: floor must be a finite number > 0, got {self.floor!r}")
        for name, most in zip(RESOURCES, self.ceiling, strict=True):
            if most and not self.floor < most < math.inf:
                raise ModelError(f"prices: ceiling.{name} must be 0 or > the floor {self.floor!r}, got {most!r}")


@dataclass(frozen=True, slots=True)
class Claim:
    """Fields of one job that the estimate needs."""

    worker_slots: float  # V delta_e: worker-slots at the external rate
    best: float  # u_i of the shortest duration
    least: float  # u_i(T - a_i), at least MIN_SHARE u_i(0)
    pair: np.ndarray  # alpha + beta, whole units of each resource
    worker: np.ndarray  # alpha + beta / gamma


def estimate_shared(
    jobs: Iterable[Job], capacity: np.ndarray, slot_ms: int, horizon: int, mode: str = "marginal",
    floor_scale: float = 1.0, window: int | None = None,
) -> SharedPrices:  # fmt: skip
    """U and L from a history of jobs.

    capacity: thousandths, [server, resource]; window: slots in which the jobs came, else all.

    floor_scale multiplies the floor; 100 / x runs with U / L at x % of its true value.
    """
    if mode not in MODES:
        raise ModelError(f"price mode must be one of {', '.join(MODES)}, got {mode!r}")
    if not 0 < floor_scale < math.inf:
        raise ModelError(f"floor_scale must be a finite number > 0, got {floor_scale!r}")
    claims = [claim for job in jobs if (claim := _claim(job, slot_ms, horizon)) is not None]
    total = (horizon if window is None else window) * capacity.sum(axis=0) / UNIT
    total[BANDWIDTH] = 0.0
    floor = _literal_floor(claims, float(total.sum()))
    if mode == "marginal":
        floor = max(floor, marginal_density(claims, total))
    floor *= floor_scale
    return SharedPrices(floor, _ceiling(claims, floor))


def _claim(job: Job, slot_ms: int, horizon: int) -> Claim | None:
    """Claim of a job; None if it can earn no utility before the horizon, or lacks a field."""
    if job.utility is None or any(getattr(job, part) is None for part in NEEDS["pd-ors"]):
        return None
    assert job.worker is not None
    assert job.ps is not None
    assert job.global_batch is not None
    assert job.workers_per_ps is not None
    left = horizon - arrival_slot(job.arrival_ms, slot_ms)
    least_slots = min(pd_ors_slots(job, job.global_batch, internal, slot_ms) for internal in (True, False))
    if least_slots > left:
        return None
    best = utility_at(job.utility, least_slots - 1)
    least = max(utility_at(job.utility, left - 1), MIN_SHARE * utility_at(job.utility, 0))
    worker, ps = np.array(job.worker) / UNIT, np.array(job.ps) / UNIT
    worker[BANDWIDTH] = ps[BANDWIDTH] = 0.0
    work = (job.epochs or 0) * (job.num_samples or 0) * pd_ors_sample_ms(job, False) / slot_ms
    return Claim(work, best, least, worker + ps, worker + ps / job.workers_per_ps) if best > 0 else None


def _literal_floor(claims: Sequence[Claim], total: float) -> float:
    """Eq. (14): 1 / (2 mu) of the least utility per unit and slot. 1 without any demand."""
    wants = [(c.worker_slots * float(c.pair.sum()), c.least) for c in claims if c.pair.any()]
    if not wants or not total:
        return 1.0
    scale = min(1.0, min(want for want, _ in wants) / total)  # 1 / mu
    return scale / 2 * min(least / want for want, least in wants)


def _ceiling(claims: Sequence[Claim], floor: float) -> tuple[float, ...]:
    """Eq. (13), at least e times the floor; 0 for a resource without demand."""
    most = []
    for r in range(len(RESOURCES)):
        wants = [c.best / float(c.pair[r]) for c in claims if c.pair[r] > 0]
        most.append(max(max(wants), math.e * floor) if wants else 0.0)
    return tuple(most)
