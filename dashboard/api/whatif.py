"""What-if: edit types, edits of a scenario with their effects, and forks of runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.api.inputs.offered import offered_by
from dashboard.api.serializers.runs import RunSerializer
from dashboard.api.serializers.scenarios import ScenarioSerializer
from dashboard.auth.visible import one, visible
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import EditField, JobChangesField, ParametersField
from scheduling.model.limits import MAX_INT
from twin.models import Run, Scenario
from twin.runs import commands
from twin.scenarios import forks, store
from twin.scenarios.edits import MAX_EDITS, MENU, parse_one
from twin.scenarios.edits.base import Edit
from twin.scenarios.edits.curves import curves
from twin.scenarios.edits.effect import effect
from twin.scenarios.edits.preview import marks, preview
from twin.studies import ask, ask_mirror


class EditsSerializer(KnownFields):
    """List of edits."""

    edits = serializers.ListField(child=EditField(), max_length=MAX_EDITS)


class ScenarioEditSerializer(KnownFields):
    """Changes of a scenario; version: the version they are based on."""

    version = serializers.IntegerField(min_value=1)
    name = serializers.CharField(max_length=200, required=False)
    edits = serializers.ListField(child=EditField(), max_length=MAX_EDITS, required=False)


class ForkSerializer(KnownFields):
    """Request for a fork: edits are added to those of the run; start: run it at once.

    at_ms: start of the fork, by default the newest time of the run; reuse: return the caller's scenario of this run
    that was never edited nor run, if there is one, moved to that time.

    The other fields are for cuts of a live cluster: scheduler (default: fifo with backfill) and its
    parameters; durations: actual or limit; assumed_ms: remaining work of jobs without a limit; arrivals: whether to
    include later arrivals.
    """

    at_ms = serializers.IntegerField(min_value=0, max_value=MAX_INT, required=False, allow_null=True)
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    edits = serializers.ListField(child=EditField(), max_length=MAX_EDITS, required=False, default=list)
    start = serializers.BooleanField(default=False)
    reuse = serializers.BooleanField(default=False)
    scheduler = serializers.CharField(max_length=60, required=False)
    parameters = ParametersField(required=False)
    durations = serializers.CharField(max_length=40, required=False)
    assumed_ms = serializers.IntegerField(required=False)
    arrivals = serializers.BooleanField(required=False)


OF_MIRRORS = ("scheduler", "parameters", "durations", "assumed_ms", "arrivals")


@extend_schema(responses={200: answer("EditTypes")})
@api_view()
def verb_list(request: Request) -> Response:
    """Types of edits with the declarations of their parameters; `unavailable`: why one cannot be used."""
    empty = {"about": "", "later": False, "parameters": []}
    return Response(offered_by(MENU, _verb, empty))


def _verb(cls: type[Edit]) -> dict[str, Any]:
    return {"title": cls.title, "about": cls.about, "later": cls.later, "parameters": cls.form()}


class AskSerializer(KnownFields):
    """Job to preview. like: id of a job to copy; changes: fields that differ, as in jobs.jsonl.

    For a run that mirrors a real cluster: run_ms among the changes is the duration; scheduler: the one that is asked
    (default: fifo).
    """

    like = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    changes = JobChangesField(required=False, default=dict)
    scheduler = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")


class AskView(APIView):
    """Preview of a job before its submission."""

    read_only = ("post",)

    @extend_schema(request=AskSerializer, responses={200: answer("JobPreview")})
    def post(self, request: Request, pk: int) -> Response:
        """Outcome of the job, and of other jobs, if it were submitted now; nothing is stored."""
        given = body(AskSerializer, request)
        run = one(Run.objects.select_related("scenario"), request.user, pk=pk)
        if run.mode_rules.forked_by_cut:
            return Response(ask_mirror.ask(run, **given))
        if given["scheduler"]:
            why = f"This field is only for runs that mirror a real cluster; omit it: run {pk} has its own scheduler."
            raise serializers.ValidationError({"scheduler": [why]})
        job = ask.job_of(run, given["like"], given["changes"])
        return Response(ask.ask(run, job))


class ScenarioEditsView(APIView):
    """Edits of a scenario."""

    read_only = ("post",)

    @extend_schema(request=EditsSerializer, responses={200: answer("EditsPreview")})
    def post(self, request: Request, pk: int) -> Response:
        """Preview of edits with sentence and effect of each; nothing is stored."""
        given = body(EditsSerializer, request)
        scenario = one(Scenario.objects.all(), request.user, pk=pk)
        edits = given["edits"]
        base = store.base(scenario)
        rows, state = preview(base, edits, scenario.edits, scenario.epoch_ms)
        possible = [parse_one(n, edits[n - 1]) for n, row in enumerate(rows, 1) if not (row["error"] or row["off"])]
        for edit, why in forks.too_early(scenario, possible):
            rows[edit.number - 1]["error"] = why
        return Response({
            "rows": rows, "error": _whole(scenario, edits, rows), "effect": effect(base, state),
            "servers": marks(base.cluster, state.cluster),
            "sites": {server.name: server.site for server in state.cluster.servers[len(base.cluster.servers) :]},
            "curves": curves(base, [edit for edit in possible if not rows[edit.number - 1]["error"]]),
        })  # fmt: skip

    @extend_schema(request=ScenarioEditSerializer, responses=ScenarioSerializer)
    def patch(self, request: Request, pk: int) -> Response:
        """Stores another name or other edits; 409 with the newest scenario if somebody else has changed it."""
        given = body(ScenarioEditSerializer, request)
        one(Scenario.objects.all(), request.user, pk=pk)
        changes = {name: given[name] for name in ("name", "edits") if name in given}
        try:
            scenario = commands.edit(pk, given["version"], changes, request.user)
        except commands.Conflict as conflict:
            now = one(Scenario.objects.select_related("cluster", "trace"), request.user, pk=pk)
            newest = ScenarioSerializer(now).data
            return Response({"detail": str(conflict), "newest": newest}, status=status.HTTP_409_CONFLICT)
        return Response(ScenarioSerializer(scenario).data)


class ForkView(APIView):
    """Forks of a run."""

    @extend_schema(responses={200: answer("RunForks")})
    def get(self, request: Request, pk: int) -> Response:
        """Family of the run: its ancestors and all their forks."""
        seen = visible(Run.objects.all(), request.user)
        return Response(forks.family(one(Run.objects.select_related("scenario"), request.user, pk=pk), seen))

    @extend_schema(request=ForkSerializer, responses={201: answer("RunForked")})
    def post(self, request: Request, pk: int) -> Response:
        """Creates a fork of the run with edits, and starts it on request."""
        one(Run.objects.only("pk"), request.user, pk=pk)
        given = body(ForkSerializer, request)
        scenario, run = commands.fork_and_start(
            pk, given.get("at_ms"), given["name"], given["edits"], given["start"], request.user,
            {name: given[name] for name in OF_MIRRORS if name in given}, reuse=given["reuse"],
        )  # fmt: skip
        created = {"scenario": ScenarioSerializer(scenario).data, "run": RunSerializer(run).data if run else None}
        return Response(created, status=status.HTTP_201_CREATED)


class PromoteView(APIView):
    """Promotion of a fork."""

    @extend_schema(request=None, responses={201: RunSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Replaces the live parent run by this fork."""
        run = one(Run.objects.select_related("scenario", "parent"), request.user, pk=pk)
        return Response(RunSerializer(commands.promote(run, request.user)).data, status=status.HTTP_201_CREATED)


class DiscardView(APIView):
    """Removal of a fork."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """Cancels and deletes the fork, and its scenario if it has no other run."""
        commands.discard(one(Run.objects.select_related("scenario"), request.user, pk=pk), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _whole(scenario: Scenario, edits: list[Any], rows: list[dict[str, Any]]) -> str:
    """Error of the edits in combination, or an empty text."""
    if any(row["error"] for row in rows):
        return ""
    try:
        forks.check_edits(scenario, edits)
        store.check(scenario, edits)
    except ValueError as error:
        return str(error)
    return ""
