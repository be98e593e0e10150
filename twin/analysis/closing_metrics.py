"""Metrics of the ended runs of live clusters, computed in the background: the follower has no memory for them."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from scheduling.reporting.metrics import summarize
from twin.analysis.comparability import NOT_RECORDED
from twin.eventlog import frames
from twin.infra import pubsub
from twin.mirror import stored
from twin.mirror.history import history_of, with_all_outages
from twin.models import MirrorRecord, Run
from twin.models.run_modes import modes_where
from twin.processes import bounded_process, exclusive
from twin.processes.requests import TaskRequests, as_list

log = logging.getLogger(__name__)
TASK, QUEUE = "measure_mirror", "io"
MAX_S = 300.0  # of one run
ASKED_S = 10.0  # a request that no worker accepted for this long is repeated


class Requests(TaskRequests):
    """Requests for the metrics of one run after the other."""

    task, queue, again_s = TASK, QUEUE, ASKED_S

    def due(self) -> list[int]:
        return as_list(due())


def due() -> int | None:
    """The oldest ended run without metrics, unless their computation was cancelled."""
    return _all_due().exclude(pk__in=exclusive.cancelled(TASK)).order_by("pk").values_list("pk", flat=True).first()


def work(run_id: int) -> None:
    """Storage of the metrics of a run, computed in a process of its own; only the number of jobs where that fails."""
    with exclusive.held(TASK, run_id) as mine:
        if mine is None or not _all_due().filter(pk=run_id).exists():
            return
        outcome = mine.run(partial(measure, run_id), limit_s=MAX_S, wanted=partial(_exists, run_id))
        if outcome in bounded_process.FAILURES:
            log.error("run %s: its metrics cannot be computed; the computation ended as %s", run_id, outcome)
            _store(run_id, {"jobs": MirrorRecord.objects.filter(run=run_id, kind=MirrorRecord.JOB).count()})


def measure(run_id: int) -> None:
    """Computation of the metrics of an ended run in this process."""
    try:
        run = Run.objects.select_related("scenario__cluster").get(pk=run_id)
        mirror = stored.load_run(run)
        cluster, jobs, events = history_of(mirror, run.scenario.cluster.name)
        found = summarize(events, with_all_outages(cluster, mirror), jobs)
        _store(run_id, {name: value for name, value in found.items() if name not in NOT_RECORDED})
    except Run.DoesNotExist:
        log.info("run %s was deleted before its metrics were computed", run_id)


def _all_due() -> QuerySet[Run]:
    """Ended runs without metrics; one whose cluster has reported no nodes has none."""
    nodes = MirrorRecord.objects.filter(run=OuterRef("pk"), kind=MirrorRecord.NODE)
    recorded = Run.objects.filter(Exists(nodes), mode__in=modes_where(simulated=False))
    return recorded.filter(status=Run.FINISHED, metrics={})


def _store(run_id: int, metrics: dict[str, Any]) -> None:
    if Run.objects.filter(pk=run_id, status=Run.FINISHED, metrics={}).update(metrics=metrics):
        run = Run.objects.get(pk=run_id)
        pubsub.announce(run, frames.status(run))


def _exists(run_id: int) -> bool:
    return Run.objects.filter(pk=run_id).exists()
