"""GET /api/metrics/: the table of metrics."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from scheduling.reporting.metric_table import METRICS


class MetricSerializer(serializers.Serializer[Any]):
    """A metric. direction: that of better values. scope: `run` and `comparison` metrics are of runs, the latter only in
    comparisons and sweeps; `job` metrics are of one job.
    """

    key = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    direction = serializers.ChoiceField(choices=("higher", "lower"), allow_null=True)
    definition = serializers.CharField()
    scope = serializers.CharField(allow_blank=True)


@extend_schema(responses=MetricSerializer(many=True))
@api_view()
def metric_list(request: Request) -> Response:
    """Key, title, unit, direction (higher, lower or null), definition and scope of every metric, in the order shown."""
    return Response([asdict(metric) for metric in METRICS])
