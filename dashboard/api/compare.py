"""Comparison of runs: data of the compare page and its downloads."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status, viewsets
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth.visible import visible, what_was
from dashboard.http.compressed import compressed
from dashboard.http.streamed import streamed
from dashboard.openapi.answers import answer
from dashboard.readmodels.comparison import csv_lines, job_differences
from dashboard.readmodels.comparison.job_differences import SORTS
from dashboard.readmodels.comparison.payload import payload
from dashboard.readmodels.comparison.requested_runs import Listed, listed
from twin.analysis.comparison.differences import DIFFERENCE_TYPES
from twin.models import Run
from twin.runs import readers

RUNS = OpenApiParameter(
    "runs",
    str,
    required=True,
    description="2 to 24 run numbers, for example 1,2,3. The first run is the baseline; the first six are compared "
    "in full. Deleted runs are left out, and a note names them; 404 if none is left",
)
FILTERS = [
    OpenApiParameter("run", int, description="Run to compare with the baseline; by default the second"),
    OpenApiParameter("kind", str, enum=list(DIFFERENCE_TYPES), description="Kind of difference"),
    OpenApiParameter("q", str, description="Part of the job's id or model"),
    OpenApiParameter(
        "sort",
        str,
        description=f"{', '.join(SORTS)}: value of the other run minus the baseline; a leading - sorts descending",
    ),
]


class CompareViewSet(viewsets.ViewSet):
    """Comparisons, computed on demand from the logs."""

    @extend_schema(operation_id="compare", parameters=[RUNS], responses={200: answer("Comparison")})
    def comparison(self, request: Request) -> Response:
        """Metrics with differences and direction, distributions, counts of differences, divergence, breakdowns."""
        found = _listed(request)
        return Response(payload(found.runs, found.lost))

    @extend_schema(operation_id="compare_open", parameters=[RUNS], responses={204: None})
    def open(self, request: Request) -> Response:
        """Keeps the compared runs from automatic deletion for another hour; an open page repeats it."""
        _listed(request)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="compare_jobs",
        parameters=[RUNS, *FILTERS, OpenApiParameter("page", int), OpenApiParameter("size", int)],
        responses={200: answer("ComparedJobs")},
    )
    def jobs(self, request: Request) -> Response:
        """Page of the jobs that differ from the baseline, with search, filters and sorting."""
        return Response(job_differences.page(_runs(request), request.query_params))

    @extend_schema(
        operation_id="compare_kinds",
        parameters=[RUNS],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def kinds(self, request: HttpRequest) -> HttpResponse:
        """Kinds of difference of every job, as columns (docs/formats.md)."""
        return compressed(request, job_differences.kinds(_runs(request)))

    @extend_schema(
        operation_id="compare_metrics_csv", parameters=[RUNS], responses={(200, "text/csv"): OpenApiTypes.BINARY}
    )
    def metrics(self, request: Request) -> StreamingHttpResponse:
        """Table of metrics as CSV."""
        runs = _runs(request)
        answer = payload(runs)  # here, so that runs that cannot be compared are refused before the first byte
        return streamed(csv_lines.metric_lines(runs, answer), "compare-metrics.csv", "text/csv; charset=utf-8")

    @extend_schema(
        operation_id="compare_differences_csv",
        parameters=[RUNS, *FILTERS],
        responses={(200, "text/csv"): OpenApiTypes.BINARY},
    )
    def differences(self, request: Request) -> StreamingHttpResponse:
        """Jobs that differ, as CSV, with the filters of the table."""
        runs = _runs(request)
        job_differences.page(runs, request.query_params)  # refuses a wrong filter before the first byte
        lines = csv_lines.difference_lines(runs, request.query_params)
        return streamed(lines, "compare-differences.csv", "text/csv; charset=utf-8")


def _listed(request: HttpRequest) -> Listed:
    user = request.user
    seen = visible(Run.objects.all(), user)
    found = listed(request.GET.get("runs", ""), seen, lambda number: what_was("run", number, user))
    if not found.runs:
        raise NotFound(" ".join(found.lost))
    readers.mark(*(run.pk for run in found.runs))
    return found


def _runs(request: HttpRequest) -> list[Run]:
    return _listed(request).runs
