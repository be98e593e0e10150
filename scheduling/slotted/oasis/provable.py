"""Price bounds for which the competitive ratio of OASiS has a proof (docs/papers/primal_dual.md, Theorem A).

Ours. The paper's proof needs D_0 <= OPT / 2, where D_0 is the value of all capacity at the floor L, and takes a dual
point that is not feasible. Here D_0 = V / 2, where V is the utility of a schedule that can be carried out, so V <= OPT;
and the ceilings U are raised so that a schedule that does not fit costs more than it is worth, if no job takes more
than the share `delta` of a server in a slot. Where a job may take more than MAX_SHARE, ceilings stay those of the
paper, and there is no proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scheduling.model.utility import arrival_slot
from scheduling.model.values import RESOURCES, Job
from scheduling.slotted.oasis.quote import Quote, most_at_once
from scheduling.slotted.pricing.prices import UNIT, Claim, PriceBook, PriceParams, claim_of

PROVABLE = "provable"
MAX_SHARE = 0.5  # of a server, for the proof
_FREE = (0.0,) * len(RESOURCES)


def provable_bounds(
    jobs: Sequence[Job], workers: np.ndarray, ps: np.ndarray, slot_ms: int, horizon: int, window: int,
    training: str = "oasis", floor_scale: float = 1.0,
) -> PriceParams:  # fmt: skip
    """L and U from jobs that came within `window` slots. Capacities: thousandths, [server, resource].

    floor_scale multiplies the floors; there is no proof unless it is at most 1.
    """
    known = [(job, claim) for job in jobs if (claim := claim_of(job, slot_ms, horizon)) is not None]
    claims = [claim for _, claim in known]
    value = feasible_value([job for job, _ in known], claims, workers, ps, slot_ms, horizon, training)
    most = _dearest(claims, [claim.worker for claim in claims]), _dearest(claims, [claim.ps for claim in claims])
    wanted = sum(
        float(capacity.sum(axis=0)[ceiling > 0].sum()) / UNIT
        for capacity, ceiling in zip((workers, ps), most, strict=True)
    )
    floor = value / (2 * window * wanted) * floor_scale if value and wanted else 1.0
    share = largest_share(claims, workers, ps)
    power = 1 / (1 - share) if share <= MAX_SHARE else 1.0
    ceilings = [tuple(_raised(floor, best, power) if best else 0.0 for best in role.tolist()) for role in most]
    return PriceParams(floor, floor, ceilings[0], ceilings[1])


def feasible_value(
    jobs: Sequence[Job], claims: Sequence[Claim], workers: np.ndarray, ps: np.ndarray, slot_ms: int, horizon: int,
    training: str = "oasis",
) -> float:  # fmt: skip
    """V: utility of one schedule of these jobs, the densest first, each as early as it fits."""
    books = (PriceBook(workers, horizon, 1.0, _FREE), PriceBook(ps, horizon, 1.0, _FREE))
    density = [
        claim.best / (claim.worker_slots * max(float((claim.worker + claim.ps).sum()), 1e-9)) for claim in claims
    ]
    total = 0.0
    for i in sorted(range(len(jobs)), key=lambda i: -density[i]):
        job, need = jobs[i], claims[i].worker_slots
        first = arrival_slot(job.arrival_ms, slot_ms)
        most = most_at_once(job, need, horizon - first, books[0])
        if need > most * (horizon - first):
            continue
        quote = Quote(job, need, most, first, horizon, books, training)
        best = quote.best()
        if best is None:
            continue
        for book, demand, units in zip(books, quote.demands, quote.place(best), strict=True):
            book.take(demand, units.slots, units.servers, units.counts)
        total += float(quote.utility[best.last])
    return total


def largest_share(claims: Sequence[Claim], workers: np.ndarray, ps: np.ndarray) -> float:
    """Delta: largest share of one resource of a server that a job can take in a slot, at most 1."""
    shares = [0.0]
    for claim in claims:
        for unit, servers in ((claim.worker, workers), (claim.ps, ps)):
            wants = unit > 0
            units = servers[:, wants] / UNIT / unit[wants]  # [server, resource] units that fit
            fits = units.min(axis=1, initial=np.inf) >= 1
            if wants.any() and fits.any():
                shares.append(float((np.minimum(claim.most, units[fits].min(axis=1))[:, None] / units[fits]).max()))
    return min(1.0, max(shares))


def _dearest(claims: Sequence[Claim], units: Sequence[np.ndarray]) -> np.ndarray:
    """Greatest utility per unit of each resource [OASiS, Eq. 23 and 24]; 0 without demand."""
    most = np.zeros(len(RESOURCES))
    for claim, unit in zip(claims, units, strict=True):
        np.maximum(most, np.divide(claim.best, unit, out=np.zeros_like(unit), where=unit > 0), out=most)
    return most


def _raised(floor: float, best: float, power: float) -> float:
    """Ceiling: a cell that is full up to 1 - delta costs `best`; at least e times the floor."""
    return max(floor * min((best / floor) ** power, 1e300 / floor) if best > floor else best, math.e * floor)
