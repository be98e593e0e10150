"""The certificate of a run, made in the background as its log grows: what its schedule is proved to reach, for the jobs known so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import F, Q
from django.utils import timezone

from scheduling.certificates import POOLS
from scheduling.harmony import proxy
from scheduling.model import RESOURCES, Cluster, Job, Placement
from scheduling.registry import BaseScheduler
from scheduling.utility import duration_slots, utility_at
from twin import bus, scenarios, wire
from twin.bounding import bounding
from twin.certificates import Schedule, certify, claimed
from twin.columns import pack
from twin.models import Run
from twin.sending import send
from twin.state import DIED, END, JOB_FIELDS, NEVER, RunState, at

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
    proved = 0.0
    packed, seq = b"", found.last_seq
    try:
        stages = scenarios.worlds(found.scenario, found.edits)
        bounded = bounding(stages)
        if isinstance(bounded, str):
            told = {"kind": "none", "why": f"nothing is claimed: {bounded}"}
        elif claimed(*bounded) is not None:
            (scheduler, cluster), jobs = bounded, stages[-1].world.jobs
            state = at(run_id)
            seq = state.last_seq
            told, packed = _made(scheduler, state, cluster, jobs)
            proved = time.perf_counter() - began
            if scheduler.groups and told and len(stages) == 1:  # nothing changed hands on the way
                told |= compared(scheduler, state, cluster, jobs, found.certificate or {})
    except (ValueError, ArithmeticError, MemoryError) as error:
        log.exception("run %s: its certificate could not be made", run_id)
        told = {"kind": "none", "why": f"{type(error).__name__}: {error}"[:300]}
    took = time.perf_counter() - began
    later = timezone.now() + max(PAUSE, PAUSE_SHARE * timedelta(seconds=took))
    if told:
        told["seconds"] = round(proved or took, 3)
    Run.objects.filter(pk=run_id).update(certificate=told, certificate_prices=packed, certified_seq=seq, certify_after=later)
    if told:
        found.refresh_from_db()
        bus.announce(found, wire.status(found))


def _made(scheduler: BaseScheduler, state: RunState, cluster: Cluster, jobs: Sequence[Job]) -> tuple[dict[str, Any], bytes]:
    made = certify(scheduler, cluster, jobs, of_state(state, cluster, jobs))
    if made is None:
        return {}, b""
    certificate, told = made
    prices = certificate.duals.get("prices")
    packed = b"" if prices is None else pack({"pools": POOLS, "resources": RESOURCES}, {"prices": prices.astype(np.float32)})
    return told | {"seq": state.last_seq, "at_ms": state.sim_ms}, packed


def compared(
    scheduler: BaseScheduler, state: RunState, cluster: Cluster, jobs: Sequence[Job], before: Mapping[str, Any]
) -> dict[str, Any]:
    """{search}: {moments: [harmony.proxy.Moment as a dict], regroupings, too_large} or {why}; nothing for schedulers that do not search.

    before: the certificate that stands; moments that were over when it was made are not looked at again.
    """
    if not hasattr(scheduler.parameters, "regroup_gain"):
        return {}
    why = proxy.why_not(scheduler, cluster)
    if why is not None:
        return {"search": {"why": why}}
    known = {row["at_ms"]: row for row in before.get("search", {}).get("moments", ()) if row["at_ms"] < before.get("at_ms", 0)}
    rows = state.jobs.rows
    ends = {job: int(end) for job, end in enumerate(rows[:, COMPLETED].tolist()) if end >= 0}
    kept = [job for job, verdict in enumerate(state.verdicts) if verdict is not None and verdict[0] != "rejected"]
    moments = proxy.regroupings(state.groups)
    found, looked = [], proxy.chosen(moments)
    for at_ms in looked:
        row = known.get(at_ms)
        if row is None:
            moment = proxy.compare(scheduler, cluster, jobs, state.groups, kept, ends, at_ms)
            row = None if moment is None else moment._asdict()
        if row is not None:
            found.append(row)
    return {
        "search": {
            "moments": found,
            "regroupings": len(moments),
            "most_jobs": proxy.MOST_JOBS,
            "weight": scheduler.parameters.cpu_weight,
        }
    }


def of_state(state: RunState, cluster: Cluster, jobs: Sequence[Job]) -> Schedule:
    """The schedule as the log tells it so far, with what is promised."""
    rows = state.jobs.rows
    arrived = np.flatnonzero(rows[:, ARRIVED] >= 0).tolist()
    kept = [verdict is not None and verdict[0] != "rejected" for verdict in state.verdicts]
    ends = np.where(rows[:, COMPLETED] >= 0, rows[:, COMPLETED], rows[:, FINISH]).astype(np.int64).tolist()
    completions = {job: ends[job] for job in arrived if ends[job] >= 0 and kept[job]}
    bars = state.bars.rows
    last_ms = int(bars[:, END].max()) if len(bars) else 0
    true = bars[bars[:, DIED] == NEVER, : len(Placement._fields)]
    return Schedule(arrived, completions, achieved(state, cluster, jobs), true, max(1, -(-last_ms // cluster.slot_ms)))


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
