"""Task that makes the plan of a proposal once its run has ended."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import partial
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.acting import rules
from twin.acting.plan import ORDER, PLACEMENT, Allowed, Plan, Wanted, plan
from twin.acting.wanted import wanted
from twin.actuators.base import Actuator, actuator_class, build
from twin.actuators.facts import ActuatorError, WaitingJob
from twin.models import Connection, Forecasting, Proposal, Run
from twin.processes import bounded_process, exclusive
from twin.processes.requests import TaskRequests

TASK, QUEUE = "plan_proposal", "io"
ASKED_S = 30.0  # a request that no worker accepted for this long is repeated
MAX_S = 120.0  # of one plan
NO_CHANGES = {
    ORDER: "The jobs already wait in this order; there is nothing to change.",
    PLACEMENT: "No waiting job needs a begin time or nodes; there is nothing to change.",
}
MAX_LEFT_OUT = 2_000  # jobs that a plan leaves unchanged, listed with the reason; all are counted


class Requests(TaskRequests):
    """Requests for the plans of proposals whose run has ended."""

    task, queue, again_s = TASK, QUEUE, ASKED_S

    def due(self) -> list[int]:
        ended = Proposal.objects.filter(status=Proposal.COMPUTING).exclude(run__status__in=Run.ACTIVE)
        return list(ended.values_list("pk", flat=True))


def work(pk: int) -> None:
    """Plan of the proposal, made in a process of its own; a proposal that cannot have one fails with the reason."""
    with exclusive.held(TASK, pk) as mine:
        if mine is None or not _waits(pk):
            return
        outcome = mine.run(partial(make, pk), limit_s=MAX_S, wanted=partial(_waits, pk))
        if outcome in bounded_process.FAILURES:
            _end(pk, _failed(f"Making the plan failed: {bounded_process.why(outcome, MAX_S)}."))


def make(pk: int) -> None:
    """Plan of the proposal, made in this process."""
    proposal = Proposal.objects.select_related("connection", "run__scenario__parent").get(pk=pk)
    try:
        found = _fields(proposal)
    except (ActuatorError, UnknownName, ModelError) as error:
        found = _failed(str(error))
    _end(pk, found)


def _waits(pk: int) -> bool:
    return Proposal.objects.filter(pk=pk, status=Proposal.COMPUTING).exists()


def _failed(why: str) -> dict[str, Any]:
    return {"status": Proposal.FAILED, "message": why, "ended_at": timezone.now()}


def _end(pk: int, found: Mapping[str, Any]) -> None:
    """Storage of the result, unless the proposal was discarded meanwhile."""
    Proposal.objects.filter(pk=pk, status=Proposal.COMPUTING).update(**found)


def reader(connection: Connection) -> Actuator:
    """An actuator with the access by which the connection is followed: it reads, and knows the commands."""
    declared = [one.name for one in fields(actuator_class(connection.connector).Parameters)]
    given = {name: value for name, value in connection.parameters.items() if name in declared}
    found = build(connection.connector, given)
    found.clock_offset_ms = connection.health.get("clock_offset_ms") or 0
    return found


def _fields(proposal: Proposal) -> dict[str, Any]:
    run, connection = proposal.run, proposal.connection
    if run is None or run.status != Run.FINISHED:
        why = f": {run.message}" if run is not None and run.message else "."
        raise ModelError(
            "No plan: its run was deleted." if run is None else f"No plan: run {run.pk} is {run.status}{why}"
        )
    if run.scenario.parent_id != connection.run_id:
        raise ModelError("No plan: a new run of the cluster has begun since; make a new plan.")
    of = reader(connection)
    waiting = of.waiting()
    now_ms = time.time_ns() // 1_000_000 + of.clock_offset_ms
    rule = rules.of(connection)
    starts = wanted(run)
    allowed = Allowed(rule.queues, rule.accounts, rule.max_jobs)
    made = plan(proposal.kind, waiting, starts, allowed, now_ms, settings.ACTING_LEASE_S * 1_000)
    content = {
        "rows": rows(made, waiting, starts, of, _estimates(connection)),
        "left_out": [list(pair) for pair in made.left_out[:MAX_LEFT_OUT]],
        "left_out_count": len(made.left_out),
        "order": list(made.order),
        "goal": list(made.goal),
        "waiting": len(waiting),
    }
    digest = hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
    message = "" if made.changes else NO_CHANGES[proposal.kind]
    status = Proposal.PROPOSED if made.changes else Proposal.ENDED
    return {
        "status": status, "plan": content, "digest": digest, "planned_at": timezone.now(), "message": message,
        "ended_at": None if made.changes else timezone.now(),
    }  # fmt: skip


def _estimates(connection: Connection) -> dict[str, int]:
    """{key: Unix ms} of the starts that the cluster itself expected when it was polled last."""
    kept = Forecasting.objects.filter(pk=connection.pk).values_list("estimates", flat=True).first()
    return kept or {}


def rows(
    made: Plan, waiting: dict[str, WaitingJob], starts: list[Wanted], of: Actuator, estimates: Mapping[str, int]
) -> list[dict[str, Any]]:
    """One row per change: the change, its command and the inverse, and facts about its job.

    estimate_ms: the start that the cluster expects without the plan; None where it names none.
    """
    start_ms = {one.key: one.start_ms for one in starts}
    return [
        asdict(change)
        | {
            "until_ms": made.until.get(change.key),
            "start_ms": start_ms[change.key],
            "estimate_ms": estimates.get(change.key),
            "user": waiting[change.key].user,
            "queue": waiting[change.key].queue,
            "account": waiting[change.key].account,
            "priority": waiting[change.key].priority,
            "command": of.command(change),
            "inverse": of.command(change.inverse()),
        }
        for change in made.changes
    ]
