"""GET /readyz: whether this web process can serve pages, without login; for load balancers and probes."""

from __future__ import annotations

import redis
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from scheduling.reporting.quantities import counted
from twin.infra import pubsub


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 if pages can be answered, 503 with the reason otherwise. Other processes do not count: see /healthz."""
    reason = _database() or _bus()
    return JsonResponse({"ready": not reason, "reason": reason}, status=503 if reason else 200)


def _database() -> str:
    """Reason why pages cannot be read from the database; empty if they can."""
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, ImproperlyConfigured) as error:
        return f"the database cannot be read: {' '.join(str(error).split())}"
    names = ", ".join(f"{migration.app_label} {migration.name}" for migration, _ in pending[:3])
    return f"{counted(len(pending), 'migration')} not applied ({names}); run manage.py migrate" if pending else ""


def _bus() -> str:
    try:
        pubsub.client().ping()
    except (redis.RedisError, OSError) as error:
        return f"the frame bus does not answer: {error}"
    return ""
