"""GET /healthz: status of all parts of the twin, without login.

The database, by a write; the broker and the bus of frames; the processes, and what they are busy with; runs and imports
that stall; a full disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu import Connection

from dashboard.auth.roles import is_viewer
from dashboard.auth.visible import visible
from dashboard.readmodels.alerts import open_counts
from twin.infra import database, disk
from twin.models import Alert, Run, Trace
from twin.models import Connection as Followed
from twin.moments import moment_utc, unix_ms
from twin.processes import heartbeat, vitals
from twin.processes.hang_detection import BEGIN_S
from twin.processes.vitals import Vitals
from twin.runs.activity import activity
from twin.traces.import_state import stalled

WORKERS = heartbeat.WORKERS.values()
SHARED_S = 2.0
_checking = threading.Lock()
_begun = time.monotonic()  # of this process
_seen: set[str] = set()  # kinds of processes that have answered since then
_latest: tuple[float, dict[str, Any]] = (float("-inf"), {})  # time and content of the shared answer
NEEDED = (*WORKERS, *map(heartbeat.dispatcher, WORKERS), heartbeat.TICKER)  # processes of which at least one must run


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 without faults, 503 otherwise. Runs that wait for busy workers are no reason for a 503."""
    body, status = _check()
    # indented, because people read it in a browser
    return JsonResponse(
        body, status=status, headers={"X-Twin-Instance": settings.INSTANCE}, json_dumps_params={"indent": 2}
    )


@never_cache
@require_safe
def shared(request: HttpRequest) -> JsonResponse:
    """Status for pages, always with 200: an answer at most SHARED_S old, so that many pages cost one check."""
    global _latest
    if not is_viewer(request.user):
        raise PermissionDenied
    with _checking:
        at, body = _latest
        if time.monotonic() - at > SHARED_S:
            body, _ = _check()
            _latest = time.monotonic(), body
    return JsonResponse(body | _alerts(request.user))


def _check() -> tuple[dict[str, Any], int]:
    """Content and status of the answer of /healthz."""
    fault = database.fault()
    parts: dict[str, Any] = {"database": fault is None, "broker": _broker()}
    well = all(parts.values())
    known = vitals.take() if parts["broker"] else Vitals(None)
    if fault is not None:
        parts["database_fault"] = _database_fault(fault, known)
    if fault is None:
        parts["stalled"] = _stalled(known)
    elif database.is_lock(fault):  # a locked database can be read; a locked table of PostgreSQL perhaps not
        with suppress(DatabaseError):
            parts["stalled"] = _stalled(known)
    if known.processes is not None:
        parts["processes"] = [_row(process) for process in known.processes]
        needed = NEEDED + ((heartbeat.FOLLOWER,) if fault is None and _follows() else ())
        parts["missing"] = [kind for kind in needed if not any(p.kind == kind and p.answers for p in known.processes)]
        _seen.update(process.kind for process in known.processes if process.answers)
        parts["starting"] = _starting(parts["missing"])
        well = well and not parts["missing"] and all(process.answers for process in known.processes)
    if full := disk.full():
        parts["disk"], well = full, False
    return parts, 200 if well else 503


def _starting(missing: Sequence[str]) -> list[str]:
    """Missing processes that may still be starting: pages report those only that have run, or that take too long."""
    return [kind for kind in missing if kind not in _seen] if time.monotonic() - _begun < BEGIN_S else []


def _alerts(user: Any) -> dict[str, Any]:
    """Number of open alerts that the user sees by level, for the header of pages; none without the database."""
    try:
        return {"alerts": open_counts(visible(Alert.objects.all(), user))}
    except DatabaseError:
        return {}


def _follows() -> bool:
    """True if there is a real cluster to follow."""
    return Followed.objects.filter(wanted=Followed.FOLLOWING).exists()


def _row(process: heartbeat.Process) -> dict[str, Any]:
    row = {
        "name": process.name,
        "kind": process.kind,
        "answers": process.answers,
        "silent_s": round(process.silent_s, 1),
    }
    row |= {"trouble": process.trouble} if process.trouble else {}
    return row | ({"doing": process.doing, "busy_s": round(process.busy_s, 1)} if process.doing else {})


def _stalled(known: Vitals) -> list[str]:
    """Text for each active run and each import that does not progress."""
    active = Run.objects.filter(status__in=Run.ACTIVE).defer("metrics", "certificate", "certificate_prices")
    found = [(run, activity(run, known)) for run in active]
    runs = [f"run {run.pk}: {what['text']}" for run, what in found if what is not None]
    imports = Trace.objects.filter(status=Trace.PARSING).only("status", "progressed_at")
    return runs + [f"import of trace {trace.pk}: {text}" for trace in imports if (text := stalled(trace))]


def _database_fault(error: Exception, known: Vitals) -> str:
    """Reason why the database takes no writes, with the start time if known, which stays valid while a page shows
    it."""
    since = known.locked_since
    locked = f"; locked since {moment_utc(unix_ms(since))}" if since else ""
    return " ".join(str(error).split()) + locked


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
