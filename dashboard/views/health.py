"""GET /healthz: whether the database, the broker and the bus of frames answer, and whether the disk is full; open to everybody."""

from __future__ import annotations

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu import Connection

from twin import disk


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when all is well, 503 otherwise; a full disk is said in words."""
    parts: dict[str, bool | str] = {"database": _database(), "broker": _broker()}
    well = all(parts.values())
    if full := disk.full():
        parts["disk"], well = full, False
    return JsonResponse(parts, status=200 if well else 503, headers={"X-Twin-Instance": settings.INSTANCE})


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _broker() -> bool:
    """The frame bus, and Celery's broker where that is another kind of server."""
    if not settings.LAYER_URL:
        return False
    try:
        with redis.Redis.from_url(settings.LAYER_URL, socket_timeout=1, socket_connect_timeout=1) as client:
            client.ping()
    except (redis.RedisError, OSError):
        return False
    return not settings.BROKER_URL or settings.BROKER_URL.startswith("redis") or _queue()


def _queue() -> bool:
    try:
        with Connection(settings.BROKER_URL, connect_timeout=1) as connection:
            connection.ensure_connection(max_retries=1, timeout=1)
    except Exception:  # each transport has its own
        return False
    return True
