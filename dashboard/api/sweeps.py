"""Sweeps: start, watch, cancel, resume, download."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.auth.visible import VisibleRelated, visible
from dashboard.http.known_fields import KnownFields
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import AxisField
from scheduling.model.limits import MAX_INT
from twin.analysis.speed_origins import note_of_jobs
from twin.models import Run, Scenario, Sweep, SweepPoint
from twin.runs import scheduler_history
from twin.scenarios import store
from twin.studies import axis_titles, sweep_results, sweeps


class SweepSerializer(KnownFields, serializers.ModelSerializer):
    """A sweep; without seeds, the seed of the scenario is used."""

    scenario = VisibleRelated(queryset=Scenario.objects.filter(unlisted=False))
    scenario_name = serializers.CharField(source="scenario.name", read_only=True)
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    axes = serializers.ListField(child=AxisField(), min_length=1, max_length=sweeps.MAX_AXES)
    seeds = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=MAX_INT),
        required=False,
        default=list,
        max_length=sweeps.MAX_POINTS,
    )
    total = serializers.IntegerField(read_only=True)
    finished = serializers.IntegerField(read_only=True)
    active = serializers.IntegerField(read_only=True)
    titles = serializers.SerializerMethodField()
    choices = serializers.SerializerMethodField()

    class Meta:
        model = Sweep
        fields = (
            "id",
            "name",
            "scenario",
            "scenario_name",
            "axes",
            "titles",
            "choices",
            "seeds",
            "total",
            "finished",
            "active",
            "created_at",
        )

    def get_choices(self, sweep: Sweep) -> list[dict[str, str]]:
        """{value: title} of each axis; empty where values are shown as they are."""
        return [axis_titles.choices(axis, sweep.scenario.scheduler) for axis in sweep.axes]

    def get_titles(self, sweep: Sweep) -> list[str]:
        """Labels of the axes."""
        return [axis_titles.title(axis, sweep.scenario.scheduler) for axis in sweep.axes]


@extend_schema_view(
    list=extend_schema(description="Sweeps, newest first."),
    retrieve=extend_schema(description="One sweep with the numbers of its finished and active runs."),
)
class SweepViewSet(mixins.RetrieveModelMixin, mixins.ListModelMixin, viewsets.GenericViewSet[Sweep]):
    """Sweeps."""

    serializer_class = SweepSerializer
    queryset = Sweep.objects.all()

    def get_queryset(self) -> QuerySet[Sweep]:
        finished = Q(points__run__status=Run.FINISHED, points__pending="")
        active = Q(points__run__status__in=Run.ACTIVE) | Q(points__pending=SweepPoint.WAITING)
        counted = visible(Sweep.objects.all(), self.request.user).annotate(
            total=Count("points"), finished=Count("points", filter=finished), active=Count("points", filter=active)
        )
        return counted.select_related("scenario").order_by("-id")

    @extend_schema(request=SweepSerializer, responses={201: SweepSerializer})
    def create(self, request: Request) -> Response:
        """Creates a sweep and starts one run per point."""
        form = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        sweep = sweeps.start(given["scenario"], given["name"], given["axes"], given["seeds"], request.user)
        return Response(self._plain(sweep), status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, pk: str) -> Response:
        """Deletes a sweep with its runs."""
        sweeps.delete(self.get_object(), request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses={200: answer("SweepPoints")})
    @action(detail=True)
    def points(self, request: Request, pk: str) -> Response:
        """Points with their runs and metrics."""
        sweep = self.get_object()
        charges = scheduler_history.in_order(sweep.scenario.scheduler, sweep.scenario.edits)
        points = sweep_results.points_of(sweep)
        figures = sweep_results.figures_of(points)
        return Response({
            **self._plain(sweep), "figures": figures,
            "scheduler": scheduler_history.words(charges), "points": points,
            "unranked": sweep_results.unranked(sweep),
            "unranked_figures": sweep_results.unranked_figures(sweep, figures), "edited": sweeps.edited(sweep),
            "speeds": note_of_jobs(store.jobs_of(sweep.scenario.trace_id)),
        })  # fmt: skip

    @extend_schema(request=None, responses={200: answer("RunCount")})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancels unfinished runs; finished runs are kept."""
        return Response({"runs": sweeps.cancel(self.get_object(), request.user)})

    @extend_schema(request=None, responses={200: answer("RunCount")})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Restarts cancelled and failed runs."""
        return Response({"runs": sweeps.resume(self.get_object(), request.user)})

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def results(self, request: Request, pk: int) -> HttpResponse:
        """Points as CSV, one row each."""
        self.kwargs["pk"] = pk
        sweep = self.get_object()
        answer = HttpResponse("".join(sweep_results.as_csv(sweep)), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="sweep-{sweep.pk}.csv"'
        return answer

    def _plain(self, sweep: Sweep) -> dict[str, Any]:
        return dict(self.get_serializer(self.get_queryset().get(pk=sweep.pk)).data)
