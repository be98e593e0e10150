"""GET /metrics: metrics of the twin in the text format of Prometheus, for viewers and for tokens that may read."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from rest_framework.request import Request
from rest_framework.views import APIView

from dashboard.auth.visible import visible
from dashboard.readmodels.operation import Twin
from twin.models import Alert, Connection


class MetricsView(APIView):
    """Metrics of all processes of the twin."""

    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponse:
        """Metrics in the text format of Prometheus; docs/operation.md defines them."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(
            Twin(visible(Alert.objects.all(), request.user), visible(Connection.objects.all(), request.user))
        )
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
