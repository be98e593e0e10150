"""Experiments of the papers: list, result, start, cancel."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

import experiments
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import IdField
from dashboard.openapi.answers import answer
from dashboard.readmodels.studies import experiments as shown
from twin.models import Trace
from twin.studies.experiments import starting

NAME = OpenApiParameter("experiment", str, OpenApiParameter.PATH, description="Id, such as oasis_fig03_utility_by_jobs")


class StartSerializer(KnownFields):
    """Options of a start; without seeds, the default number of the experiment."""

    seeds = serializers.IntegerField(required=False, allow_null=True, default=None)
    trace = IdField(queryset=Trace.objects.filter(team=None), required=False, allow_null=True, default=None)


class StartAllSerializer(KnownFields):
    """Experiments to start; without names, all that have no result of the current code."""

    names = serializers.ListField(child=serializers.CharField(max_length=80), required=False, default=list)


class ExperimentViewSet(viewsets.ViewSet):
    """Experiments, by their ids."""

    lookup_url_kwarg = "experiment"
    lookup_value_regex = "[a-z0-9_]+"

    @extend_schema(operation_id="api_experiments_list", responses={200: answer("Experiments")})
    def overview(self, request: Request) -> Response:
        """Every experiment: paper, figure, claim, verdict, progress."""
        return Response({"experiments": shown.overview()})

    @extend_schema(parameters=[NAME], responses={200: answer("Experiment")})
    def retrieve(self, request: Request, experiment: str) -> Response:
        """One experiment with its table, its checks and its charts."""
        return Response(shown.detail(_known(experiment)))

    @extend_schema(parameters=[NAME], request=StartSerializer, responses={201: answer("Experiment")})
    @action(detail=True, methods=["post"])
    def start(self, request: Request, experiment: str) -> Response:
        """Starts an experiment, or resumes one that was cancelled or failed."""
        name = _known(experiment)
        form = StartSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        starting.start(name, form.validated_data["seeds"], form.validated_data["trace"], request.user)
        return Response(shown.detail(name), status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[NAME], request=None, responses={200: answer("PartCount")})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, experiment: str) -> Response:
        """Cancels an experiment; finished parts are kept."""
        return Response({"parts": starting.cancel(_known(experiment), request.user)})

    @extend_schema(request=StartAllSerializer, responses={201: answer("ExperimentsStarted")})
    @action(detail=False, methods=["post"], url_path="start-all")
    def start_all(self, request: Request) -> Response:
        """Starts several experiments, except those that need a trace, cannot run here or are in progress."""
        form = StartAllSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        names = list(map(_known, form.validated_data["names"])) or [
            row["name"] for row in shown.overview() if row["verdict"] == shown.NOT_RUN or row["outdated"]
        ]
        made = starting.start_all(names, request.user)
        return Response({"started": [of.experiment for of in made]}, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={200: answer("PartCount")})
    @action(detail=False, methods=["post"], url_path="cancel-all")
    def cancel_all(self, request: Request) -> Response:
        """Cancels all experiments in progress."""
        return Response({"parts": starting.cancel_all(request.user)})


def _known(name: str) -> str:
    if name not in experiments.names():
        raise NotFound(f"The experiment {name} does not exist; the page Experiments lists all experiments.")
    return name
