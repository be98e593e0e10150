"""Runs side by side: what the compare page reads, and its downloads."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard import comparisons, exports
from dashboard.comparisons import SORTS
from dashboard.pictures import answered
from twin.comparing.differences import KINDS

RUNS = OpenApiParameter(
    "runs", str, required=True, description="2 to 24 runs, as in 1,2,3. The first is the base, the first six are compared in full"
)
FILTERS = [
    OpenApiParameter("run", int, description="which run is told against the base; the second unless named"),
    OpenApiParameter("kind", str, enum=list(KINDS), description="only this kind of difference"),
    OpenApiParameter("q", str, description="part of the job's id or model"),
    OpenApiParameter("sort", str, description=f"{', '.join(SORTS)}: the other minus the base; - before it for descending"),
]


class CompareViewSet(viewsets.ViewSet):
    """Comparisons are computed on demand, from the logs; nothing is stored."""

    @extend_schema(operation_id="compare", parameters=[RUNS], responses=OpenApiTypes.OBJECT)
    def list(self, request: Request) -> Response:
        """Figures with deltas and direction, distributions, counts of differences, the first divergence, groups."""
        return Response(comparisons.told(_runs(request)))

    @extend_schema(
        operation_id="compare_jobs",
        parameters=[RUNS, *FILTERS, OpenApiParameter("page", int), OpenApiParameter("size", int)],
        responses=OpenApiTypes.OBJECT,
    )
    def jobs(self, request: Request) -> Response:
        """The jobs that differ from the base: searched, filtered, sorted and paged by the server."""
        return Response(comparisons.page(_runs(request), request.query_params))

    @extend_schema(
        operation_id="compare_kinds", parameters=[RUNS], responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}
    )
    def kinds(self, request: HttpRequest) -> HttpResponse:
        """Of every job the kinds of its difference, as columns (docs/formats.md)."""
        return answered(request, comparisons.kinds(_runs(request)), "application/octet-stream")

    @extend_schema(operation_id="compare_metrics_csv", parameters=[RUNS], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def metrics(self, request: Request) -> StreamingHttpResponse:
        """The table of figures."""
        return exports.download(comparisons.metric_lines(_runs(request)), "compare-metrics.csv", "text/csv; charset=utf-8")

    @extend_schema(
        operation_id="compare_differences_csv", parameters=[RUNS, *FILTERS], responses={(200, "text/csv"): OpenApiTypes.BINARY}
    )
    def differences(self, request: Request) -> StreamingHttpResponse:
        """Every job that differs, with the filters of the table."""
        runs = _runs(request)
        comparisons.page(runs, request.query_params)  # refuses a wrong filter before the first byte
        lines = comparisons.difference_lines(runs, request.query_params)
        return exports.download(lines, "compare-differences.csv", "text/csv; charset=utf-8")


def _runs(request: HttpRequest) -> list:
    return comparisons.runs_of(request.GET.get("runs", ""))
