"""Retention: what is kept and how long, what the next clean-up removes, and its start. For admins in a session."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.roles import AdminsOnly
from dashboard.http.known_query import KnownQuery
from dashboard.readmodels.operation import database_bytes
from twin.operation import cleanup_task, retention
from twin.operation.usage import usage
from twin.runs.commands import audit

MAX_SHOWN = 20  # numbers of objects that an answer lists


class UsageSerializer(serializers.Serializer[Any]):
    """A kind of data. size: bytes, null where they are not counted; stays: how long it is kept."""

    title = serializers.CharField()
    rows = serializers.IntegerField()
    size = serializers.IntegerField(allow_null=True)
    oldest = serializers.DateTimeField(allow_null=True)
    stays = serializers.CharField()
    settings = serializers.ListField(child=serializers.CharField())


class DueSerializer(serializers.Serializer[Any]):
    """Objects that one rule removes at the next clean-up. numbers: the first of them, if they have pages."""

    rule = serializers.CharField()
    setting = serializers.CharField(allow_blank=True)
    rows = serializers.IntegerField()
    size = serializers.IntegerField(allow_null=True)
    numbers = serializers.ListField(child=serializers.IntegerField())


class CleanUpSerializer(serializers.Serializer[Any]):
    """A clean-up that somebody has started. removed: {rule: number}; error: why it has not removed everything."""

    at = serializers.DateTimeField()
    user = serializers.CharField(allow_blank=True)
    removed = serializers.DictField(child=serializers.IntegerField())
    error = serializers.CharField(allow_blank=True)


class RetentionSerializer(serializers.Serializer[Any]):
    """Kinds of data, what is due now, the newest clean-up, bytes of the database, and bytes free in the data folder."""

    kinds = UsageSerializer(many=True)
    due = DueSerializer(many=True)
    last = CleanUpSerializer(allow_null=True)
    database_size = serializers.IntegerField(allow_null=True)
    disk_free = serializers.IntegerField()


class RetentionView(APIView):
    """Retention, and the clean-up."""

    permission_classes = (AdminsOnly, KnownQuery)

    @extend_schema(responses=RetentionSerializer)
    def get(self, request: Request) -> Response:
        """What is kept and for how long; what a clean-up would remove now."""
        return Response(_summary())

    @extend_schema(request=None, responses={202: RetentionSerializer})
    def post(self, request: Request) -> Response:
        """Requests a clean-up, which a background worker begins within seconds; its result becomes `last`."""
        audit(request.user, cleanup_task.REQUEST, "retention", {})
        return Response(_summary(), status=status.HTTP_202_ACCEPTED)


def _summary() -> dict[str, Any]:
    disk = os.statvfs(settings.VAR_DIR)
    found = {
        "kinds": [asdict(one) for one in usage()],
        "due": [_due(row) for row in retention.due(retention.now())],
        "last": _last(),
        "database_size": database_bytes(),
        "disk_free": disk.f_bavail * disk.f_frsize,
    }
    return dict(RetentionSerializer(found).data)


def _due(row: retention.Due) -> dict[str, Any]:
    numbers = list(row.subjects[:MAX_SHOWN]) if row.named else []
    return {
        "rule": row.rule, "setting": row.setting, "rows": len(row.subjects), "size": row.size, "numbers": numbers,
    }  # fmt: skip


def _last() -> dict[str, Any] | None:
    entry = cleanup_task.ended().select_related("user").first()
    if entry is None:
        return None
    user = entry.user.username if entry.user else ""
    return {"at": entry.at, "user": user, "removed": entry.detail["removed"], "error": entry.detail.get("error", "")}
