"""Protocol of a scheduler: its declarations and the hooks that the kernel calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from scheduling.kernel.execution_model import ExecutionModel
from scheduling.kernel.parameters import Parameters
from scheduling.kernel.quotes import Deadline, PriceQuote
from scheduling.model.bars import Placement
from scheduling.model.decision import NOTHING, Decision, Reason
from scheduling.model.values import Cluster, Job

REQUEST = ("requested_workers", "worker", "worker_type")  # fields of Job with what the job asks for


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
    # sets of fields of Job, one of which a job must have as a whole; the others follow from it
    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = ()
    uses: ClassVar[tuple[str, ...]] = ()  # further fields of REQUEST that it uses where a job has them
    # reasons of its own: {NAME.CODE: sentence from the numbers}
    reasons: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {}
    model: ClassVar[ExecutionModel]  # the rules by which its jobs hold servers
    final: ClassVar[bool] = False  # it decides on arrival, and what it admits, it completes
    quotes: ClassVar[bool] = False  # it can answer for hypothetical jobs (`assume`, `explain`)
    # after a change of the cluster during a run, it continues with plans that still fit
    keeps_plans: ClassVar[bool] = False
    believes: ClassVar[bool] = False  # it can run on beliefs: it has `on_overrun`, and uses no records but those given
    no_beliefs: ClassVar[str] = (
        ""  # why it cannot, after "cannot run on predicted run times, because "; empty: as its model says
    )
    Parameters: ClassVar[type] = Parameters

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()
        self.deadline = Deadline()

    @classmethod
    def unused(cls) -> tuple[str, ...]:
        """Fields of REQUEST that do not matter to it."""
        return tuple(name for name in REQUEST if name not in (*cls.needs, *cls.uses))

    def seen(self, cluster: Cluster) -> Cluster:
        """Cluster as the scheduler uses it: it may give servers fewer roles than they could take."""
        return cluster

    def execution_on(self, cluster: Cluster) -> dict[str, Any]:
        """Execution rules on this cluster as plain data; the log states them for rechecking (docs/formats.md)."""
        stated = {"model": self.model.name, "packs": list(self.model.packs(self, cluster)), "final": self.final}
        return stated | self.model.rules(self, cluster)

    def check(self, cluster: Cluster) -> None:
        """Check of the cluster; ModelError if the scheduler cannot run it at all. It must be fast: forms call it."""

    def check_jobs(self, cluster: Cluster, jobs: Sequence[Job]) -> None:
        """Check of all jobs of a scenario before it begins; ModelError if the scheduler cannot run them.

        The simulation calls it on another instance than the one that decides.
        """
        self.model.check_jobs(cluster, jobs)

    def horizon_for(self, cluster: Cluster, jobs: Sequence[Job]) -> int | None:
        """Horizon in slots that it has reached when these jobs have arrived; None = no end.

        Forms call it with all jobs of a trace, on an instance that runs nothing.
        """
        return cluster.horizon_slots

    def known_jobs(self, jobs: Sequence[Job], arrived: int) -> Sequence[Job]:
        """Jobs of a scenario that the scheduler knows when the first `arrived` of them have arrived."""
        return jobs if self.clairvoyant else jobs[:arrived]

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        """Hook before the first event.

        jobs: those that have arrived. The simulation appends each further job when it arrives, before `on_arrival`; a
        `clairvoyant` scheduler gets all jobs of the scenario at once. cluster: as it is now, with its announced outages
        (`Server.away`); a change that comes later restarts the scheduler on the changed cluster.
        """
        self.cluster = cluster
        self.jobs = jobs
        self.rng = rng
        self.horizon = cluster.horizon_slots  # slots that it plans and prices; its own where the cluster has none

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        """Hook for the arrival of a job (index)."""
        return NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        """Hook for the completion of a job; its bars end now."""
        return NOTHING

    def on_early_end(self, now_ms: int, job: int, bars: Sequence[Placement]) -> None:
        """Hook before `on_completion`, in runs on beliefs: the job's work is done before its plan ends.

        bars: those of its plan that end after now, and are cut.
        """

    def on_overrun(self, now_ms: int, job: int, rest: Job) -> Decision:
        """Hook for a job whose plan ends now with work left, in runs on beliefs; with `believes`.

        rest: its record with the work that is now believed to be left. The record in `jobs` stays that of submission.
        """
        raise NotImplementedError

    def record_changed(self, job: int) -> None:
        """Hook: the record of the job in `jobs` has changed.

        Called before quotes of a variant of the job, and before `on_arrival` if the scheduler is `clairvoyant` and runs
        on beliefs.
        """

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        """Hook for a server (index) that leaves or returns now; see `Server.is_away`.

        Bars on a server that leaves had to end by now: the ledger refuses bars on an unavailable server.
        """
        return NOTHING

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        """Hook for the start of a slot, if something happened since the last call or a wake-up was requested.

        Called after the completions and arrivals of the same instant. A job that arrived at any time up to and
        including now_ms may use this slot.
        """
        return NOTHING

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        """Hook for the alarm that the newest `Decision.alarm_ms` requested for due_ms.

        Completions and arrivals of this instant are over.
        """
        return NOTHING

    def remaining_work(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share from 0 to 1 of the work in the record of an open job that is not done.

        bars: those of its plan that end after now.
        """
        raise NotImplementedError(f"scheduler {self.name} does not report the progress of its jobs")

    def release_plans(self, now_ms: int) -> Decision:
        """Release of plans that are not plans of jobs (workers, groups) before another phase begins (hand_over.py)."""
        return NOTHING

    def adopt_plans(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        """Hook after `start` in the middle of a run: the servers that are unavailable now, and the kept plans.

        before: the scheduler of the phase that ends; plans are kept only if it is the same one with the same
        parameters, and its class `keeps_plans`. All other open jobs are resubmitted after this, by `on_arrival`, with
        their remaining work.
        """

    def taken_over(self, now_ms: int) -> Decision:
        """Hook after the last resubmitted job."""
        return NOTHING

    def clone(self) -> BaseScheduler:
        """Copy after `start`, with a deadline of its own, that `assume` may change. For schedulers with `quotes`."""
        raise NotImplementedError

    def assume(self, bars: np.ndarray, arrived: int) -> None:
        """Hook after `start`; with `quotes`.

        These bars, in the column order of Placement, are planned, and the first `arrived` jobs have arrived.
        """
        raise NotImplementedError

    @property
    def clairvoyant(self) -> bool:
        """True if decisions depend on jobs that arrive later: a parameter asks for that, and says so."""
        return False

    def with_record(self, job: int, record: Job) -> None:
        """Hook before quotes of a variant of a job (index) that arrives now; with `quotes`.

        Replaces the record in `jobs` if decisions use it for more than the job itself, for example for price bounds.
        """

    def explain(self, now_ms: int, job: Job, most_workers: int | None = None) -> Reason:
        """Reason that `on_arrival` would give for a job that arrives now, without side effects; with `quotes`.

        most_workers: instead of the job's own limit of workers at a time.
        """
        raise NotImplementedError

    def quote(self, now_ms: int, job: Job, most_workers: int | None = None) -> PriceQuote:
        """First part of `explain`: a scheduler may know it before its reason. OutOfTime when `deadline` ends."""
        self.deadline.left()
        return PriceQuote.of(self.explain(now_ms, job, most_workers))

    def admits_later(self, job: Job, slots: Iterable[int]) -> Iterator[bool]:
        """True for each of these slots, one after another, if the job would be admitted on arrival at its start."""
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
