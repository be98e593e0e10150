"""Certificate of a run, computed while its log grows: the proved share of the optimum, for the jobs so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from scheduling.colocation import oracle_gap
from scheduling.kernel.execution_model import Outcome
from scheduling.kernel.registry import Unavailable
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import END, WIDTH
from scheduling.model.utility import duration_slots, utility_at
from scheduling.model.values import RESOURCES, Cluster, Job
from scheduling.slotted.certificate import POOLS
from twin.analysis.bounding_cluster import bounding
from twin.eventlog import frames
from twin.eventlog.fold import ARRIVED, COMPLETED_AT, DIED, FINISH_AT, NEVER, REJECTED_AT, UTILITY, RunState
from twin.eventlog.stored_states import at
from twin.infra import pubsub
from twin.infra.columns import pack
from twin.models import Run
from twin.models.run_modes import modes_where
from twin.processes import bounded_process, shutdown
from twin.processes.dispatch import send
from twin.runs import lease
from twin.scenarios import store

log = logging.getLogger(__name__)
PAUSE = timedelta(seconds=5)  # between two certificates of a run
PAUSE_SHARE = 10  # and at least this multiple of what the last one took
LEASE = timedelta(seconds=10)  # renewed while the certificate is computed
ASKED = timedelta(seconds=30)  # a request that no worker accepted for this long is repeated
# a certificate that was cancelled or not found in time is tried again after this, if the log has grown
GIVEN_UP = timedelta(minutes=10)
MAX_WHY = 300  # characters of a reason
TURN_S = 10.0  # after this time a worker gives way to other tasks
QUEUE = "certificates"
_FREE = {"certify_owner": "", "certify_until": None, "certify_began": None}


def refresh() -> int | None:
    """Request for the certificate that has been due longest, unless one is under way or was just requested; its run.

    One at a time, so that certificates never keep all cores or all background workers busy.
    """
    now = timezone.now()
    if any(not lease.abandoned(owner) for owner in _in_progress(now)):
        return None
    run_id = _due(now)
    if run_id is not None:
        left = Run.objects.filter(pk=run_id, certify_began__isnull=False).exists()  # by a process that was killed
        Run.objects.filter(pk=run_id).update(certify_owner="", certify_until=now + ASKED, certify_began=None)
        send("certify_run", run_id, queue=QUEUE, expires=ASKED.total_seconds())
        if left:
            _announce(run_id)
    return run_id


def work_off(run_id: int | None) -> None:
    """Certificate of the run, in its own process with a time limit, then others that are due for TURN_S."""
    until, limit_s = time.monotonic() + TURN_S, settings.CERTIFICATE_LIMIT_S
    while run_id is not None:
        owner = _claim(run_id)
        if owner is not None:
            outcome = bounded_process.run(
                partial(_make, run_id, owner), limit_s=limit_s, wanted=partial(_renew, run_id, owner)
            )
            if outcome in bounded_process.FAILURES:
                why = bounded_process.why(outcome, limit_s, "CERTIFICATE_LIMIT_S")
                _give_up(run_id, f"the computation failed: {why}", certify_owner=owner)
        run_id = _due(timezone.now()) if time.monotonic() < until and not shutdown.asked() else None


def run(run_id: int) -> None:
    """Computation and announcement of the certificate of a run in this process."""
    owner = _claim(run_id)
    if owner is not None:
        _make(run_id, owner)


def request(run_id: int) -> bool:
    """Request for a certificate of the present log, also after a cancel; False while one is being computed."""
    now = timezone.now()
    idle = Run.objects.filter(pk=run_id).exclude(certify_until__gt=now, certify_began__isnull=False)
    if not idle.update(certified_seq=0, certify_after=None):
        return False
    _announce(run_id)
    return True


def cancel(run_id: int) -> bool:
    """End of the computation in progress or in the queue; False if there is none.

    It repeats after GIVEN_UP if the log has grown.
    """
    found = Run.objects.filter(pk=run_id).first()
    if found is None:
        return False
    if frames.certificate_queued(found):
        return _give_up(run_id, "the request was cancelled", certify_began=found.certify_began)
    return _give_up(run_id, "the computation was cancelled", certify_until__gt=timezone.now())


def _in_progress(now: datetime) -> list[str]:
    """Owners of the current leases; empty for requests without a worker."""
    return list(Run.objects.filter(certify_until__gt=now).values_list("certify_owner", flat=True))


def _due(now: datetime) -> int | None:
    certified = Run.objects.filter(mode__in=modes_where(certified=True))
    grown = certified.filter(last_seq__gt=F("certified_seq")).exclude(status=Run.QUEUED)
    over = ~Q(status__in=Run.ACTIVE)  # its last certificate does not wait: nothing follows that would supersede it
    due = grown.filter(Q(certify_after__isnull=True) | Q(certify_after__lt=now) | over)
    return due.order_by(F("certify_after").asc(nulls_first=True), "-id").values_list("pk", flat=True).first()


def _claim(run_id: int) -> str | None:
    """Name under which this process may compute the certificate; None if another does or there is nothing to do."""
    now, owner = timezone.now(), lease.new_owner()
    held = (
        Run.objects.filter(pk=run_id, certify_until__gt=now)
        .exclude(certify_owner="")
        .values_list("certify_owner", flat=True)
    )
    if any(not lease.abandoned(other) for other in held):
        return None
    wanting = Run.objects.filter(pk=run_id, last_seq__gt=F("certified_seq"))
    if not wanting.update(certify_owner=owner, certify_until=now + LEASE, certify_began=now):
        return None
    _announce(run_id)
    return owner


def _renew(run_id: int, owner: str) -> bool:
    """True if this owner still has the lease."""
    return Run.objects.filter(pk=run_id, certify_owner=owner).update(certify_until=timezone.now() + LEASE) > 0


def _give_up(run_id: int, why: str, **condition: Any) -> bool:
    """End of the lease without a new certificate; an earlier one stays and states that it is not up to date."""
    now = timezone.now()
    found = Run.objects.filter(pk=run_id, **condition).first()
    if found is None:
        return False
    standing = found.certificate if "bound" in found.certificate else {"kind": "none"}
    data = {**standing, "why": why, "given_up": True}
    held = Run.objects.filter(pk=run_id, **condition)  # the condition may name the owner, too
    ended = held.filter(certify_owner=found.certify_owner).update(
        certificate=data, certified_seq=found.last_seq, certify_after=now + GIVEN_UP, **_FREE
    )
    if ended:
        _announce(run_id)
    return ended > 0


def _make(run_id: int, owner: str) -> None:
    """New certificate from the log, with its announcement. After an error, an earlier one stays."""
    found = Run.objects.select_related("scenario").filter(pk=run_id).first()
    if found is None:
        return
    began = time.perf_counter()
    data: dict[str, Any] = {}
    proved = 0.0
    packed, seq = b"", found.last_seq
    try:
        stages = store.stages_of(found.scenario, found.edits)
        bounded_by = bounding(stages)
        if isinstance(bounded_by, str):
            data = {"kind": "none", "why": bounded_by}
        elif bounded_by[0].model.claim(*bounded_by) is not None:
            (scheduler, cluster), jobs = bounded_by, stages[-1].state.jobs
            state = at(run_id)
            seq = state.last_seq
            data, packed = _made(scheduler, state, cluster, jobs)
            proved = time.perf_counter() - began
            if data and len(stages) == 1:  # a run of one phase
                data |= compared(scheduler, state, cluster, jobs, found.certificate or {})
    except (ValueError, ArithmeticError, MemoryError) as error:
        log.exception("run %s: the certificate failed", run_id)
        why = str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"
        _give_up(run_id, why[:MAX_WHY], certify_owner=owner)
        return
    took = time.perf_counter() - began
    later = timezone.now() + max(PAUSE, PAUSE_SHARE * timedelta(seconds=took))
    if data:
        data["seconds"] = round(proved or took, 3)
    fields = {"certificate": data, "certificate_prices": packed, "certified_seq": seq, "certify_after": later, **_FREE}
    if Run.objects.filter(pk=run_id, certify_owner=owner).update(**fields):
        _announce(run_id)


def _announce(run_id: int) -> None:
    found = Run.objects.filter(pk=run_id).first()
    if found is not None:
        pubsub.announce(found, frames.status(found))


def _made(
    scheduler: BaseScheduler, state: RunState, cluster: Cluster, jobs: Sequence[Job]
) -> tuple[dict[str, Any], bytes]:
    made = scheduler.model.proof(scheduler, cluster, jobs, of_state(state, cluster, jobs))
    if made is None:
        return {}, b""
    certificate, data = made
    prices = certificate.duals.get("prices")
    packed = (
        b"" if prices is None else pack({"pools": POOLS, "resources": RESOURCES}, {"prices": prices.astype(np.float32)})
    )
    return data | {"seq": state.last_seq, "at_ms": state.sim_ms}, packed


def compared(
    scheduler: BaseScheduler, state: RunState, cluster: Cluster, jobs: Sequence[Job], before: Mapping[str, Any]
) -> dict[str, Any]:
    """{search}: {moments: [oracle_gap.Moment as a dict], regroupings, most_jobs, weight} or {why}.

    Empty for schedulers that do not search for groups. before: the current certificate; times before it are not
    compared again.
    """
    if not oracle_gap.applies(scheduler):
        return {}
    why = oracle_gap.why_not(scheduler, cluster)
    if why is not None:
        return {"search": {"why": why}}
    known = {
        row["at_ms"]: row
        for row in before.get("search", {}).get("moments", ())
        if row["at_ms"] < before.get("at_ms", 0)
    }
    ends = {job: int(end) for job, end in enumerate(state.jobs.rows[:, COMPLETED_AT].tolist()) if end >= 0}
    kept = np.flatnonzero(_kept(state)).tolist()
    moments = oracle_gap.regroupings(state.groups)
    found, times = [], oracle_gap.chosen(moments)
    for at_ms in times:
        row = known.get(at_ms)
        if row is None:
            moment = oracle_gap.compare(scheduler, cluster, jobs, state.groups, kept, ends, at_ms)
            row = None if moment is None else moment._asdict()
        if row is not None:
            found.append(row)
    return {
        "search": {
            "moments": found,
            "regroupings": len(moments),
            "most_jobs": oracle_gap.MAX_JOBS,
            "weight": scheduler.parameters.cpu_weight,
        }
    }


def of_state(state: RunState, cluster: Cluster, jobs: Sequence[Job]) -> Outcome:
    """Schedule of the log so far, including planned completions."""
    rows = state.jobs.rows
    arrived = np.flatnonzero(rows[:, ARRIVED] >= 0).tolist()
    kept = _kept(state)
    ends = np.where(rows[:, COMPLETED_AT] >= 0, rows[:, COMPLETED_AT], rows[:, FINISH_AT]).astype(np.int64).tolist()
    completions = {job: ends[job] for job in arrived if ends[job] >= 0 and kept[job]}
    bars = state.bars.rows
    last_ms = int(bars[:, END].max()) if len(bars) else 0
    true = bars[bars[:, DIED] == NEVER, :WIDTH]
    return Outcome(arrived, completions, achieved(state, cluster, jobs), true, max(1, -(-last_ms // cluster.slot_ms)))


def achieved(state: RunState, cluster: Cluster, jobs: Sequence[Job]) -> float:
    """Utility of the jobs that are completed, and of those that will be by their plans."""
    total, kept = 0.0, _kept(state)
    for index, row in enumerate(state.jobs.rows.tolist()):
        if row[COMPLETED_AT] >= 0:
            total += row[UTILITY]
        elif row[FINISH_AT] >= 0 and kept[index]:
            job = jobs[index]
            total += utility_at(job.utility, duration_slots(int(row[FINISH_AT]), job.arrival_ms, cluster.slot_ms))
    return total


def _kept(state: RunState) -> np.ndarray:
    """[job] whether it was decided about and not rejected, on arrival or later."""
    decided = np.array([verdict is not None for verdict in state.verdicts], dtype=bool)
    return decided & (state.jobs.rows[:, REJECTED_AT] == NEVER)
