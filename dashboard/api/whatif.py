"""What-if: the verbs of edits, a scenario's edits with what they do, and forks of runs."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.api.serializers import RunSerializer, ScenarioSerializer
from scheduling.model import LARGEST
from scheduling.registry import describe
from twin import asking, control, forking, scenarios
from twin.edits import MOST_EDITS, verbs
from twin.edits.effect import effect
from twin.edits.preview import marks, preview
from twin.models import Run, Scenario


class EditsSerializer(serializers.Serializer[Any]):
    """Edits in their order."""

    edits = serializers.ListField(child=serializers.DictField(), max_length=MOST_EDITS)


class ScenarioEditSerializer(serializers.Serializer[Any]):
    """version: the one that the changes begin with."""

    version = serializers.IntegerField(min_value=1)
    name = serializers.CharField(max_length=200, required=False)
    edits = serializers.ListField(child=serializers.DictField(), max_length=MOST_EDITS, required=False)


class ForkSerializer(serializers.Serializer[Any]):
    """at_ms: from which moment on; the run's newest when it is left out. edits: added to those of the run. start: whether it runs at once."""

    at_ms = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False, allow_null=True)
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    edits = serializers.ListField(child=serializers.DictField(), max_length=MOST_EDITS, required=False, default=list)
    start = serializers.BooleanField(default=False)


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view()
def verb_list(request: Request) -> Response:
    """Every verb of an edit, with the declaration of its parameters."""
    return Response(
        [
            {"name": cls.name, "title": cls.title, "about": cls.about, "parameters": describe(cls.Parameters)}
            for cls in verbs().values()
        ]
    )


class AskSerializer(serializers.Serializer[Any]):
    """like: the id of a job whose fields are taken; changes: fields of its own, as in jobs.jsonl."""

    like = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    changes = serializers.DictField(required=False, default=dict)


class AskView(APIView):
    """A job that is not submitted."""

    looks = ("post",)

    @extend_schema(request=AskSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, pk: int) -> Response:
        """What would become of the job if it came now, and of the others; nothing changes."""
        form = AskSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        run = get_object_or_404(Run.objects.select_related("scenario"), pk=pk)
        job = asking.job_of(run, form.validated_data["like"], form.validated_data["changes"])
        return Response(asking.ask(run, job))


class ScenarioEditsView(APIView):
    """A scenario's edits."""

    looks = ("post",)

    @extend_schema(request=EditsSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, pk: int) -> Response:
        """What these edits would say and do, line by line; nothing is kept."""
        form = EditsSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        scenario = get_object_or_404(Scenario, pk=pk)
        edits = form.validated_data["edits"]
        base = scenarios.base(scenario)
        rows, world = preview(base, edits)
        return Response({
            "rows": rows, "error": _whole(scenario, edits, rows), "effect": effect(base, world),
            "servers": marks(base.cluster, world.cluster),
            "sites": {server.name: server.site for server in world.cluster.servers[len(base.cluster.servers) :]},
        })  # fmt: skip

    @extend_schema(request=ScenarioEditSerializer, responses=OpenApiTypes.OBJECT)
    def patch(self, request: Request, pk: int) -> Response:
        """Keeps another name or other edits; 409 with the newest scenario when somebody else has changed it."""
        form = ScenarioEditSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        get_object_or_404(Scenario, pk=pk)
        changes = {name: form.validated_data[name] for name in ("name", "edits") if name in form.validated_data}
        try:
            scenario = control.edit(pk, form.validated_data["version"], changes, request.user)
        except control.Conflict as conflict:
            newest = ScenarioSerializer(Scenario.objects.select_related("cluster", "trace").get(pk=pk)).data
            return Response({"detail": str(conflict), "newest": newest}, status=status.HTTP_409_CONFLICT)
        return Response(ScenarioSerializer(scenario).data)


class ForkView(APIView):
    """Forks of a run."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int) -> Response:
        """The family of the run: its forks, those that it is a fork of, and theirs."""
        return Response(forking.family(get_object_or_404(Run.objects.select_related("scenario"), pk=pk)))

    @extend_schema(request=ForkSerializer, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request, pk: int) -> Response:
        """A scenario that goes on like the run from a moment on, with edits; its run, if it is started."""
        form = ForkSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        scenario, run = control.fork_and_start(
            pk, given.get("at_ms"), given["name"], given["edits"], given["start"], request.user
        )
        told = {"scenario": ScenarioSerializer(scenario).data, "run": RunSerializer(run).data if run else None}
        return Response(told, status=status.HTTP_201_CREATED)


class PromoteView(APIView):
    """Of a fork."""

    @extend_schema(request=None, responses={201: RunSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """It takes the place of the live run that it is a fork of."""
        run = get_object_or_404(Run.objects.select_related("scenario", "parent"), pk=pk)
        return Response(RunSerializer(control.promote(run, request.user)).data, status=status.HTTP_201_CREATED)


class DiscardView(APIView):
    """Of a fork."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """It is cancelled and removed, with its scenario if that has no other run."""
        control.discard(get_object_or_404(Run.objects.select_related("scenario"), pk=pk), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _whole(scenario: Scenario, edits: list[Any], rows: list[dict[str, Any]]) -> str:
    """What is wrong with them together, where each for itself is right."""
    if any(row["error"] for row in rows):
        return ""
    try:
        forking.check_edits(scenario, edits)
        scenarios.check(scenario, edits)
    except ValueError as error:
        return str(error)
    return ""
