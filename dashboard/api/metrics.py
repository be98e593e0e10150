"""GET /api/metrics/: the table of metrics."""

from dataclasses import asdict

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from scheduling.reporting.metric_table import METRICS


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view()
def metric_list(request: Request) -> Response:
    """Key, title, unit, direction (higher, lower or null), definition and scope of every metric, in the order shown."""
    return Response([asdict(metric) for metric in METRICS])
