"""Clusters: list, read, and add by upload or generator."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.audit import AuditedDelete, record
from dashboard.api.serializers.clusters import ClusterDetailSerializer, ClusterSerializer
from dashboard.auth.visible import OfTeams
from dashboard.openapi.answers import answer
from dashboard.query import number
from dashboard.readmodels import cards
from scheduling.model.known_names import unknown
from scheduling.model.values import ModelError, shorten
from scheduling.reporting.quantities import counted
from scheduling.workloads import MAX_GENERATED_SERVERS, PROFILES, generate
from twin.files.cluster_json import cluster_from_dict
from twin.models import ClusterSpec, home_of
from twin.scenarios import listed
from twin.scenarios.store import store_cluster

GENERATED: dict[str, Any] = {
    "type": "object",
    "description": "Settings of a generated cluster",
    "required": ["profile"],
    "properties": {
        "profile": {"type": "string", "enum": list(PROFILES)},
        "servers": {"type": "integer", "minimum": 2, "maximum": MAX_GENERATED_SERVERS, "default": 60},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
        "horizon_slots": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 100},
    },
}
CONTENT = {
    "type": "object",
    "description": "Content of a cluster.json (docs/formats.md)",
    "required": ["name", "slot_ms", "servers"],
    "properties": {
        "name": {"type": "string"},
        "slot_ms": {"type": "integer", "minimum": 1},
        "horizon_slots": {"type": ["integer", "null"], "minimum": 1},
        "servers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "site": {"type": "string", "enum": ["edge", "cloud"]},
                    "capacity": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
                    "roles": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}


@extend_schema_view(
    list=extend_schema(
        description="Clusters that scenarios can use, the newest first.",
        parameters=[OpenApiParameter("trace", int, description="Number of the trace whose servers they have")],
    ),
    retrieve=extend_schema(description="One cluster with the content of its cluster.json."),
    destroy=extend_schema(description="Deletes a cluster that no scenario uses."),
)
class ClusterViewSet(
    OfTeams,
    AuditedDelete,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[ClusterSpec],
):
    """Clusters that scenarios can use."""

    queryset = ClusterSpec.objects.select_related("team")
    noun = "cluster"

    def filter_queryset(self, queryset: QuerySet[ClusterSpec]) -> QuerySet[ClusterSpec]:
        found = super().filter_queryset(queryset)
        asked = self.request.query_params
        if self.action != "list":
            return found
        if asked.get("trace"):
            found = found.filter(trace=number(asked, "trace", 1, 1, 2**53))
        return listed.inputs(found, "cluster")

    def get_serializer_class(self) -> type:
        return ClusterDetailSerializer if self.action == "retrieve" else ClusterSerializer

    @extend_schema(
        request={"application/json": {"oneOf": [GENERATED, CONTENT]}},
        parameters=[OpenApiParameter("from", str, enum=["form"], description="Where the content comes from")],
        responses={201: ClusterSerializer},
    )
    def create(self, request: Request) -> Response:
        """Adds a cluster from the content of a cluster.json, or generates one from a profile:

        {"profile": "oasis", "servers": 60, "seed": 7, "horizon_slots": 100}.
        """
        data = request.data
        if not isinstance(data, dict):
            raise ModelError("a cluster must be an object: the content of cluster.json, or profile, servers and seed")
        if "profile" in data:
            properties: dict[str, Any] = GENERATED["properties"]
            wrong = [name for name in data if name not in properties]
            if wrong:
                raise ModelError(unknown("field of the body", wrong[0], list(properties)))
            servers, seed, horizon = (data.get(k, d) for k, d in (("servers", 60), ("seed", 0), ("horizon_slots", 100)))
            for name, value, least, most in (
                ("servers of a generated cluster", servers, 2, MAX_GENERATED_SERVERS),
                ("seed", seed, 0, 2**63 - 1),
                ("horizon_slots, the horizon in slots,", horizon, 1, 100_000),
            ):
                if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                    got = shorten(repr(value))
                    raise ModelError(f"{name} must be an integer from {least:,} to {most:,}, got {got}")
            cluster, _ = generate(
                str(data["profile"]), num_jobs=0, num_servers=servers, seed=seed, horizon_slots=horizon
            )
            source = f"generated: {data['profile']}, {counted(servers, 'server')}, seed {seed}"
        else:
            cluster = cluster_from_dict(data)
            source = "created by the form" if request.query_params.get("from") == "form" else "uploaded cluster.json"
        with transaction.atomic():
            spec = store_cluster(cluster, source, team_id=home_of(request.user))
            record(request.user, "cluster.create", spec)
        return Response(ClusterSerializer(spec).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={200: answer("ClusterCard")})
    @action(detail=True)
    def card(self, request: Request, pk: str) -> Response:
        """Servers of the cluster by site and kind."""
        return Response(cards.cluster_card(self.get_object()))
