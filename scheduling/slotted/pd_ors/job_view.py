"""View of the machines for one job (PD-ORS): the cost of a unit, how many fit, and free amounts, in each kind of slots.

Slots in which the cluster is in the same state are of one kind. Arrays are [kind, server] unless stated otherwise; the
first of a pair is about workers, the second about parameter servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from scheduling.model.training_models import LIMITS
from scheduling.model.values import Demand, Job
from scheduling.slotted.pricing.prices import PriceBook
from scheduling.slotted.solvers.multi_machine_exact import Machines
from scheduling.slotted.solvers.single_machine import pair_room
from scheduling.slotted.solvers.slot_cost import cheapest_first

COUNTED = len(LIMITS["pd-ors"])  # resources that a server runs out of, the first of RESOURCES


class View:
    """Capacity for up to `most` workers of a job in a slot, and for their parameter servers."""

    def __init__(
        self, job: Job, most: int, slots: np.ndarray, book: PriceBook, hosts: Sequence[np.ndarray], grid: float
    ) -> None:
        """slots: one of each kind; hosts: [server] whether it takes workers, and parameter servers.

        grid: costs are multiples of it.
        """
        assert job.workers_per_ps is not None
        self.most, self.kinds, self.servers = most, len(slots), len(hosts[0])
        self.demands = counted(job.worker), counted(job.ps)
        self.group = min(job.workers_per_ps, most)  # workers per parameter server
        self.ps_of = -(-np.arange(most + 1) // max(1, self.group))  # parameter servers of 0, 1, ... workers
        wanted = [r for r in range(COUNTED) if self.demands[0][r] or self.demands[1][r]]
        self.alpha, self.beta = (np.array([demand[r] for r in wanted], dtype=np.int64) for demand in self.demands)
        self.free = book.free[np.array(wanted, dtype=np.int64)[:, None], slots]  # thousandths, [resource, kind, server]
        worker, ps = (np.rint(book.unit_cost(demand, slots) / grid) * grid for demand in self.demands)
        self.unit = worker, ps
        present = ~book.away[slots]
        workers, parameter_servers = (
            np.where(present & own, book.room(demand, slots, limit), 0)
            for demand, own, limit in zip(self.demands, hosts, (most, int(self.ps_of[-1])), strict=True)
        )
        self.room = workers, parameter_servers
        self.pairs = np.where(  # workers that fit on one machine with their parameter servers
            present & hosts[0] & hosts[1], pair_room(self.free, self.alpha, self.beta, self.group, most), 0
        )
        self.orders = cheapest_first(worker, workers), cheapest_first(ps, parameter_servers)
        self.counts = [np.count_nonzero(room, axis=1).tolist() for room in self.room]  # of servers with room

    def hosts_of(self, kind: int, role: int) -> np.ndarray:
        """Servers on which one unit fits, the cheapest first; of equal ones the lowest."""
        order: np.ndarray = self.orders[role][kind, : self.counts[role][kind]]
        return order

    def machines(self, kind: int) -> Machines:
        """Slots of one class in the form that the solvers need."""
        (unit_w, unit_p), (room_w, room_p) = self.unit, self.room
        return Machines(
            self.free[:, kind].T, self.alpha, self.beta, unit_w[kind], unit_p[kind], room_w[kind], room_p[kind]
        )


def counted(demand: Demand | None) -> Demand:
    """Demand of the resources that servers can run out of."""
    assert demand is not None
    return cast(Demand, (*demand[:COUNTED], *[0] * (len(demand) - COUNTED)))
