"""Certificates: requested and cancelled by an operator."""

from __future__ import annotations

from typing import Any

from twin.analysis import certificate_task
from twin.infra.errors import Refused
from twin.models import Run
from twin.runs import scheduler_history
from twin.runs.commands.audit import audit


def request_certificate(run_id: int, user: Any = None) -> None:
    """Request for a certificate of the run's present log; Refused if a scheduler of the run cannot be used any more."""
    run = Run.objects.select_related("scenario").filter(pk=run_id).first()
    if run is not None and (missing := scheduler_history.missing(run)):
        raise Refused(f"a certificate of run {run_id} cannot be computed: {' '.join(missing)}")
    if not certificate_task.request(run_id):
        raise Refused(f"a certificate of run {run_id} is being computed; wait for it, or cancel it")
    audit(user, "certificate.request", f"run {run_id}", {})


def cancel_certificate(run_id: int, user: Any = None) -> None:
    """End of the computation of the run's certificate, or of its wait; it is repeated later if the run continues."""
    if not certificate_task.cancel(run_id):
        raise Refused(f"no certificate of run {run_id} is queued or being computed")
    audit(user, "certificate.cancel", f"run {run_id}", {})
