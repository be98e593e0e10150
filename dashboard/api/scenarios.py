"""Scenarios: what determines a run."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from rest_framework import mixins, viewsets
from rest_framework.serializers import BaseSerializer

from dashboard.api.audit import AuditedDelete, record
from dashboard.api.serializers import ScenarioSerializer
from scheduling.registry import build
from twin.formats.cluster_json import cluster_from_dict
from twin.models import ClusterSpec, Scenario


class ScenarioViewSet(
    AuditedDelete,
    mixins.CreateModelMixin,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Scenario],
):
    """Scenarios; a slot length or horizon of its own gives the scenario a cluster of its own."""

    queryset = Scenario.objects.select_related("cluster", "trace").defer("trace__jobs")
    serializer_class = ScenarioSerializer
    noun = "scenario"

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        given = serializer.validated_data
        changed = {name: given.pop(name) for name in ("slot_ms", "horizon_slots") if name in given}
        changed = {name: value for name, value in changed.items() if value is not None}
        cluster = given["cluster"]
        spec = {**cluster.spec, **changed}
        build(given["scheduler"], given["parameters"]).check(cluster_from_dict(spec))
        with transaction.atomic():
            if spec != cluster.spec:
                given["cluster"] = _with(cluster, changed, spec)
            record(self.request.user, "scenario.create", serializer.save(created_by=self.request.user))


def _with(cluster: ClusterSpec, changed: dict[str, int], spec: dict[str, Any]) -> ClusterSpec:
    """The same servers under another slot length or horizon; found again when it was made before."""
    shown = ", ".join(
        f"{name.removesuffix('_ms').removesuffix('_slots')} {value}{' ms' if name == 'slot_ms' else ' slots'}"
        for name, value in changed.items()
    )
    source = f"{cluster.source or cluster.name} with {shown}"[:200]
    known = ClusterSpec.objects.filter(name=cluster.name, source=source).first()
    return known or ClusterSpec.objects.create(
        name=cluster.name, source=source, trace=cluster.trace, spec=spec, server_count=cluster.server_count
    )
