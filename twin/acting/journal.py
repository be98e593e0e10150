"""Journal of a plan: each change is stored before it is sent, so that any process can undo it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from twin.acting.proposals import record
from twin.actuators.facts import Change, Value
from twin.models import ActingRule, JournalEntry, Proposal

LEASE = timedelta(seconds=15)
AUDITED = (Proposal.APPLIED, Proposal.UNDONE, Proposal.REFUSED)  # what the acting process has brought about


class Superseded(RuntimeError):
    """Another acting process has taken the lease of the cluster; this one must not call it any more."""


class Journal:
    """Journal of one acting process under its epoch; Superseded once another one has a higher epoch."""

    def __init__(self, rule: ActingRule) -> None:
        self.rule = rule

    def write(
        self, entry: JournalEntry, state: str, message: str = "", values: Mapping[str, Value] | None = None
    ) -> None:
        """The state of the entry, before or after a call, and other fields of it."""
        with transaction.atomic():
            self._check()
            entry.state, entry.message, entry.at = state, message, timezone.now()
            for name, value in (values or {}).items():
                setattr(entry, name, value)
            entry.save(update_fields=["state", "message", "at", *(values or {})])

    def status(self, proposal: Proposal, status: str, message: str = "") -> None:
        """The plan's status; of one that is over also its end."""
        with transaction.atomic():
            self._check()
            proposal.status = status
            proposal.message = message or proposal.message
            over = status not in Proposal.OPEN
            proposal.ended_at = timezone.now() if over else None
            proposal.undo_wanted = proposal.undo_wanted and not over
            proposal.save(update_fields=["status", "message", "ended_at", "undo_wanted"])
            if status in AUDITED:
                record(None, status, proposal, {"message": proposal.message} if proposal.message else {})

    def begin(self, proposal: Proposal) -> list[JournalEntry]:
        """The entries of an approved plan, all stored before the first call."""
        with transaction.atomic():
            self._check()
            if not Proposal.objects.filter(pk=proposal.pk, status=Proposal.APPROVED).update(status=Proposal.APPLYING):
                return []  # withdrawn just now
            proposal.status = Proposal.APPLYING
            return JournalEntry.objects.bulk_create(
                JournalEntry(
                    proposal=proposal, number=number, key=row["key"], submitted_ms=row["submitted_ms"],
                    field=row["field"], before=row["before"], after=row["after"], until_ms=row["until_ms"],
                )
                for number, row in enumerate(proposal.plan["rows"], start=1)
            )  # fmt: skip

    def _check(self) -> None:
        """Check of the epoch. It renews the lease too: a plan may take longer than it."""
        now = timezone.now()
        ours = ActingRule.objects.filter(pk=self.rule.pk, epoch=self.rule.epoch)
        if not ours.update(lease_until=now + LEASE, actor_at=now):
            raise Superseded(f"another acting process serves {self.rule.connection.name} now")


def change_of(entry: JournalEntry) -> Change:
    """The change of the entry."""
    return Change(entry.key, entry.submitted_ms, entry.field, entry.before, entry.after)
