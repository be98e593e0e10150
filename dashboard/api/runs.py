"""Runs: start, control, and all data of the run page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from dashboard.api.serializers.runs import RunSerializer, SpeedSerializer, StartRunSerializer
from dashboard.auth.visible import OfTeams, visible, what_was
from dashboard.http.body import body
from dashboard.http.compressed import compressed
from dashboard.http.streamed import streamed
from dashboard.openapi.answers import answer
from dashboard.query import number
from dashboard.readmodels import (
    downloads,
    event_table,
    job_story,
    job_table,
    run_payloads,
    run_summary,
    situation,
)
from dashboard.readmodels.large import levels
from scheduling.kernel.parameters import UnknownName
from scheduling.kernel.registry import recorders, schedulers
from scheduling.model.known_names import unknown
from scheduling.model.values import ModelError
from twin.analysis.thumbnail import thumbnail
from twin.eventlog import event_log
from twin.eventlog.large_runs import is_large
from twin.models import Alert, Run
from twin.models.run_modes import MODES
from twin.runs import commands, scheduler_history

MAX_EVENTS = 5_000
STATUSES = (*Run.ACTIVE, Run.FINISHED, Run.CANCELLED, Run.FAILED)


class RunViewSet(OfTeams, mixins.RetrieveModelMixin, mixins.ListModelMixin, viewsets.GenericViewSet[Run]):
    """Runs of scenarios."""

    queryset = Run.objects.select_related("scenario__team", "scenario__trace").defer(
        "scenario__trace__jobs", "scenario__trace__report"
    )
    serializer_class = RunSerializer
    lookup_value_regex = r"\d+"

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "q", str, description="Part of the name of the scenario, the trace or a scheduler of the run"
            ),
            OpenApiParameter("scenario", int, description="Number of a scenario"),
            OpenApiParameter("status", str, enum=STATUSES, description="Status of a run"),
            OpenApiParameter("scheduler", str, description="Scheduler that has been in charge of a run"),
        ]
    )
    def list(self, request: Request) -> Response:
        """Runs, newest first; by_status and by_scheduler: number of runs with each value.

        Each of the two ignores its own filter and applies all others. A run counts for each scheduler that has been
        in charge of it so far; scheduler_titles: the title of each of these schedulers.
        """
        answer = super().list(request)
        asked = self._asked(self.get_queryset()).order_by()
        answer.data["by_status"] = dict.fromkeys(STATUSES, 0) | dict(
            asked.filter(self._with_scheduler).values_list("status").annotate(Count("pk"))
        )
        answer.data["by_scheduler"] = scheduler_history.counts(asked.filter(self._with_status))
        answer.data["scheduler_titles"] = {
            name: scheduler_history.in_order(name, [])[0].title for name in answer.data["by_scheduler"]
        }
        return answer

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One run. edits_ms: times of its edits, without those that are switched off. covers: phases of
        metrics that do not cover the whole run, {key: {title, text}}.

        Cancelled and failed runs have the metrics up to metrics_until_ms, unless they are large.
        """
        run = self.get_object()
        edits_ms = [edit.get("at_ms", 0) for edit in run.edits if not edit.get("off")]
        row = dict(self.get_serializer(run).data) | {
            "metrics_until_ms": None,
            "edits_ms": edits_ms,
            "covers": run_payloads.covers(run),
        }
        broken_off = run.status in (Run.CANCELLED, Run.FAILED) and run.last_seq and not run.metrics
        if broken_off and not is_large(run):
            row |= {"metrics": run_summary.metrics_so_far(run), "metrics_until_ms": run.sim_ms}
        return Response(row)

    def get_object(self) -> Run:
        """The run; the 404 of a deleted run states what it was."""
        try:
            return super().get_object()
        except Http404:
            was = what_was("run", int(self.kwargs["pk"]), self.request.user)
            raise NotFound(str(was) if was else f"Run {self.kwargs['pk']} does not exist.") from None

    def filter_queryset(self, queryset: QuerySet[Run]) -> QuerySet[Run]:
        found = super().filter_queryset(queryset)
        if self.action != "list":
            return found
        return self._asked(found).filter(self._with_status, self._with_scheduler)

    @cached_property
    def _with_status(self) -> Q:
        status = _chosen(self.request, "status", STATUSES)
        return Q(status=status) if status else Q()

    @cached_property
    def _with_scheduler(self) -> Q:
        name = _chosen(self.request, "scheduler", (*schedulers(), *recorders()))
        return scheduler_history.under(name, scheduler_history.handed_over(self.get_queryset())) if name else Q()

    def _asked(self, found: QuerySet[Run]) -> QuerySet[Run]:
        """The listed runs by scenario and text, in any state and with any scheduler."""
        found = found.filter(scenario__unlisted=False)  # a sweep's page lists its runs
        if self.request.query_params.get("scenario"):
            found = found.filter(scenario_id=number(self.request.query_params, "scenario", 0, 0, 2**53))
        asked = self.request.query_params.get("q", "").strip()
        if not asked:
            return found
        named = Q(scenario__name__icontains=asked) | Q(scenario__trace__name__icontains=asked)
        return found.filter(named | scheduler_history.found_by(asked))

    @extend_schema(request=StartRunSerializer, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        """Starts a run."""
        form: BaseSerializer[Any] = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        if "speed" in given and not MODES[given["mode"]].paced:
            raise ValidationError({"speed": ["This field is only for live runs; omit it, or set mode to live."]})
        run = commands.start_run(given["scenario"], given["mode"], given.get("speed", 3600.0), request.user)
        return Response(self.get_serializer(run).data, status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, pk: str) -> Response:
        """Deletes a run that has ended."""
        commands.delete(self.get_object(), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Pauses the run after the current batch."""
        return self._response(commands.pause(self.get_object(), request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Resumes the run."""
        return self._response(commands.resume(self.get_object(), request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancels the run permanently."""
        return self._response(commands.cancel(self.get_object(), request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def step(self, request: Request, pk: str) -> Response:
        """Processes all events of the next instant of a paused live run."""
        return self._response(commands.step(self.get_object(), request.user))

    @extend_schema(request=SpeedSerializer)
    @action(detail=True, methods=["post"])
    def clock(self, request: Request, pk: str) -> Response:
        """Sets the speed of a live run."""
        given = body(SpeedSerializer, request)
        return self._response(commands.set_speed(self.get_object(), given["speed"], request.user))

    @extend_schema(responses={200: answer("RunStatic")})
    @action(detail=True)
    def static(self, request: Request, pk: str) -> HttpResponse:
        """Static data of a run: cluster, names and demands of the jobs."""
        return compressed(request, run_payloads.static(self.get_object()), "application/json")

    @extend_schema(responses={200: answer("RunNow")})
    @action(detail=True)
    def now(self, request: Request, pk: str) -> Response:
        """Summary at the newest time: jobs by state, total utility, allocation by site."""
        return Response(run_summary.now(self.get_object()))

    @extend_schema(responses={200: answer("RunSituation")})
    @action(detail=True)
    def situation(self, request: Request, pk: str) -> Response:
        """Current state: load of each server, queue, next starts and finishes, and what needs attention."""
        return Response(situation.situation(self.get_object(), visible(Alert.objects.all(), request.user)))

    @extend_schema(responses={200: answer("RunThumbnail")})
    @action(detail=True)
    def thumbnail(self, request: Request, pk: str) -> Response:
        """Raster of allocation by group of servers and time (docs/architecture.md)."""
        run = self.get_object()
        return Response(levels.thumbnail(run) if is_large(run) else thumbnail(run))

    @extend_schema(
        parameters=[
            *(OpenApiParameter(name, int) for name in ("from_ms", "to_ms", "columns")),
            OpenApiParameter("after", int, description="Number of an event; ready once levels include later events"),
        ],
        responses={200: answer("RunLevels")},
    )
    @action(detail=True)
    def levels(self, request: Request, pk: str) -> Response:
        """Levels of detail of a large run: allocation, arrivals and ends in the window from_ms to to_ms."""
        return Response(levels.page(self.get_object(), request.query_params))

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def snapshot(self, request: Request, pk: str) -> HttpResponse:
        """Complete state as columns (docs/formats.md)."""
        return compressed(request, run_payloads.snapshot(self.get_object()))

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def delays(self, request: Request, pk: str) -> HttpResponse:
        """Upload times of chunks by job, to each server and to the cloud, as columns."""
        return compressed(request, run_payloads.delays(self.get_object()))

    @extend_schema(
        parameters=[OpenApiParameter(name, str) for name in ("q", "state", "sort")]
        + [OpenApiParameter(n, int) for n in ("page", "size", "at_ms")],
        responses={200: answer("RunJobs")},
    )
    @action(detail=True)
    def jobs(self, request: Request, pk: str) -> Response:
        """Page of the arrived jobs, with search, filters and sorting; at_ms selects a past time."""
        return Response(job_table.page(self.get_object(), request.query_params))

    @extend_schema(
        operation_id="runs_job_story",
        parameters=[OpenApiParameter("at_ms", int)],
        responses={200: answer("RunJobStory")},
    )
    @action(detail=True, url_path=r"jobs/(?P<index>\d+)")
    def job(self, request: Request, pk: str, index: str) -> Response:
        """Details of one job; at_ms selects a past time."""
        run = self.get_object()
        at_ms = number(request.query_params, "at_ms", 0, 0, 2**62) if request.query_params.get("at_ms") else None
        story = job_story.story(run, int(index), at_ms)
        if story is None:
            raise NotFound(f"Run {pk} has no job with the index {index}.")
        return Response(story)

    @extend_schema(
        parameters=[OpenApiParameter("after", int), OpenApiParameter("limit", int)],
        responses={200: answer("RunEvents")},
    )
    @action(detail=True)
    def events(self, request: Request, pk: str) -> Response:
        """Events after the sequence number `after`."""
        run = self.get_object()
        after = number(request.query_params, "after", 0, 0, 2**53)
        limit = number(request.query_params, "limit", 1_000, 1, MAX_EVENTS)
        found = [event for batch in event_log.after(run.pk, after, limit=limit) for event in batch][:limit]
        rows = [{"seq": e.seq, "at_ms": e.at_ms, "kind": e.kind, "data": e.data} for e in found]
        return Response({"last_seq": run.last_seq, "events": rows})

    @extend_schema(
        parameters=[OpenApiParameter(n, str) for n in ("kind", "decision", "code")]
        + [OpenApiParameter(n, int) for n in ("job", "before", "until_ms", "size")],
        responses={200: answer("RunEventTable")},
    )
    @action(detail=True, url_path="events/table")
    def table(self, request: Request, pk: str) -> Response:
        """Events as sentences, newest first, with filters."""
        return Response(event_table.page(self.get_object(), request.query_params))

    @extend_schema(parameters=[OpenApiParameter("after", int)], responses={200: answer("RunPayoffs")})
    @action(detail=True)
    def payoffs(self, request: Request, pk: str) -> Response:
        """Payoff of each decision after the event `after`, for colouring the schedule."""
        run = self.get_object()
        return Response(event_table.payoffs(run, number(request.query_params, "after", 0, 0, 2**53)))

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def log(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Complete log."""
        return streamed(*downloads.log(self.get_object()))

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def schedule(self, request: Request, pk: str) -> StreamingHttpResponse:
        """All bars as CSV."""
        return streamed(*downloads.schedule(self.get_object()))

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def job_lines(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Jobs after the edits of the run as jobs.jsonl; events identify a job by its index here."""
        return streamed(*downloads.run_jobs(self.get_object()))

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.BINARY})
    def cluster(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Cluster after the edits of the run as cluster.json; events identify a server by its index here."""
        return streamed(*downloads.run_cluster(self.get_object()))

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY, 404: answer("Refusal")})
    def groups(self, request: Request, pk: str) -> StreamingHttpResponse:
        """Groups of co-located jobs as CSV: members, servers, utilization, disk ratios over time; 404 if none."""
        try:
            return streamed(*downloads.groups(self.get_object()))
        except ModelError as error:
            raise NotFound(str(error)) from error

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.BINARY})
    def perfetto(self, request: Request, pk: str) -> StreamingHttpResponse:
        """All bars for the Perfetto viewer."""
        return streamed(*downloads.perfetto(self.get_object()))

    @extend_schema(responses={200: answer("RunSummary")})
    def summary(self, request: Request, pk: str) -> Response:
        """Metrics of a run."""
        return Response(downloads.summary(self.get_object()))

    def _response(self, run: Run) -> Response:
        return Response(self.get_serializer(run).data)


def _chosen(request: Request, name: str, known: Sequence[str]) -> str:
    """Value of a filter, "" for none; UnknownName for one that does not exist."""
    asked = request.query_params.get(name, "")
    if asked and asked not in known:
        raise UnknownName(unknown(name, asked, known))
    return asked
