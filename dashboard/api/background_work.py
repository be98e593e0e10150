"""Background work on live clusters: cancelled by an operator, and requested again."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import one
from dashboard.openapi.answers import answer
from twin.mirror.background_work import audit_of, forecast_of, metrics_of
from twin.models import Connection, Run

DONE = {204: None}


class AuditWorkView(APIView):
    """POST and DELETE /api/live/<name>/audit/"""

    @extend_schema(operation_id="live_audit_request", request=None, responses=DONE)
    def post(self, request: Request, name: str) -> Response:
        """Requests the drift audit after a cancel."""
        audit_of(one(Connection.objects.all(), request.user, name=name)).request(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="live_audit_cancel", responses=DONE)
    def delete(self, request: Request, name: str) -> Response:
        """Cancels the drift audit in progress, which ends within seconds; the audit before it is kept."""
        audit_of(one(Connection.objects.all(), request.user, name=name)).cancel(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ForecastWorkView(APIView):
    """POST and DELETE /api/live/<name>/forecast/work/"""

    @extend_schema(operation_id="live_forecast_request", request=None, responses=DONE)
    def post(self, request: Request, name: str) -> Response:
        """Requests the forecast after a cancel."""
        forecast_of(one(Connection.objects.all(), request.user, name=name)).request(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="live_forecast_cancel", responses=DONE)
    def delete(self, request: Request, name: str) -> Response:
        """Cancels the forecast in progress, which ends within seconds; the forecast before it is kept."""
        forecast_of(one(Connection.objects.all(), request.user, name=name)).cancel(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MetricsWorkView(APIView):
    """GET, POST and DELETE /api/runs/<id>/metrics/"""

    @extend_schema(operation_id="run_metrics_work", responses={200: answer("RunMetricsWork")})
    def get(self, request: Request, pk: int) -> Response:
        """{state}: of the computation of the metrics of an ended run of a live cluster."""
        return Response({"state": metrics_of(one(Run.objects.only("pk"), request.user, pk=pk)).state()})

    @extend_schema(operation_id="run_metrics_request", request=None, responses=DONE)
    def post(self, request: Request, pk: int) -> Response:
        """Requests the metrics of an ended run of a live cluster after a cancel."""
        metrics_of(one(Run.objects.only("pk"), request.user, pk=pk)).request(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="run_metrics_cancel", responses=DONE)
    def delete(self, request: Request, pk: int) -> Response:
        """Cancels the computation of the metrics of an ended run of a live cluster, which ends within seconds."""
        metrics_of(one(Run.objects.only("pk"), request.user, pk=pk)).cancel(request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
