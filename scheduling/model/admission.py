"""Infeasibility of a job under any schedule: a missing part, or a unit that no server can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduling.model.decision import Reason
from scheduling.model.training_models import LIMITS
from scheduling.model.values import BANDWIDTH, RESOURCES, Cluster, Demand, Job

UNLIMITED = 1 << 40  # units of a role that needs nothing


def missing_part(job: Job, needs: Sequence[str]) -> Reason | None:
    """First needed part that the job lacks."""
    for part in needs:
        if getattr(job, part) is None:
            return Reason("missing_part", {"part": part})
    return None


class Room:
    """Capacity of the empty cluster for each role, cached per distinct demand."""

    def __init__(
        self, cluster: Cluster, hosts: Mapping[str, Sequence[int]] | None = None, limits: Sequence[str] = RESOURCES
    ) -> None:
        """hosts: the servers of each role, where a scheduler uses fewer than the cluster allows.

        limits: the resources that a server can run out of in the scheduler's model.
        """
        self.limited = [r for r, name in enumerate(RESOURCES) if name in limits]
        allowed = hosts or {
            role: [i for i, s in enumerate(cluster.servers) if role in s.roles] for role in ("worker", "ps")
        }
        self.capacities = {role: [cluster.servers[i].capacity for i in servers] for role, servers in allowed.items()}
        self.known: dict[tuple[str, Demand], Reason | None] = {}

    def refuses(self, role: str, demand: Demand) -> Reason | None:
        """fits_nowhere when one unit of `demand` fits on no empty server of that role.

        The values name the resource that falls shortest: `need` and the `most` that any server has, in whole units.
        """
        key = (role, demand)
        if key not in self.known:
            self.known[key] = self._judge(role, demand)
        return self.known[key]

    def places(self, role: str, demand: Demand, enough: int) -> int:
        """Number of units of `demand` that fit together on the empty servers of that role , counted up to `enough`.

        The exact number when it is below `enough`: most gangs find room on the first servers, of thousands.
        """
        wanted = [r for r in self.limited if demand[r]]
        total = 0
        for capacity in self.capacities[role]:
            total += min((capacity[r] // demand[r] for r in wanted), default=UNLIMITED)
            if total >= enough:
                break
        return total

    def _judge(self, role: str, demand: Demand) -> Reason | None:
        capacities = self.capacities[role]
        for capacity in capacities:  # mostly the first
            for r in self.limited:
                if demand[r] > capacity[r]:
                    break
            else:
                return None
        most = [max((c[r] for c in capacities), default=0) for r in range(len(RESOURCES))]
        lacking = [r for r in self.limited if demand[r] > most[r]]
        if not lacking:  # each resource exists somewhere, but no one server has them all
            return Reason("fits_nowhere_together", {"role": role, "need": [n / 1000 for n in demand]})
        worst = max(lacking, key=lambda r: demand[r] / most[r] if most[r] else float("inf"))
        values = {"role": role, "resource": RESOURCES[worst], "need": demand[worst] / 1000, "most": most[worst] / 1000}
        return Reason("fits_nowhere", values)


def impossible(job: Job, needs: Sequence[str], room: Room, training: str = "oasis") -> Reason | None:
    """Reason why no schedule could ever run the job with that training model, or None."""
    reason = missing_part(job, needs)
    if reason is None and "bandwidth" in LIMITS[training] and job.worker is not None and job.ps is not None:
        reason = _starved(job.worker[BANDWIDTH], job.ps[BANDWIDTH], job.gradient_mb)
    if reason is None and job.worker is not None:
        reason = room.refuses("worker", job.worker)
    if reason is None and job.ps is not None:
        reason = room.refuses("ps", job.ps)
    return reason


def _starved(bandwidth: int, ps_bandwidth: int, gradient_mb: float | None) -> Reason | None:
    """Gradients that cannot travel, or parameter servers slower than a worker: ceil(y b / B) > y for all y (OASiS)."""
    if bandwidth == 0 and gradient_mb:
        return Reason("missing_part", {"part": "worker.bandwidth"})
    if bandwidth > ps_bandwidth:
        return Reason("ps_too_slow", {"worker_gbps": bandwidth / 1000, "ps_gbps": ps_bandwidth / 1000})
    return None
