"""GET /api/runs/<id>/jobs/<index>/counterfactuals/"""

from __future__ import annotations

import math

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import one
from dashboard.openapi.answers import answer
from dashboard.readmodels import counterfactuals
from scheduling.model.values import ModelError, shorten
from twin.models import Run


class CounterfactualsView(APIView):
    """Counterfactuals of the decision about a job."""

    @extend_schema(
        parameters=[OpenApiParameter("seconds", float, description="Time limit of the search in seconds, at most 30")],
        responses={200: answer("JobCounterfactuals")},
    )
    def get(self, request: Request, pk: int, index: int) -> Response:
        """Counterfactuals of the first decision: priority, target, workers and arrival (docs/glossary.md).

        400 if the scheduler does not decide by prices, or decided about the job at an edit.
        """
        run = one(Run.objects.select_related("scenario"), request.user, pk=pk)
        found = counterfactuals.of_job(run, index, _seconds(request.query_params.get("seconds", "")))
        if found is None:
            raise NotFound(
                f"Run {pk} has no decision about a job with the index {index}; its jobs are numbered from 0."
            )
        return Response(found)


def _seconds(text: str) -> float:
    """Time limit of the search in seconds."""
    if not text:
        return counterfactuals.SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= counterfactuals.MAX_SECONDS:
        raise ModelError(
            f"seconds must be a number above 0 and up to {counterfactuals.MAX_SECONDS:.0f}, got {shorten(repr(text))}"
        )
    return seconds
