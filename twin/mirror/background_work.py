"""Background work on live clusters that an operator cancels and requests again: audit, forecast and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.utils import timezone

from twin.analysis import closing_metrics
from twin.infra.errors import Refused
from twin.mirror import drift_task
from twin.mirror.forecasts import forecast_task
from twin.models import Connection, Run
from twin.processes import exclusive
from twin.processes.dispatch import send
from twin.runs.commands import audit

PAUSE = timedelta(minutes=10)  # from a cancel to the next audit or forecast, as for certificates
FOR_EVER = timedelta(days=36_500)  # the metrics of an ended run do not change

State = Literal["computing", "cancelled", ""]


@dataclass(frozen=True)
class BackgroundWork:
    """A task for one subject. name: in sentences; topic: part of the entry's action before `.cancel`.

    expires_s: time after which a request that no worker accepted expires.
    """

    task: str
    queue: str
    expires_s: float
    key: int
    name: str
    topic: str
    subject: str
    pause: timedelta = PAUSE

    def state(self) -> State:
        """State of the task; empty if it is neither in progress nor cancelled."""
        if self.key in exclusive.in_progress(self.task):
            return "computing"
        return "cancelled" if self.key in exclusive.cancelled(self.task) else ""

    def cancel(self, user: Any = None) -> None:
        """Cancellation of the computation in progress; earlier results stay."""
        if not exclusive.cancel(self.task, self.key, timezone.now() + self.pause):
            raise Refused(f"{self.name} is not in progress; there is nothing to cancel")
        audit(user, f"{self.topic}.cancel", self.subject, {})

    def request(self, user: Any = None) -> None:
        """Request after a cancel; if the broker refuses it, the ticker repeats it when the work is next due."""
        if not exclusive.allow(self.task, self.key):
            raise Refused(f"{self.name} was not cancelled; it begins by itself when it is due")
        audit(user, f"{self.topic}.request", self.subject, {})
        send(self.task, self.key, queue=self.queue, expires=self.expires_s)


def audit_of(connection: Connection) -> BackgroundWork:
    """The drift audit of a live cluster."""
    name = connection.name
    return BackgroundWork(
        drift_task.TASK, drift_task.QUEUE, drift_task.ASKED_S, connection.pk, f"The audit of {name}", "drift",
        f"connection {name}",
    )  # fmt: skip


def forecast_of(connection: Connection) -> BackgroundWork:
    """The forecast of the waiting jobs of a live cluster."""
    name = connection.name
    return BackgroundWork(
        forecast_task.TASK, forecast_task.QUEUE, forecast_task.ASKED_S, connection.pk, f"The forecast of {name}",
        "forecast", f"connection {name}",
    )  # fmt: skip


def metrics_of(run: Run) -> BackgroundWork:
    """The metrics of an ended run of a live cluster."""
    name = f"run {run.pk}"
    return BackgroundWork(
        closing_metrics.TASK, closing_metrics.QUEUE, closing_metrics.ASKED_S, run.pk,
        f"The computation of the metrics of {name}", "metrics", name, FOR_EVER,
    )  # fmt: skip
