"""Protocol of a scheduler: its declarations and the hooks that the kernel calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from scheduling.kernel.execution_model import ExecutionModel
from scheduling.kernel.parameters import Parameters
from scheduling.kernel.quotes import Deadline, PriceQuote
from scheduling.model.values import NOTHING, Cluster, Decision, Job, Placement, Reason


class BaseScheduler:
    """The protocol, with hooks that do nothing: a scheduler writes only those it needs.

    Every hook gets the current time in ms and returns a Decision; bars in its plan start at or after now_ms.
    The same cluster, jobs, parameters and seed give the same decisions, to the byte.
    """

    name: ClassVar[str]  # as typed on the command line
    title: ClassVar[str]  # as printed on screen
    paper: ClassVar[str]  # where it comes from, in one line
    summary: ClassVar[str]  # one sentence an operator understands
    needs: ClassVar[tuple[str, ...]] = ()  # fields of Job that must not be None
    # its own, as NAME.CODE: sentence of their numbers
    reasons: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {}
    model: ClassVar[ExecutionModel]  # by which rules its jobs hold servers
    final: ClassVar[bool] = False  # it decides on arrival, and what it admits, it completes
    quotes: ClassVar[bool] = False  # it can tell what it would say to a job (`assume`, `explain`)
    # where the cluster changes in the middle of a run, it goes on with plans that still fit
    keeps: ClassVar[bool] = False
    Parameters: ClassVar[type] = Parameters

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()
        self.deadline = Deadline()

    def seen(self, cluster: Cluster) -> Cluster:
        """The cluster as it is used, where the scheduler gives servers fewer roles than they could take."""
        return cluster

    def execution_on(self, cluster: Cluster) -> dict[str, Any]:
        """Execution rules on this cluster as plain data; the log states them for rechecking (docs/formats.md)."""
        stated = {"model": self.model.name, "packs": list(self.model.packs(self, cluster)), "final": self.final}
        return stated | self.model.rules(self, cluster)

    def check(self, cluster: Cluster) -> None:
        """Check whether the scheduler can run this cluster at all; ModelError if not. Must be fast: forms call it."""

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        """Hook before the first event. `jobs` is the whole scenario: only online information may affect decisions."""
        self.cluster = cluster
        self.jobs = jobs
        self.rng = rng
        self.horizon = cluster.horizon_slots  # slots that it plans and prices; its own where the cluster has none

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        """Job (index) has arrived."""
        return NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        """The job's work is done; its bars end now."""
        return NOTHING

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        """A server (index) leaves or returns at this moment; which of them, `Server.is_away` says.

        What stood on a server that leaves had to end by now: the ledger refuses bars on a machine that is not there.
        """
        return NOTHING

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        """A slot begins, and something happened since the last call or a wake-up was asked for.

        Called after the completions and arrivals of the same instant. A job that arrived at any time up to and
        including now_ms may use this slot.
        """
        return NOTHING

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        """The time that the newest `Decision.alarm_ms` asked for, due_ms, has come.

        Completions and arrivals of this instant are over.
        """
        return NOTHING

    def work_left(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share from 0 to 1 of the work in the record of an open job that is not done.

        bars: those of its plan that end after now.
        """
        raise NotImplementedError(f"scheduler {self.name} does not report the progress of its jobs")

    def let_go(self, now_ms: int) -> Decision:
        """Release of plans that are not plans of jobs (workers, groups) before another phase begins (hand_over.py)."""
        return NOTHING

    def take_over(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        """Hook after `start` in the middle of a run: the servers that are unavailable now, and the kept plans.

        before: the scheduler of the world that ends; only if it is the same one with the same parameters, and its class
        `keeps`, are plans kept. All other jobs that are open are offered after this, by `on_arrival`, with the work
        that is left.
        """

    def taken_over(self, now_ms: int) -> Decision:
        """Hook after the last resubmitted job."""
        return NOTHING

    def clone(self) -> BaseScheduler:
        """A copy after `start`, with a deadline of its own, that `assume` may change. For schedulers with `quotes`."""
        raise NotImplementedError

    def assume(self, bars: np.ndarray, arrived: int) -> None:
        """Hook after `start`; with `quotes`.

        These bars, in the column order of Placement, are planned, and jobs[:arrived] have arrived.
        """
        raise NotImplementedError

    def explain(self, now_ms: int, job: Job, most_workers: int | None = None) -> Reason:
        """Reason that `on_arrival` would give for a job that arrives now, without side effects; with `quotes`.

        most_workers: instead of the job's own limit of workers at a time.
        """
        raise NotImplementedError

    def quote(self, now_ms: int, job: Job, most_workers: int | None = None) -> PriceQuote:
        """The beginning of `explain`: a scheduler may know it before its reason. OutOfTime when `deadline` ends."""
        self.deadline.left()
        return PriceQuote.of(self.explain(now_ms, job, most_workers))

    def admits_later(self, job: Job, slots: Iterable[int]) -> Iterator[bool]:
        """Test whether `quote` would say yes to the job if it arrived as those slots begin, one after another."""
        for slot in slots:
            now_ms = slot * self.cluster.slot_ms
            yield self.quote(now_ms, replace(job, arrival_ms=now_ms)).admitted

    def prices(self, slots: np.ndarray) -> np.ndarray | None:
        """Current prices per whole unit, [slot, server, resource] for the slots asked, NaN where there is none."""
        return None

    def state(self) -> dict[str, Any]:
        """State for `restore`, as numpy arrays, numbers, strings, lists and dicts of these."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`, called after `start` with the same arguments."""
