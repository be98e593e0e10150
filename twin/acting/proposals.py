"""Proposals: plans that operators request and undo, and approvers approve. Each step is an entry of the audit list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from scheduling.kernel.registry import scheduler_class
from twin.acting import gates, rules
from twin.acting.plan import PLAN_TYPES
from twin.infra.errors import Refused
from twin.models import AuditEntry, Connection, Proposal
from twin.runs import commands


def propose(
    connection: Connection, scheduler: str, parameters: Mapping[str, Any], kind: str, user: Any = None
) -> Proposal:  # fmt: skip
    """A proposal by what the scheduler would do from now on: a fork of the cluster's run, whose end makes the plan.

    Refused where plans are off or not possible; UnknownName and ModelError for a scheduler that cannot run.
    """
    rule = rules.of(connection)
    if kind not in PLAN_TYPES:
        raise Refused(f"kind must be one of {', '.join(PLAN_TYPES)}, got {kind!r}")
    if why := gates.why_no_proposal(connection, rule):
        raise Refused(why)
    assert connection.run_id is not None
    options = {"scheduler": scheduler, "parameters": dict(parameters)}
    with transaction.atomic():
        name = f"{connection.name}, plan by {scheduler_class(scheduler).title}"
        _, run = commands.fork_and_start(connection.run_id, None, name, [], True, user, options)
        made = Proposal.objects.create(
            connection=connection,
            run=run,
            scheduler=scheduler,
            parameters=dict(parameters),
            kind=kind,
            made_by=_known(user),
        )
        record(user, "propose", made, {"scheduler": scheduler, "kind": kind})
    return made


def approve(proposal: Proposal, digest: str, user: Any = None) -> Proposal:
    """Approval of the plan as it was shown: the acting process carries it out. Refused where a condition is not met."""
    with transaction.atomic():
        now = _locked(proposal)
        if now.status != Proposal.PROPOSED:
            raise Refused(f"plan {now.pk} is {now.status}; only a proposed plan can be approved")
        if digest != now.digest:
            raise Refused(f"plan {now.pk} is not the one that was shown; reload the page and check it again")
        others = Proposal.objects.filter(connection=now.connection, status__in=Proposal.OPEN).exclude(pk=now.pk)
        if other := others.first():
            raise Refused(f"plan {other.pk} is {other.status}; undo it first")
        if why := gates.why_not(now, rules.of(now.connection)):
            raise Refused(why)
        now.status, now.approved_by, now.approved_at = Proposal.APPROVED, _known(user), timezone.now()
        now.save(update_fields=["status", "approved_by", "approved_at"])
        record(user, "approve", now, {"digest": digest[:12]})
    return now


def undo(proposal: Proposal, user: Any = None) -> Proposal:
    """Request to undo the changes of a plan."""
    with transaction.atomic():
        now = _locked(proposal)
        if now.status == Proposal.APPROVED:  # nothing has been sent, unless the acting process has taken it just now
            now.status, now.ended_at, now.message = Proposal.DISCARDED, timezone.now(), "Withdrawn before it began."
        elif now.status in (Proposal.APPLYING, Proposal.APPLIED):
            now.undo_wanted = True
        else:
            raise Refused(f"plan {now.pk} is {now.status}; there is nothing to undo")
        now.save(update_fields=["status", "undo_wanted", "ended_at", "message"])
        record(user, "undo", now, {})
    return now


def discard(proposal: Proposal, user: Any = None) -> Proposal:
    """A proposal that is not wanted."""
    with transaction.atomic():
        now = _locked(proposal)
        if now.status not in (Proposal.COMPUTING, Proposal.PROPOSED):
            raise Refused(f"plan {now.pk} is {now.status}; only a plan that is not approved can be discarded")
        now.status, now.ended_at = Proposal.DISCARDED, timezone.now()
        now.save(update_fields=["status", "ended_at"])
        record(user, "discard", now, {})
    return now


def record(user: Any, verb: str, proposal: Proposal, detail: dict[str, Any]) -> None:
    """Entry of the audit list about a plan."""
    AuditEntry.objects.create(
        user=_known(user), action=f"plan.{verb}", subject=f"plan {proposal.pk}",
        detail={"name": proposal.connection.name, **detail},
    )  # fmt: skip


def _locked(proposal: Proposal) -> Proposal:
    found = Proposal.objects.select_for_update(of=("self",)).select_related("connection", "connection__run")
    return found.get(pk=proposal.pk)


def _known(user: Any) -> Any:
    return user if getattr(user, "pk", None) else None
