"""The acting process of one connection: carries out approved plans, maintains them, and undoes them.

It alone has the credential that may change jobs. It takes instructions only from the database and opens no port. The
lease in the connection's rule makes sure that one process at a time acts; a new one first undoes what another one left
unfinished.
"""

from __future__ import annotations

import logging
import socket
import threading
import time

from django.db import DatabaseError, close_old_connections, transaction
from django.utils import timezone

from twin.acting import rules
from twin.acting.execution import Execution
from twin.acting.journal import LEASE, Journal, Superseded
from twin.actuators.base import Actuator
from twin.actuators.facts import ActuatorError
from twin.models import ActingRule, Connection, Proposal
from twin.processes.progress import Progress
from twin.runs import lease

log = logging.getLogger(__name__)
STEP_S = 0.5
HOLD_S = 5.0  # between two polls of the jobs of a plan that is applied
ACCOUNT_S = 60.0  # between two checks of the account's right
AGAIN_S = 5.0  # after a change that could not be undone
STUCK_S = 60.0  # a loop that makes no progress for this long hangs; each call of a command is progress
INTERRUPTED = "the acting process was interrupted"


class Actor:
    """Acting process of one connection, until `stop` is set."""

    def __init__(self, connection: Connection, actuator: Actuator, stop: threading.Event) -> None:
        self.connection, self.actuator, self.stop = connection, actuator, stop
        self.execution: Execution | None = None
        self.rule: ActingRule | None = None
        self.progress = Progress(f"processed plans of {connection.name}", STUCK_S)
        self.held_at = self.account_at = self.failed_at = float("-inf")

    def run(self) -> None:
        """Steps until the stop signal; waits for an unavailable database."""
        self.progress.own()
        while not self.stop.wait(STEP_S):
            self.progress.note()
            try:
                self.step()
            except Superseded as error:
                log.warning("%s: %s", self.connection.name, error)
                self.execution = None
            except (DatabaseError, OSError) as error:
                log.warning("%s waits: %s", self.connection.name, error)
                close_old_connections()
        if self.rule is not None:
            ActingRule.objects.filter(pk=self.rule.pk, epoch=self.rule.epoch).update(lease_until=None, actor_at=None)

    def fault(self) -> str:
        """Fault of a loop that hangs; empty while it runs."""
        return self.progress.fault()

    def step(self) -> None:
        """One step: the lease and the heartbeat are renewed, then each open plan advances."""
        if self.execution is None:
            self._take()
        if self.execution is None or self.rule is None:
            return
        self._live()
        for proposal in Proposal.objects.filter(connection=self.connection, status__in=Proposal.OPEN).order_by("id"):
            proposal.connection = Connection.objects.select_related("run").get(pk=self.connection.pk)
            self._advance(self.execution, proposal)

    def _advance(self, execution: Execution, proposal: Proposal) -> None:
        now = time.monotonic()
        self.actuator.clock_offset_ms = proposal.connection.health.get("clock_offset_ms") or 0
        try:
            if proposal.status == Proposal.APPROVED:
                execution.carry_out(proposal)
            elif proposal.status == Proposal.APPLIED:
                stopped = rules.why_stopped(self._rule()) or proposal.undo_wanted
                if stopped or now - self.held_at > HOLD_S:
                    self.held_at = now
                    execution.hold(proposal)
            elif now - self.failed_at > AGAIN_S:  # undoing, or applying when another process was interrupted
                why = proposal.message.removeprefix("Undo: ").rstrip(".") or INTERRUPTED
                if not execution.take_back(proposal, why):
                    self.failed_at = now
        except ActuatorError as error:  # of a plan that is applied: begin times run out by themselves
            log.warning("%s, plan %s: %s", self.connection.name, proposal.pk, error)

    def _take(self) -> None:
        """The lease, unless another process has it; ActingRule's epoch is then ours."""
        with transaction.atomic():
            rule, _ = ActingRule.objects.select_for_update().get_or_create(connection=self.connection)
            now = timezone.now()
            if lease.in_force(rule.lease_until, rule.lease_owner, LEASE):
                return
            rule.epoch, rule.lease_owner, rule.lease_until = rule.epoch + 1, lease.new_owner(), now + LEASE
            rule.actor = {"host": socket.gethostname(), "account": "", "error": ""}
            rule.actor_at = now
            rule.save(update_fields=["epoch", "lease_owner", "lease_until", "actor", "actor_at"])
        self.rule, self.account_at = rule, float("-inf")
        self.execution = Execution(self.actuator, Journal(rule), self._rule, self.stop.wait)

    def _live(self) -> None:
        """Renewal of the lease, and at intervals a check of the account's right; Superseded when the lease is lost."""
        assert self.rule is not None
        now = timezone.now()
        values: dict[str, object] = {"lease_until": now + LEASE, "actor_at": now}
        if time.monotonic() - self.account_at > ACCOUNT_S:
            self.account_at = time.monotonic()
            try:
                values["actor"] = {"host": socket.gethostname(), "account": self.actuator.account(), "error": ""}
            except ActuatorError as error:
                self.account_at += AGAIN_S - ACCOUNT_S
                values["actor"] = {"host": socket.gethostname(), "account": "", "error": str(error)}
        if not ActingRule.objects.filter(pk=self.rule.pk, epoch=self.rule.epoch).update(**values):
            raise Superseded("another acting process has taken over")

    def _rule(self) -> ActingRule:
        return rules.of(self.connection)
