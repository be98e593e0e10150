"""The certificate of a run: what share of the best possible total utility its schedule is proved to reach, for the jobs known so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import F, Q
from django.utils import timezone

from scheduling.certificates import POOLS, certify, plain, problem, recheck
from scheduling.model import RESOURCES, Certificate, Cluster, Job
from scheduling.registry import build
from scheduling.utility import duration_slots, utility_at
from twin import bus, scenarios, wire
from twin.columns import pack
from twin.models import Run
from twin.sending import send
from twin.state import JOB_FIELDS, RunState, at

log = logging.getLogger(__name__)
PAUSE = timedelta(seconds=5)  # between two certificates of a run
PAUSE_SHARE = 10  # and at least so many times what the last one took
LOST = timedelta(seconds=60)  # a request without an answer for this long is made again
MOST_ASKED = 8  # at a time: io workers also import
ARRIVED, FINISH, COMPLETED, UTILITY = (JOB_FIELDS.index(n) for n in ("arrived_ms", "finish_ms", "completed_ms", "utility"))


def refresh() -> list[int]:
    """Asks for the certificates of runs whose log has grown since theirs; returns the runs."""
    now = timezone.now()
    grown = Run.objects.filter(last_seq__gt=F("certified_seq")).exclude(status=Run.QUEUED)
    due = grown.filter(Q(certify_after__isnull=True) | Q(certify_after__lt=now)).order_by("-id")
    found = list(due.values_list("pk", flat=True)[:MOST_ASKED])
    for run_id in found:
        Run.objects.filter(pk=run_id).update(certify_after=now + LOST)
        send("certify_run", run_id, queue="io", expires=LOST.total_seconds())
    return found


def run(run_id: int) -> None:
    """Makes the certificate of a run anew from its log, and tells its pages. A solver that fails costs the certificate, not the run."""
    found = Run.objects.select_related("scenario").filter(pk=run_id).first()
    if found is None:
        return
    began = time.perf_counter()
    told: dict[str, Any] = {}
    packed, seq = b"", found.last_seq
    try:
        cluster, jobs = scenarios.of_run(found)
        world = build(found.scenario.scheduler, found.scenario.parameters).model_on(cluster)
        if world is not None:
            state = at(run_id)
            seq = state.last_seq
            told, packed = _made(state, cluster, jobs, world)
    except (ValueError, ArithmeticError, MemoryError) as error:
        log.exception("run %s: its certificate could not be made", run_id)
        told = {"kind": "none", "why": f"{type(error).__name__}: {error}"[:300]}
    took = time.perf_counter() - began
    later = timezone.now() + max(PAUSE, PAUSE_SHARE * timedelta(seconds=took))
    if told:
        told["seconds"] = round(took, 3)
    Run.objects.filter(pk=run_id).update(certificate=told, certificate_prices=packed, certified_seq=seq, certify_after=later)
    if told:
        found.refresh_from_db()
        bus.announce(found, wire.status(found))


def _made(state: RunState, cluster: Cluster, jobs: Sequence[Job], world: str) -> tuple[dict[str, Any], bytes]:
    certificate, slots = of_state(state, cluster, jobs, world)
    about = {"jobs": int((state.jobs.rows[:, ARRIVED] >= 0).sum()), "seq": state.last_seq, "at_ms": state.sim_ms, "slots": slots}
    prices = certificate.duals.get("prices")
    packed = b"" if prices is None else pack({"pools": POOLS, "resources": RESOURCES}, {"prices": prices.astype(np.float32)})
    return plain(certificate) | about, packed


def of_state(state: RunState, cluster: Cluster, jobs: Sequence[Job], world: str) -> tuple[Certificate, int]:
    """The best certificate for the jobs that have arrived, and the slots that it looks at."""
    arrived = np.flatnonzero(state.jobs.rows[:, ARRIVED] >= 0).tolist()
    last_ms = int(state.bars.rows[:, 4].max()) if state.bars.length else 0
    task = problem(cluster, jobs, arrived, world, horizon=max(1, -(-last_ms // cluster.slot_ms)))
    certificate = certify(task, achieved(state, cluster, jobs))
    recheck(task, certificate)
    return certificate, task.slots


def achieved(state: RunState, cluster: Cluster, jobs: Sequence[Job]) -> float:
    """Utility of the jobs that are completed, and of those that will be if their plans stand."""
    total = 0.0
    for index, row in enumerate(state.jobs.rows.tolist()):
        verdict = state.verdicts[index]
        if row[COMPLETED] >= 0:
            total += row[UTILITY]
        elif row[FINISH] >= 0 and verdict is not None and verdict[0] != "rejected":
            job = jobs[index]
            total += utility_at(job.utility, duration_slots(int(row[FINISH]), job.arrival_ms, cluster.slot_ms))
    return total
