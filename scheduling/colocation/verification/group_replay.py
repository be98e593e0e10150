"""Replay of the groups of a log, with the iterations that each job makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scheduling.colocation.verification.group_checks import LISTS, GroupChecks
from scheduling.colocation.verification.job_facts import facts_of
from scheduling.colocation.verification.tolerance import CLOSE
from scheduling.model.bars import JOB, ROLE
from scheduling.verification.rules import WORKER, Row, Stage

MODEL = "colocation"


class Stretch(NamedTuple):
    """Time of a group without a change."""

    start: int
    end: int
    data: Row


class GroupReplay(GroupChecks):
    """Replay of the groups, with one method per event type and `settle` at the end of an instant.

    In a run of several phases, `hand_over` and `enter` follow the change from one to the next.
    """

    def __init__(
        self, cluster: Row, jobs: Sequence[Row], parameters: Row, problems: list[str], *, fills: bool = False
    ) -> None:
        super().__init__(cluster, jobs, parameters, problems, fills=fills)
        self.grouping = True  # the current phase is of this model
        self.planned: set[int] = set()  # jobs that have had a plan
        self.spans: dict[int, list[list[Any]]] = {}  # group -> [start, end or None, data]
        self.done: dict[int, float] = {}
        self.since: dict[int, tuple[int, int, float]] = {}  # job in a group -> (from, ready, pace)
        self.changed: list[tuple[str, Row]] = []
        self.replanned = False
        self.claims: list[tuple[str, Row]] = []

    def take(self, at: str, at_ms: int, event: Row) -> None:
        """An event of the current phase."""
        handle = getattr(self, f"on_{event['kind']}", None)
        if handle is not None:
            handle(at, at_ms, event["data"])

    def enter(self, stage: Stage, parameters: Row) -> None:
        """Start of a phase. parameters: of its scheduler, from the log."""
        self.servers, self.parameters = stage.cluster["servers"], parameters
        self.grouping = stage.execution["model"] == MODEL
        self.fills = self.grouping and stage.execution["fills"]

    def hand_over(self, data: Row) -> None:
        """Start of the next phase, from its `edited` event; if no job is resubmitted, the scheduler keeps its state."""
        if data["offered"]:
            self.shortened |= self.planned
            self.done.clear()

    def on_plan_changed(self, at: str, at_ms: int, data: Row) -> None:
        self.planned.update(job for job, *_ in data["jobs"])
        if not self.grouping:
            self.bars.update({job: [] for job in data["keys"]} if data["scope"] == "job" else {})
            return
        for job in data["keys"] if data["scope"] == "job" else ():
            bars = [bar for bar in data["bars"] if bar[JOB] == job and bar[ROLE] == WORKER]
            if len(bars) > 1:
                self.problems.append(
                    f"{at}: job {self.id_of(job)} has {len(bars)} bars; an interval in a group is one bar"
                )
            self.bars[job] = list(bars[0]) if bars else []
            self.replanned = True

    def on_decided(self, at: str, at_ms: int, data: Row) -> None:
        if data["code"] == "out_of_memory" and data["job"] not in self.shortened:
            self._advance(data["job"], at_ms)
            known = facts_of(self.jobs[data["job"]])
            per_epoch = known["per_epoch"] if known is not None else 1
            left = data["values"]["iterations"]
            if left > self.done.get(data["job"], 0.0) * (1 + CLOSE) + CLOSE or left % per_epoch:
                self.problems.append(
                    f"{at}: job {self.id_of(data['job'])} falls back to {left!r} iterations, which "
                    "is not the end of a completed epoch"
                )
            self.done[data["job"]] = left

    def on_grouped(self, at: str, at_ms: int, data: Row) -> None:
        size = len(data["jobs"])
        known = all(job < len(self.jobs) for job in data["jobs"]) and all(
            s < len(self.servers) for s in data["servers"]
        )
        if (
            not known
            or any(len(data[key]) != size for key in LISTS)
            or data["machines"] != len(data["servers"])
            or bool(size) != bool(data["servers"])
        ):
            self.problems.append(
                f"{at}: group {data['group']} names unknown jobs or servers, or its lists differ in length"
            )
            return
        before = self.groups.get(data["group"])
        for job in before["jobs"] if before else ():
            self._advance(job, at_ms)
            self.since.pop(job, None)
        if data["jobs"]:
            self.groups[data["group"]] = data
        else:
            self.groups.pop(data["group"], None)
        spans = self.spans.setdefault(data["group"], [])
        if spans and spans[-1][1] is None:
            spans[-1][1] = at_ms
        if data["jobs"]:
            spans.append([at_ms, None, data])
        self.changed.append((at, data))

    def on_regrouped(self, at: str, at_ms: int, data: Row) -> None:
        self.claims.append((at, data))

    def on_job_completed(self, at: str, at_ms: int, data: Row) -> None:
        job = data["job"]
        self._advance(job, at_ms)
        self.since.pop(job, None)
        self.over.add(job)
        known = facts_of(self.jobs[job])
        if (
            known
            and self.grouping
            and job not in self.shortened
            and self.done.get(job, 0.0) < known["iterations"] * (1 - 1e-9) - CLOSE
        ):
            self.problems.append(
                f"{at}: job {self.id_of(job)} completes after {self.done.get(job, 0.0):.6g} "
                f"of {known['iterations']} iterations"
            )

    def settle(self, at_ms: int) -> None:
        """Check at the end of an instant that the resulting state is possible."""
        for at, data in self.changed:
            if self.groups.get(data["group"]) is data:
                self.check_group(at, at_ms, data)
                for job, ready, pace in zip(data["jobs"], data["ready_ms"], data["pace_ms"], strict=True):
                    self.since[job] = (at_ms, ready, pace)
        if self.grouping and (self.changed or self.replanned):
            self.check_disjoint(at_ms)
        if not self.grouping and self.groups:
            self.problems.append(
                f"groups {', '.join(map(str, self.groups))} exist at {at_ms} ms, in a phase that has none"
            )
        for at, data in self.claims:
            self.check_claim(at, at_ms, data)
        self.changed, self.claims, self.replanned = [], [], False

    def history(self, end_ms: int) -> list[Stretch]:
        """Stretches of groups without a change."""
        out: list[Stretch] = []
        for spans in self.spans.values():
            for start, end, data in spans:
                end = end_ms if end is None else end
                last = out[-1] if out else Stretch(start, start, {"group": None})
                if last.data["group"] == data["group"] and last.end == start and _same(last.data, data):
                    out[-1] = Stretch(last.start, end, data)
                elif end > start:
                    out.append(Stretch(start, end, data))
        return out

    def _advance(self, job: int, at_ms: int) -> None:
        """Progress of the iterations since the last event of the group."""
        if job in self.since:
            from_ms, ready_ms, pace = self.since[job]
            self.done[job] = self.done.get(job, 0.0) + max(0, at_ms - max(from_ms, ready_ms)) / pace
            self.since[job] = (at_ms, ready_ms, pace)


def _same(one: Row, other: Row) -> bool:
    keys = ("servers", "jobs", "iteration_ms", "cpu_utilization", "net_utilization", "disk_ratios", "model_disk_ratios")
    return all(one[key] == other[key] for key in keys)
