"""Partial allocation of Themis: proportionally fair shares, of which each winner gives back a part as its payment.

A bid is the valuation 1 / rho of a job for each number of workers; the valuation without workers is 0. Every
bidder gets a worker, the first bidders first, as far as there is room; then the product of the winners' valuations is
maximized [Nash welfare], one worker at a time to the bidder whose valuation grows most for the resources that it takes.
That is the greatest product where all workers need the same and speed does not depend on places, since the logarithm of
a valuation is concave in the number of workers; otherwise it is a heuristic. A winner keeps the part c of its workers,
c = the product of the valuations of the other winners / the product that they could have without it [hidden payments].
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduling.slotted.auction.places import Places
from scheduling.slotted.gangs.rates import Shape

ROUNDING = 1e-9  # workers; a product that is an integer up to rounding is that integer


@dataclass(frozen=True, slots=True)
class Bidder:
    """Job in an auction.

    most      workers
    elapsed   slots since its arrival
    together  slots in which one worker does the work that is left, in a gang on one server
    spread    the same in a gang on several servers
    cost      dominant share of one worker with its parameter servers
    """

    job: int
    shape: Shape
    most: int
    elapsed: float
    together: float
    spread: float
    cost: float

    def time(self, workers: int, one_server: bool) -> float:
        """Slots from arrival to completion with these workers from now on: rho without its divisor."""
        return self.elapsed + (self.together if one_server else self.spread) / workers


class Auction:
    """One auction over the free room of `places`; bidders in the order of their rights to a first worker."""

    def __init__(self, places: Places, bidders: Sequence[Bidder]) -> None:
        self.places = places
        self.bidders = {bidder.job: bidder for bidder in bidders}
        self.parts: dict[int, float] = {}  # of each winner, the part of its workers that it keeps

    def run(self, payments: bool = True) -> None:
        """Winners, with their payments made."""
        fair = self.places
        for bidder in self.bidders.values():
            fair.grow(bidder.job, bidder.shape, bidder.most)
        self._fill(fair, self.bidders)
        winners = [job for job in self.bidders if job in fair.workers]
        self.parts = {job: self._kept(fair, job, winners) if payments else 1.0 for job in winners}
        for job, part in self.parts.items():
            workers = max(1, math.floor(part * fair.workers[job] + ROUNDING))
            if workers < fair.workers[job]:
                fair.shrink(job, self.bidders[job].shape, workers)

    def _kept(self, fair: Places, job: int, winners: Sequence[int]) -> float:
        """Part of its workers that a winner keeps."""
        if fair.workers[job] == 1 or len(winners) == 1:
            return 1.0
        without = fair.copy()
        without.leave(job, self.bidders[job].shape)
        self._fill(without, [other for other in winners if other != job])
        lost = sum(self._time(fair, other) - self._time(without, other) for other in winners if other != job)
        return min(1.0, math.exp(-lost))

    def _fill(self, places: Places, jobs: Iterable[int]) -> None:
        """More workers for these winners, by the greatest gain, until no worker fits or helps."""
        heap = [(-gain, job) for job in jobs if job in places.workers and (gain := self._gain(places, job)) > 0]
        heapq.heapify(heap)
        while heap:
            _, job = heapq.heappop(heap)
            bidder = self.bidders[job]
            before = places.mark(job) if places.local else None
            time = self._time(places, job)
            if not places.grow(job, bidder.shape, bidder.most):
                continue
            real = (time - self._time(places, job)) / bidder.cost
            if before is not None and (real <= 0 or (heap and real < -heap[0][0])):  # it had to leave its server
                places.undo(job, before)
                if real > 0:
                    heapq.heappush(heap, (-real, job))
                continue
            gain = self._gain(places, job)
            if gain > 0:
                heapq.heappush(heap, (-gain, job))

    def _gain(self, places: Places, job: int) -> float:
        """Growth of the logarithm of the valuation by one more worker, if the gang stays as it is, per cost."""
        bidder, workers = self.bidders[job], places.workers[job]
        if workers >= bidder.most:
            return 0.0
        more = bidder.time(workers + 1, places.on_one(job))
        return (self._time(places, job) - math.log(more)) / bidder.cost

    def _time(self, places: Places, job: int) -> float:
        """Minus the logarithm of the valuation, up to a constant of the job."""
        return math.log(self.bidders[job].time(places.workers[job], places.on_one(job)))


def share_left(places: Places, bidders: Sequence[Bidder]) -> None:
    """Room that is left, one worker after another to these jobs in turn, as long as it fits and helps."""
    turn = list(bidders)
    while turn:
        again = []
        for bidder in turn:
            job, workers = bidder.job, places.workers.get(bidder.job, 0)
            if workers >= bidder.most:
                continue
            before = places.mark(job) if places.local and workers else None
            time = bidder.time(workers, places.on_one(job)) if workers else math.inf
            if not places.grow(job, bidder.shape, bidder.most):
                continue
            if before is not None and bidder.time(workers + 1, places.on_one(job)) >= time:
                places.undo(job, before)
                continue
            again.append(bidder)
        turn = again
