"""Prices of resources per server and slot, as functions of their allocation [OASiS, Section IV-B, Eq. 22-26].

``p = L (U / L) ** (allocated / capacity)``: a price begins at the floor L, which admits every job, and ends at the
ceiling U, which admits none. U is per resource and role, L per role; both are in utility per whole unit and slot (GPU,
vCPU, GB, GB, Gbps). They are estimated from jobs (`estimate_from`): those that have arrived so far (`history`, the
default; the paper takes estimates "based on past experience"), or all those of the scenario (`clairvoyant`), by which
the paper defines the exact U and L.

Differs from the paper:
- U^r is the maximum over the jobs that request some of r; a resource that no job requests is free (the paper divides by
  zero).
- Its argument is the shortest duration less one slot, as everywhere else (Eq. 23 subtracts a time from a duration).
- Jobs that cannot end before the horizon count for nothing; f_i(T - a_i) is at least 1 % of f_i(0), because it
  underflows to 0 for most time-critical jobs and a price of 0 never rises.
- 1 / eta is taken with equality for the tightest job. U is at least e L.
- Mode `marginal` (ours, the default): L_1 is the utility density of the job at which the cluster would be full if jobs
  were taken by falling density, L_2 scaled alike. The printed L is so low that the algorithm serves in order of
  arrival.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.training_models import oasis_minibatch_ms, oasis_worker_slots
from scheduling.model.utility import arrival_slot, utility_at
from scheduling.model.values import RESOURCES, Demand, Job, ModelError

MODES = ("marginal", "literal")
HISTORY, CLAIRVOYANT = "history", "clairvoyant"  # of which jobs bounds are estimated
MIN_SHARE = 0.01  # of f_i(0): the least that f_i(T - a_i) counts as
UNIT = 1000  # thousandths in a whole unit
GRID = 2.0**-50  # of a job's utility: its costs are multiples of it, so that their sums are exact and ties are true


@dataclass(frozen=True, slots=True)
class PriceParameters(Parameters):
    """Parameters of a price-based scheduler."""

    price_mode: str = parameter(
        "marginal",
        "Marginal (default) or literal, as printed in the paper",
        choices=MODES,
        title="Price floor",
    )
    floor_scale: float = parameter(
        1.0,
        "Multiple of the estimated price floor L; 2 halves U / L, the range of prices",
        low=1e-12,
        high=1e12,
        title="Factor of the price floor",
    )
    estimate_from: str = parameter(
        HISTORY,
        "History (default; only jobs that have arrived, recomputed whenever their number has doubled) or clairvoyant "
        "(all jobs of the scenario, including future ones); also for the horizon, where the cluster has none",
        choices=(HISTORY, CLAIRVOYANT),
        title="Jobs for the price bounds",
    )


@dataclass(frozen=True, slots=True)
class PriceParams:
    """Bounds of the prices, utility per whole unit and slot; a ceiling of 0 marks a resource that is free."""

    worker_floor: float  # L_1
    ps_floor: float  # L_2
    worker_ceiling: tuple[float, ...]  # U_1^r, in the order of RESOURCES
    ps_ceiling: tuple[float, ...]  # U_2^r

    def __post_init__(self) -> None:
        for role, floor, ceiling in (
            ("worker", self.worker_floor, self.worker_ceiling),
            ("ps", self.ps_floor, self.ps_ceiling),
        ):
            if not 0 < floor < math.inf:
                raise ModelError(f"prices: {role}_floor must be a finite number > 0, got {floor!r}")
            for name, most in zip(RESOURCES, ceiling, strict=True):
                if most and not floor < most < math.inf:
                    raise ModelError(f"prices: {role}_ceiling.{name} must be 0 or > the floor {floor!r}, got {most!r}")


class Wanting(Protocol):
    """Fields of one job that the marginal floor needs."""

    @property
    def worker_slots(self) -> float: ...
    @property
    def best(self) -> float: ...
    @property
    def worker(self) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class Claim:
    """Fields of one job that the estimate needs."""

    worker_slots: int  # W
    most: int  # workers in one slot
    best: float  # f_i of the shortest duration
    least: float  # f_i(T - a_i), at least MIN_SHARE f_i(0)
    worker: np.ndarray  # whole units of each resource
    ps: np.ndarray


def estimate(
    jobs: Iterable[Job],
    worker_capacity: np.ndarray,
    ps_capacity: np.ndarray,
    slot_ms: int,
    horizon: int,
    mode: str = "marginal",
    floor_scale: float = 1.0,
    window: int | None = None,
) -> PriceParams:
    """U and L from a history of jobs.

    Capacities are thousandths, [server, resource]; window: slots in which the jobs came, else all.

    floor_scale multiplies both floors: the paper's Figure 6 runs with U / L at x % of its true value, which is
    floor_scale = 100 / x (it does not say whether U or L moves; here L does).
    """
    if mode not in MODES:
        raise ModelError(f"price mode must be one of {', '.join(MODES)}, got {mode!r}")
    if not 0 < floor_scale < math.inf:
        raise ModelError(f"floor_scale must be a finite number > 0, got {floor_scale!r}")
    claims = [claim for job in jobs if (claim := claim_of(job, slot_ms, horizon)) is not None]
    slots = horizon if window is None else window
    worker_total = worker_capacity.sum(axis=0) / UNIT
    ps_total = ps_capacity.sum(axis=0) / UNIT
    worker_floor = _literal_floor(
        [(c.worker_slots, c.least, c.worker.sum()) for c in claims], slots * worker_total.sum()
    )
    ps_floor = _literal_floor([(c.worker_slots, c.least, c.ps.sum()) for c in claims], slots * ps_total.sum())
    if mode == "marginal":
        raised = max(1.0, marginal_density(claims, slots * worker_total) / worker_floor)
        worker_floor, ps_floor = worker_floor * raised, ps_floor * raised
    worker_floor, ps_floor = worker_floor * floor_scale, ps_floor * floor_scale
    return PriceParams(
        worker_floor,
        ps_floor,
        _ceiling([(c.best, c.worker) for c in claims], worker_floor),
        _ceiling([(c.best, c.ps) for c in claims], ps_floor),
    )


def sample_size(estimate_from: str, arrived: int, jobs: int) -> int:
    """Number of first jobs from which the bounds are estimated after n arrivals."""
    if estimate_from == CLAIRVOYANT:
        return jobs
    return 1 << (arrived.bit_length() - 1) if arrived else 0


def price(allocated: np.ndarray, capacity: np.ndarray, floor: float, ceiling: float) -> np.ndarray:
    """L (U / L) ** (allocated / capacity) of Eq. (22), element by element; what does not exist costs the ceiling."""
    if not ceiling:
        return np.zeros(np.broadcast_shapes(np.shape(allocated), np.shape(capacity)))
    share = np.divide(
        allocated,
        capacity,
        out=np.ones(np.broadcast_shapes(np.shape(allocated), np.shape(capacity))),
        where=capacity > 0,
    )
    return floor * np.exp(share * math.log(ceiling / floor))


def grid_of(worth: float) -> float:
    """Unit of the costs of a job with this maximum utility."""
    return GRID * 2.0 ** math.ceil(math.log2(worth)) if worth > 0 else GRID


class PriceBook:
    """Free amounts and prices on the servers of one role.

    Inside, axes are [resource, slot, server]: a decision sweeps one resource over many slots, which is then contiguous.
    """

    def __init__(
        self, capacity: np.ndarray, slots: int, floor: float, ceiling: Sequence[float], away: np.ndarray | None = None
    ) -> None:
        """away: [slot, server], true where a server is unavailable: nothing is free then, and it has no price."""
        self.capacity = np.ascontiguousarray(capacity.T, dtype=np.int64)  # [resource, server], thousandths
        self.floor, self.ceiling = floor, tuple(ceiling)
        shape = (len(RESOURCES), slots, capacity.shape[0])
        self.free = np.broadcast_to(self.capacity[:, None, :], shape).copy()  # thousandths
        self.price = np.empty(shape)  # per whole unit
        for r in range(len(RESOURCES)):
            self.price[r] = price(np.zeros_like(self.capacity[r]), self.capacity[r], floor, self.ceiling[r])
        self.away = np.zeros(shape[1:], dtype=bool) if away is None else away
        if self.away.any():
            self.free[:, self.away] = 0
            for r, most in enumerate(self.ceiling):
                self.price[r][self.away] = most
        self._memory = self.free, self.price, self.away

    def copy(self) -> PriceBook:
        """Copy of the book; changes to it leave this one as it is."""
        new = copy(self)
        new.free, new.price = self.free.copy(), self.price.copy()
        new._memory = new.free, new.price, new.away
        return new

    def append(self, slots: PriceBook) -> None:
        """Further slots at the end, from a book of the same servers. Memory doubles when it is used up."""
        old = self.free.shape[1]
        self.free, self.price, self.away = self._longer(old + slots.free.shape[1])
        self.free[:, old:], self.price[:, old:], self.away[old:] = slots.free, slots.price, slots.away

    def unit_cost(self, demand: Demand, slots: slice | np.ndarray) -> np.ndarray:
        """Price of one unit of `demand` on each server, [slot, server]."""
        parts = (
            self.price[r][slots] * (amount / UNIT) for r, amount in enumerate(demand) if amount and self.ceiling[r]
        )
        cost = next(parts, None)
        if cost is None:
            return np.zeros(self.price[0][slots].shape)
        for part in parts:
            cost += part
        return cost

    def room(self, demand: Demand, slots: slice | np.ndarray, most: int) -> np.ndarray:
        """Number of units of `demand` that each server can still hold, at most `most`, [slot, server]."""
        parts = (self.free[r][slots] // amount for r, amount in enumerate(demand) if amount)
        room = next(parts, None)
        if room is None:
            return np.full(self.free[0][slots].shape, most, dtype=np.int64)
        for part in parts:
            np.minimum(room, part, out=room)
        return np.minimum(room, most, out=room)

    def empty_room(self, demand: Demand) -> float:
        """Units of `demand` that all servers hold together when empty; infinite when the demand is zero."""
        wanted = [r for r, amount in enumerate(demand) if amount]
        return int(np.minimum.reduce([self.capacity[r] // demand[r] for r in wanted]).sum()) if wanted else math.inf

    def least_cost(self, demand: Demand) -> float:
        """Price of one unit of `demand` where everything is free: nothing is ever cheaper."""
        return sum(self.floor * amount / UNIT for amount, most in zip(demand, self.ceiling, strict=True) if most)

    def take(self, demand: Demand, slots: np.ndarray, servers: np.ndarray, counts: np.ndarray) -> None:
        """Allocation of `counts` units of `demand` in distinct (slot, server) cells, where it raises the prices."""
        for r, amount in enumerate(demand):
            if amount:
                self.free[r][slots, servers] -= amount * counts
        self._reprice(slots, servers)

    def hold(self, slots: np.ndarray, servers: np.ndarray, amounts: np.ndarray) -> None:
        """Allocation of `amounts` [cell, resource], in thousandths, in cells that may repeat."""
        for r in range(len(RESOURCES)):
            np.subtract.at(self.free[r], (slots, servers), amounts[:, r])
        self._reprice(slots, servers)

    def prices(self, slots: np.ndarray) -> np.ndarray:
        """Prices per whole unit, [slot, server, resource]; NaN where a server has none of the resource."""
        shown = self.price[:, slots, :].transpose(1, 2, 0).copy()
        shown[:, self.capacity.T == 0] = np.nan
        shown[self.away[slots]] = np.nan
        return shown

    def state(self) -> dict[str, Any]:
        """Cells with an allocation, and its amounts."""
        allocated = np.where(self.away, 0, self.capacity[:, None, :] - self.free)
        slots, servers = np.nonzero(allocated.any(axis=0))
        return {"slots": slots, "servers": servers, "allocated": allocated[:, slots, servers]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state` on a new book."""
        slots, servers = np.asarray(state["slots"], dtype=np.int64), np.asarray(state["servers"], dtype=np.int64)
        allocated = np.asarray(state["allocated"], dtype=np.int64).reshape(len(RESOURCES), len(slots))
        self.free[:, slots, servers] -= allocated
        self._reprice(slots, servers)

    def set_bounds(self, floor: float, ceiling: Sequence[float]) -> None:
        """New bounds: all prices follow from the allocation."""
        self.floor, self.ceiling = floor, tuple(ceiling)
        for r, most in enumerate(self.ceiling):
            self.price[r] = price(self.capacity[r] - self.free[r], self.capacity[r], floor, most)
            self.price[r][self.away] = most

    def _longer(self, slots: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The free amounts, prices and outages with n slots, the last ones with any values."""
        if slots > len(self._memory[2]):
            most = max(slots, 2 * len(self._memory[2]))
            self._memory = _moved(self.free, most, 1), _moved(self.price, most, 1), _moved(self.away, most, 0)
        free, price, away = self._memory
        return free[:, :slots], price[:, :slots], away[:slots]

    def _reprice(self, slots: np.ndarray, servers: np.ndarray) -> None:
        for r, most in enumerate(self.ceiling):
            capacity = self.capacity[r][servers]
            self.price[r][slots, servers] = price(capacity - self.free[r][slots, servers], capacity, self.floor, most)


def _moved(array: np.ndarray, length: int, axis: int) -> np.ndarray:
    """Array of that length along an axis, which begins with the values of `array`."""
    moved = np.empty((*array.shape[:axis], length, *array.shape[axis + 1 :]), dtype=array.dtype)
    moved[(slice(None),) * axis + (slice(array.shape[axis]),)] = array
    return moved


def claim_of(job: Job, slot_ms: int, horizon: int) -> Claim | None:
    """Claim of a job; None if it can earn no utility before the horizon, or lacks a field."""
    if job.worker is None or job.ps is None or job.utility is None or job.num_chunks is None or job.epochs is None:
        return None
    if job.minibatches_per_chunk is None or job.minibatch_ms is None or job.gradient_mb is None:
        return None
    left = horizon - arrival_slot(job.arrival_ms, slot_ms)
    if left <= 0 or not math.isfinite(oasis_minibatch_ms(job)):
        return None
    worker_slots = oasis_worker_slots(job, slot_ms)
    if worker_slots > job.num_chunks * left:
        return None
    best = utility_at(job.utility, -(-worker_slots // job.num_chunks) - 1)
    least = max(utility_at(job.utility, left - 1), MIN_SHARE * utility_at(job.utility, 0))
    most = min(job.num_chunks, worker_slots)
    return (
        Claim(worker_slots, most, best, least, np.array(job.worker) / UNIT, np.array(job.ps) / UNIT)
        if best > 0
        else None
    )


def _literal_floor(claims: Sequence[tuple[int, float, float]], total: float) -> float:
    """Eq. (25) or (26): 1 / (4 eta) of the least utility per unit and slot. 1 without any demand."""
    wants = [(worker_slots * units, least) for worker_slots, least, units in claims if units > 0]
    if not wants or not total:
        return 1.0
    scale = min(1.0, min(want for want, _ in wants) / total)  # 1 / eta
    return scale / 4 * min(least / want for want, least in wants)


def marginal_density(claims: Sequence[Wanting], total: np.ndarray) -> float:
    """Utility per unit and slot of the job that fills the cluster when the densest go first; 0 if all fit."""
    wants = [(c.best / (c.worker_slots * c.worker.sum()), c.worker_slots * c.worker) for c in claims if c.worker.any()]
    load = np.zeros(len(RESOURCES))
    for density, want in sorted(wants, key=lambda w: -w[0]):
        load += want
        if (load[total > 0] >= total[total > 0]).any():
            return float(density)
    return 0.0


def _ceiling(claims: Sequence[tuple[float, np.ndarray]], floor: float) -> tuple[float, ...]:
    """Eq. (23) or (24), at least e times the floor; 0 for a resource without demand."""
    most = []
    for r in range(len(RESOURCES)):
        wants = [best / demand[r] for best, demand in claims if demand[r] > 0]
        most.append(max(max(wants), math.e * floor) if wants else 0.0)
    return tuple(most)
