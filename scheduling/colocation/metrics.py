"""Metrics of schedulers whose jobs share machines in groups, from `grouped` events alone.

Their definitions are in reporting/metric_table.py; utilization is the time-averaged Eq. (4) of Harmony's paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling.model.values import Cluster, Event
from scheduling.reporting.parts import Part, Played


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
        """Metrics from the first arrival to the last completion; shares from 0 to 1, means over that time."""
        return (
            self._means(run.cluster, run.first_ms, max(run.completions.values(), default=run.first_ms))
            if self.any
            else None
        )

    def _means(self, cluster: Cluster, first_ms: int, last_ms: int) -> dict[str, Any]:
        lasted = max(1, last_ms - first_ms)
        area = lasted * max(1, len(cluster.servers))
        return {
            "cpu_utilization": self.cpu / area, "net_utilization": self.net / area, "mean_jobs": self.jobs_ms / lasted,
            "mean_groups": self.group_ms / lasted,
            "mean_parallelism": self.machine_ms / self.group_ms if self.group_ms else None,
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
