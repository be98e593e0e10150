"""Clusters, with or without the content of cluster.json."""

from __future__ import annotations

from rest_framework import serializers

from dashboard.api.serializers.team import TeamField
from dashboard.openapi.answer_fields import SpecField
from twin.models import ClusterSpec


class ClusterSerializer(serializers.ModelSerializer):
    """A cluster."""

    slot_ms = serializers.IntegerField(source="spec.slot_ms", read_only=True)
    horizon_slots = serializers.IntegerField(source="spec.horizon_slots", read_only=True, allow_null=True)
    gpus = serializers.SerializerMethodField()
    team = TeamField()

    class Meta:
        model = ClusterSpec
        fields: tuple[str, ...] = (
            "id",
            "name",
            "source",
            "trace",
            "server_count",
            "gpus",
            "slot_ms",
            "horizon_slots",
            "team",
            "created_at",
        )
        read_only_fields = fields

    def get_gpus(self, cluster: ClusterSpec) -> float:
        """Total number of GPUs of the cluster."""
        return float(sum(server["capacity"].get("gpu", 0) for server in cluster.spec["servers"]))


class ClusterDetailSerializer(ClusterSerializer):
    """Cluster with the content of cluster.json."""

    spec = SpecField(read_only=True)

    class Meta(ClusterSerializer.Meta):
        fields = (*ClusterSerializer.Meta.fields, "spec")
        read_only_fields = fields
