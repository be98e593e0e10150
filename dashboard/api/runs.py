"""Runs: start, control, and everything that the run page reads."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from dashboard import events, exports, figures, jobs, pictures
from dashboard.api.serializers import RunSerializer, SpeedSerializer
from twin import control, eventlog
from twin.models import Run

MOST_EVENTS = 5_000


class RunViewSet(mixins.RetrieveModelMixin, mixins.ListModelMixin, viewsets.GenericViewSet[Run]):
    """Runs of scenarios."""

    queryset = Run.objects.select_related("scenario", "scenario__trace").defer("scenario__trace__jobs", "scenario__trace__report")
    serializer_class = RunSerializer
    lookup_value_regex = r"\d+"

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="part of the scenario's name, the trace's or the scheduler"),
            OpenApiParameter("scenario", int, description="runs of this scenario only"),
        ]
    )
    def list(self, request: Request) -> Response:
        """The newest first."""
        return super().list(request)

    def filter_queryset(self, queryset: QuerySet[Run]) -> QuerySet[Run]:
        found = super().filter_queryset(queryset)
        if self.action == "list":
            found = found.filter(scenario__of_sweep=False)  # a sweep's page lists its runs
        if self.action == "list" and self.request.query_params.get("scenario"):
            found = found.filter(scenario_id=jobs.number(self.request.query_params, "scenario", 0, 0, 2**53))
        asked = self.request.query_params.get("q", "").strip() if self.action == "list" else ""
        names = ("scenario__name", "scenario__trace__name", "scenario__scheduler")
        return found.filter(reduce(or_, (Q(**{f"{name}__icontains": asked}) for name in names))) if asked else found

    @extend_schema(request=RunSerializer, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        """Starts a run."""
        form: BaseSerializer[Any] = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        run = control.start_run(given["scenario"], given["mode"], given.get("speed", 3600.0), request.user)
        return Response(self.get_serializer(run).data, status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, pk: str) -> Response:
        """Removes a run that has ended."""
        control.delete(self.get_object(), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Stops after the current batch."""
        return self._said(control.pause(self.get_object(), request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Goes on."""
        return self._said(control.resume(self.get_object(), request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Ends it for good."""
        return self._said(control.cancel(self.get_object(), request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def step(self, request: Request, pk: str) -> Response:
        """The next event of a paused live run."""
        return self._said(control.step(self.get_object(), request.user))

    @extend_schema(request=SpeedSerializer)
    @action(detail=True, methods=["post"])
    def clock(self, request: Request, pk: str) -> Response:
        """Another speed of a live run."""
        form = SpeedSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return self._said(control.set_speed(self.get_object(), form.validated_data["speed"], request.user))

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def static(self, request: Request, pk: str) -> HttpResponse:
        """What does not change during a run: cluster, names and demands of the jobs."""
        return pictures.static(request, self.get_object())

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def now(self, request: Request, pk: str) -> Response:
        """Its newest moment in figures: jobs by state, utility earned, what each site has allocated."""
        return Response(figures.now(self.get_object()))

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def snapshot(self, request: Request, pk: str) -> HttpResponse:
        """The whole state as columns (docs/formats.md)."""
        return pictures.snapshot(request, self.get_object())

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def delays(self, request: Request, pk: str) -> HttpResponse:
        """How long the chunks of each job upload to each server and to the cloud, as columns."""
        return pictures.delays(request, self.get_object())

    @extend_schema(
        parameters=[OpenApiParameter(name, str) for name in ("q", "state", "sort")]
        + [OpenApiParameter(n, int) for n in ("page", "size", "at_ms")],
        responses=OpenApiTypes.OBJECT,
    )
    @action(detail=True)
    def jobs(self, request: Request, pk: str) -> Response:
        """The jobs that have arrived: searched, filtered, sorted and paged by the server; with at_ms as they were known then."""
        return Response(jobs.page(self.get_object(), request.query_params))

    @extend_schema(operation_id="runs_job_story", parameters=[OpenApiParameter("at_ms", int)], responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path=r"jobs/(?P<index>\d+)")
    def job(self, request: Request, pk: str, index: str) -> Response:
        """One job's whole story; with at_ms as far as it was known then."""
        run = self.get_object()
        at_ms = jobs.number(request.query_params, "at_ms", 0, 0, 2**62) if request.query_params.get("at_ms") else None
        story = jobs.story(run, int(index), at_ms)
        if story is None:
            raise NotFound(f"Run {pk} has no job with the index {index}.")
        return Response(story)

    @extend_schema(parameters=[OpenApiParameter("after", int), OpenApiParameter("limit", int)], responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def events(self, request: Request, pk: str) -> Response:
        """Events behind `after`."""
        run = self.get_object()
        after = jobs.number(request.query_params, "after", 0, 0, run.last_seq)
        limit = jobs.number(request.query_params, "limit", 1_000, 1, MOST_EVENTS)
        found = [event for batch in eventlog.after(run.pk, after, limit=limit) for event in batch][:limit]
        rows = [{"seq": e.seq, "at_ms": e.at_ms, "kind": e.kind, "data": e.data} for e in found]
        return Response({"last_seq": run.last_seq, "events": rows})

    @extend_schema(
        parameters=[OpenApiParameter(n, str) for n in ("kind", "decision", "code")]
        + [OpenApiParameter(n, int) for n in ("job", "before", "until_ms", "size")],
        responses=OpenApiTypes.OBJECT,
    )
    @action(detail=True, url_path="events/table")
    def table(self, request: Request, pk: str) -> Response:
        """Events in words, the newest first, filtered by the server."""
        return Response(events.page(self.get_object(), request.query_params))

    @extend_schema(parameters=[OpenApiParameter("after", int)], responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def payoffs(self, request: Request, pk: str) -> Response:
        """What each decision behind the event `after` told as its payoff: what the schedule is coloured by."""
        run = self.get_object()
        return Response(events.payoffs(run, jobs.number(request.query_params, "after", 0, 0, run.last_seq)))

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def log(self, request: Request, pk: str) -> StreamingHttpResponse:
        """The whole log."""
        return exports.log(self.get_object())

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def schedule(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Every bar."""
        return exports.schedule(self.get_object())

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.BINARY})
    def perfetto(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Every bar, for Perfetto's viewer."""
        return exports.perfetto(self.get_object())

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def summary(self, request: Request, pk: str) -> Response:
        """The figures of a run."""
        return Response(exports.summary(self.get_object()))

    def _said(self, run: Run) -> Response:
        return Response(self.get_serializer(run).data)
