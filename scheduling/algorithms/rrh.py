"""RRH, the risk-reward heuristic of Irwin, Grit and Chase (HPDC 2004), a baseline of OASiS.

It weighs the utility of a job now against its cost for other jobs.

The method of Irwin et al., adapted to training jobs. A job has a fixed number of
workers, as under FIFO. With RPT the slots that its work still takes and PV = f(duration if it ran from now on) / (1 +
discount RPT):

- In the first slot after its arrival it is admitted if PV - cost > threshold. Its cost is what the admitted jobs
  would lose if all of them waited for RPT slots, and nothing if it fits beside those that run.
- In every slot the admitted jobs are placed in the order of PV / RPT, whole gangs only; jobs that are not placed pause,
  at no cost. That is done when a job arrives or completes, or a server becomes available or unavailable: in between,
  the reward of running jobs only rises and that of waiting jobs only falls.

Differs from that: RPT is by the external rate with the training model of PD-ORS, since the placement is not known
before; a gang that cannot fit even the empty cluster is rejected. Equal rewards: in order of arrival. The rule knows no
horizon; a job that it cuts off is worth nothing. Ours: the round-robin pointers start at the first server in every
slot, so that unaffected jobs stay in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.kernel.parameters import parameter
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.model.decision import Decision, Reason, Verdict
from scheduling.model.training_models import EPSILON, gang_size
from scheduling.model.utility import OVERFLOW, arrival_slot
from scheduling.model.values import Cluster, Job
from scheduling.slotted.gangs.packing import Packing, Units
from scheduling.slotted.gangs.rates import GangParameters, Shape
from scheduling.slotted.reallocation import ReallocatingScheduler


@dataclass(frozen=True, slots=True)
class RrhParameters(GangParameters):
    discount: float = parameter(
        0.01,
        "Rate at which utility is discounted per slot until completion",
        low=0.0,
        unit="1/slot",
        title="Discount rate",
    )
    threshold: float = parameter(
        0.0, "Minimum excess of discounted utility over cost for admission", unit="utility", title="Admission threshold"
    )


class Rrh(ReallocatingScheduler):
    """RRH: fixed gangs in the order of reward."""

    name = "rrh"
    title = "RRH"
    paper = "Irwin, Grit, Chase: Balancing Risk and Reward in a Market-Based Task Service, HPDC 2004"
    summary = (
        "Admits a job if its utility exceeds the loss of the other jobs, and runs the "
        "jobs with the highest utility per slot."
    )
    needs = (*ReallocatingScheduler.needs, "requested_workers", "utility")
    Parameters = RrhParameters

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        super().start(cluster, jobs, rng)
        self.fresh: list[int] = []  # arrived since the last slot, in order
        self.values: dict[int, tuple[float, float, float, int]] = {}  # priority, sensitivity, target, arrival slot
        self.workers: dict[int, int] = {}
        self.rates: dict[int, float] = {}  # work of the gang in one slot

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        decision = super().on_arrival(now_ms, job)
        if job in self.shapes:
            self._know(job)
            self.fresh.append(job)
        return decision

    def on_completion(self, now_ms: int, job: int) -> Decision:
        self._forget(job)
        return super().on_completion(now_ms, job)

    def cannot_start(self, job: int, shape: Shape) -> Reason | None:
        row, workers = self.jobs[job], self._gang(job, shape)
        for role, demand, count in (("worker", row.worker, workers), ("ps", row.ps, shape.ps_of(workers))):
            assert demand is not None
            most = self.room.places(role, demand, count)
            if count > most:
                return Reason("gang_too_large", {"role": role, "count": count, "most": most})
        if Packing(self.servers, everywhere=True).gang(shape, workers) is None:
            return Reason("gang_fits_nowhere", {"workers": workers, "ps": shape.ps_of(workers)})
        return None

    def allocate(self, now_ms: int, slot: int) -> tuple[Mapping[int, Units], Sequence[Verdict]]:
        verdicts = self._admit(slot) if self.fresh else ()
        packing = Packing(self.servers)
        gangs = {}
        for job in self._ranked(slot):
            units = packing.gang(self.shapes[job], self.workers[job])
            if units is not None:
                gangs[job] = units
        return gangs, verdicts

    def why(self, job: int, kind: str, units: Units) -> Reason:
        slot = self.servers.slot
        rest = int(self._rest([job], slot)[0])
        values = {"workers": self.workers[job], "ps": self.shapes[job].ps_of(self.workers[job]), "rest_slots": rest}
        worth = float(self._worth([job], slot, np.array([rest]))[0])
        return Reason(
            "outbid" if kind == "preempted" else "rewarding", values | {"reward": self._present(worth, rest) / rest}
        )

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        super().adopt_plans(now_ms, before, kept)
        for job in kept:
            self._know(job)

    def state(self) -> dict[str, Any]:
        return super().state() | {"fresh": list(self.fresh)}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        for job in self.shapes:
            self._know(job)
        self.fresh = [int(job) for job in state["fresh"]]

    def _know(self, job: int) -> None:
        row = self.jobs[job]
        worth = row.utility
        terms = (worth.priority, worth.sensitivity, worth.target_slots) if worth else (0.0, 0.0, 0.0)
        self.values[job] = (*terms, arrival_slot(row.arrival_ms, self.cluster.slot_ms))
        self.workers[job] = self._gang(job, self.shapes[job])
        self.rates[job] = self.training.per_slot(row, self.workers[job], internal=False)

    def _forget(self, job: int) -> None:
        for book in (self.values, self.workers, self.rates):
            book.pop(job, None)

    def _gang(self, job: int, shape: Shape) -> int:
        return gang_size(self.jobs[job], shape.most)

    def _admit(self, slot: int) -> list[Verdict]:
        """Verdicts on the jobs that have arrived; rejected ones are removed."""
        verdicts = []
        beside = Packing(self.servers)
        for job, units in self.held.items():
            if all(self.servers.open[server] for _, server, _ in units):
                beside.take(self.shapes[job], units)
        admitted = [job for job in self.shapes if job not in set(self.fresh)]
        rest = self._rest(admitted, slot)
        worth = self._worth(admitted, slot, rest)
        for job in self.fresh:
            own = self._rest([job], slot)
            gain = self._worth([job], slot, own)
            value = self._present(float(gain[0]), int(own[0]))
            fits = beside.gang(self.shapes[job], self.workers[job]) is not None
            cost = 0.0 if fits else float(np.maximum(0.0, worth - self._worth(admitted, slot, rest + own[0])).sum())
            values = {
                "value": value,
                "cost": cost,
                "threshold": self.parameters.threshold,
                "rest_slots": int(own[0]),
                "beside": fits,
            }
            if value - cost > self.parameters.threshold:
                verdicts.append(Verdict(job, "admitted", Reason("reward_exceeds_cost", values)))
                admitted.append(job)
                rest, worth = np.append(rest, own), np.append(worth, gain)
            else:
                verdicts.append(Verdict(job, "rejected", Reason("reward_too_low", values)))
                del self.shapes[job]
                self._forget(job)
        self.fresh = []
        return verdicts

    def _ranked(self, slot: int) -> list[int]:
        """Admitted jobs by descending reward."""
        jobs = sorted(self.shapes)
        rest = self._rest(jobs, slot)
        reward = self._worth(jobs, slot, rest) / (1 + self.parameters.discount * rest) / rest
        return [jobs[i] for i in np.argsort(-reward, kind="stable").tolist()]

    def _rest(self, jobs: Sequence[int], slot: int) -> np.ndarray:
        """Slots that the remaining work takes with the whole gang, at least 1."""
        slots = np.array([self._left_at(job, slot) / self.rates[job] for job in jobs], dtype=float)
        return np.maximum(1.0, np.ceil(slots - EPSILON))

    def _worth(self, jobs: Sequence[int], slot: int, rest: np.ndarray) -> np.ndarray:
        """Utility of each job when it completes `rest` slots from now."""
        priority, sensitivity, target, arrival = (
            np.array([self.values[job] for job in jobs], dtype=float).reshape(-1, 4).T
        )
        exponent = sensitivity * (slot + rest - 1 - arrival - target)
        return np.where(exponent > OVERFLOW, 0.0, priority / (1.0 + np.exp(np.minimum(exponent, OVERFLOW))))

    def _present(self, worth: float, rest: int) -> float:
        return worth / (1 + self.parameters.discount * rest)
