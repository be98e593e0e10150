"""GET /api/runs/<id>/jobs/<index>/counterfactuals/"""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard import counterfactuals
from twin.models import Run


class CounterfactualsView(APIView):
    """What would have flipped the decision about a job."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int, index: int) -> Response:
        """Least priority, latest target, fewest workers, later arrival."""
        run = get_object_or_404(Run.objects.select_related("scenario"), pk=pk)
        found = counterfactuals.of_job(run, index)
        if found is None:
            raise NotFound(f"Run {pk} has not decided about a job with the index {index}.")
        return Response(found)
