"""Metrics of schedulers whose jobs share machines in groups, from the events of a run.

Their definitions are in reporting/metric_table.py. The utilization of CPU and network differs from Harmony, Eq. (3), by
which the paper computes it: an iteration takes its actual time, including disk reads and garbage collection, and a job
does not iterate while it moves or after it has completed. Without these effects, both definitions give the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling.model.values import Event
from scheduling.reporting.parts import Part, Played, present_ms


class Groups(Part):
    """Collector of the part `groups`: the groups of a run up to the last completion so far."""

    model = "colocation"
    name = "groups"

    def __init__(self) -> None:
        self.current: dict[int, tuple[int, Mapping[str, Any]]] = {}  # group -> (counted up to, data)
        # (from_ms, until_ms, data) of stretches since the last completion, which count if another one comes
        self.behind: list[tuple[int, int, Mapping[str, Any]]] = []
        self.cpu = self.net = self.jobs_ms = self.group_ms = self.machine_ms = 0.0
        self.regroupings = self.moves = 0
        self.any = False
        self.done: dict[int, int] = {}  # job -> completion, ms

    def feed(self, event: Event) -> None:
        if event.kind == "grouped":
            self.any = True
            data = event.data
            since, before = self.current.pop(data["group"], (event.at_ms, {}))
            if since < event.at_ms:
                self.behind.append((since, event.at_ms, before))
            if data["jobs"]:
                self.current[data["group"]] = event.at_ms, data
        elif event.kind == "job_completed":
            self.done[event.data["job"]] = event.at_ms
            self._count(event.at_ms)
        elif event.kind == "regrouped":
            self.regroupings += 1
        elif event.kind == "decided" and event.data["kind"] == "moved":
            self.moves += 1

    def metrics(self, run: Played) -> dict[str, Any] | None:
        """Metrics from the first arrival to the last completion, in the phases of this model: shares and means."""
        if not self.any:
            return None
        stretches = run.stretches(self.model, max(run.completions.values(), default=run.first_ms))
        lasted = sum(end - begin for begin, end, _ in stretches)
        area = sum(present_ms(server, begin, end) for begin, end, then in stretches for server in then.servers)
        return {
            "cpu_utilization": _over(self.cpu, area), "net_utilization": _over(self.net, area),
            "mean_jobs": _over(self.jobs_ms, lasted), "mean_groups": _over(self.group_ms, lasted),
            "mean_parallelism": _over(self.machine_ms, self.group_ms),
            "regroupings": self.regroupings, "moves": self.moves,
        }  # fmt: skip

    def _count(self, at_ms: int) -> None:
        stretches = self.behind + [(since, at_ms, data) for since, data in self.current.values()]
        self.behind = []
        self.current = {group: (at_ms, data) for group, (_, data) in self.current.items()}
        for since, until, data in stretches:
            lasted = until - since
            cpu, net = busy_ms(data, since, until, self.done)
            self.cpu += cpu
            self.net += net
            self.jobs_ms += len(data["jobs"]) * lasted
            self.group_ms += lasted
            self.machine_ms += data["machines"] * lasted


def busy_ms(data: Mapping[str, Any], from_ms: int, until_ms: int, done: Mapping[int, int]) -> tuple[float, float]:
    """Machine time in ms in which the CPUs and the networks of a group are busy.

    A job iterates from the time at which it is ready until its completion (`done`); its group may continue after that.
    """
    cpu = net = 0.0
    for job, comp, comm, pace, ready in zip(
        data["jobs"], data["comp_ms"], data["comm_ms"], data["pace_ms"], data["ready_ms"], strict=True
    ):
        iterations = max(0, min(until_ms, done.get(job, until_ms)) - max(from_ms, ready)) / pace
        cpu += comp * iterations
        net += comm * iterations
    return cpu * data["machines"], net * data["machines"]


def _over(amount: float, time: float) -> float | None:
    """Mean over a time; None where that is empty, as without a completed job."""
    return amount / time if time else None
