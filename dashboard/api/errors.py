"""Errors of the twin and the scheduling core as HTTP 400 with their message."""

from __future__ import annotations

import logging
from typing import Any

from django.db import DataError, OperationalError
from django.db.models import ProtectedError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.infra import disk
from twin.runs.commands import Refused

log = logging.getLogger(__name__)
SAID = (Refused, ModelError, UnknownName)


def handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Exception handler of DRF, extended by errors of the lower layers."""
    if isinstance(error, SAID):
        return Response({"detail": str(error)}, status=400)
    if isinstance(error, ProtectedError):
        return Response({"detail": "Still used by a scenario, a run or a sweep; delete those first."}, status=409)
    if isinstance(error, DataError):  # PostgreSQL: a number or a text that it cannot hold
        return Response({"detail": f"The database cannot store this: {' '.join(str(error).split())}."}, status=400)
    if isinstance(error, OperationalError):
        log.warning("%s: %s", context["request"].path, error)
        reason = disk.behind(error) or "the database cannot store it now"
        return Response(
            {"detail": f"{reason[0].upper()}{reason[1:]} ({' '.join(str(error).split())}). Try again later."},
            status=503,
        )
    return exception_handler(error, context)
