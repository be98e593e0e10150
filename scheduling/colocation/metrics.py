"""Metrics of schedulers whose jobs share machines in groups, from `grouped` events alone.

Their definitions are in reporting/metric_table.py; utilization is the time-averaged Eq. (4) of Harmony's paper.
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
        self.present: dict[int, tuple[int, Mapping[str, Any]]] = {}  # group -> (counted up to, data)
        # (ms, data) of stretches since the last completion, which count if another one comes
        self.behind: list[tuple[int, Mapping[str, Any]]] = []
        self.cpu = self.net = self.jobs_ms = self.group_ms = self.machine_ms = 0.0
        self.regroupings = self.moves = 0
        self.any = False

    def feed(self, event: Event) -> None:
        if event.kind == "grouped":
            self.any = True
            data = event.data
            since, before = self.present.pop(data["group"], (event.at_ms, {}))
            if since < event.at_ms:
                self.behind.append((event.at_ms - since, before))
            if data["jobs"]:
                self.present[data["group"]] = event.at_ms, data
        elif event.kind == "job_completed":
            self._count(event.at_ms)
        elif event.kind == "regrouped":
            self.regroupings += 1
        elif event.kind == "decided" and event.data["kind"] == "moved":
            self.moves += 1

    def figures(self, run: Played) -> dict[str, Any] | None:
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
        stretches = self.behind + [(at_ms - since, data) for since, data in self.present.values()]
        self.behind = []
        self.present = {group: (at_ms, data) for group, (_, data) in self.present.items()}
        for lasted, data in stretches:
            self.cpu += data["cpu_utilization"] * data["machines"] * lasted
            self.net += data["net_utilization"] * data["machines"] * lasted
            self.jobs_ms += len(data["jobs"]) * lasted
            self.group_ms += lasted
            self.machine_ms += data["machines"] * lasted


def _over(amount: float, time: float) -> float | None:
    """Mean over a time; None where that is empty, as without a completed job."""
    return amount / time if time else None
