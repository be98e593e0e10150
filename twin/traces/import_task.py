"""Import of an upload: parsed in a worker, with progress, all or nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from twin.infra import pubsub
from twin.models import Trace
from twin.processes import bounded_process
from twin.processes.dispatch import send
from twin.scenarios import store
from twin.traces import importers, scan_cache, synthesis
from twin.traces.import_state import import_state, stalled
from twin.traces.importing.scan import summary_of
from twin.traces.mappings import known as known_mappings

log = logging.getLogger(__name__)
PUBLISH_S = 0.2
MAX_S = 900.0  # of one scan or import; no public trace takes a tenth of it
GRACE_S = 30.0  # after which an import that ignores its own time limit is ended
ABANDONED = timedelta(seconds=20)  # an import without a heartbeat for this long is started again


def work(trace_id: int) -> None:
    """Scan or import of an upload in its own process; its failure is reported with the trace. The next one follows.

    A process that was killed is replaced once: if it was for lack of memory, so is the second.
    """
    now = timezone.now()
    if _free(now) and Trace.objects.filter(_waiting(now), pk=trace_id).exists():  # else it needs no process
        _work(trace_id)
    if _free(timezone.now()):
        following = Trace.objects.filter(status=Trace.QUEUED).order_by("pk").values_list("pk", flat=True).first()
        if following is not None:
            enqueue(following)


def _work(trace_id: int) -> None:
    if (outcome := _in_process(trace_id)) == "killed":
        Trace.objects.filter(pk=trace_id, status=Trace.PARSING).update(status=Trace.QUEUED)
        outcome = _in_process(trace_id)
    if outcome in bounded_process.FAILURES:
        trace = Trace.objects.defer("jobs", "skipped_csv").filter(pk=trace_id, status=Trace.PARSING).first()
        if trace is not None:
            late = f"not finished after {MAX_S / 60:.0f} minutes; import it in parts"
            _fail(
                trace,
                late
                if outcome == "late"
                else "the import ended unexpectedly; possibly out of memory; import the trace in parts",
            )
            _close(trace)


def _in_process(trace_id: int) -> bounded_process.Outcome:
    return bounded_process.run(partial(run, trace_id), limit_s=MAX_S + GRACE_S, wanted=partial(_sign_of_life, trace_id))


def _sign_of_life(trace_id: int) -> bool:
    """Record that the import continues; False if it was cancelled or deleted. A stall is published."""
    Trace.objects.filter(pk=trace_id, status=Trace.PARSING).update(touched_at=timezone.now())
    trace = Trace.objects.defer("jobs", "skipped_csv", "report", "preview").filter(pk=trace_id).first()
    if trace is not None and stalled(trace):
        publish(trace)
    return trace is not None and trace.status != Trace.CANCELLED


def run(trace_id: int) -> None:
    """Scan or import of an upload; the trace ends as scanned, ready, failed or cancelled, never in between."""
    now = timezone.now()
    with transaction.atomic():
        if not _free(now):
            return  # as many are in progress as may be: it follows one of them
        if not Trace.objects.filter(_waiting(now), pk=trace_id).update(
            status=Trace.PARSING, touched_at=now, progressed_at=now, progress=0
        ):
            return  # done, cancelled, or in the hands of another worker
    trace = Trace.objects.defer("jobs", "skipped_csv").get(pk=trace_id)
    publish(trace)
    try:
        if trace.stage == Trace.SCAN:
            _scan(trace)
        else:
            _import(trace)
    except importers.ImportCancelled:
        log.info("import of trace %s was cancelled", trace_id)
    except importers.ImportRefused as refusal:
        _refused(trace, str(refusal))
    except DatabaseError:
        _again(trace)  # the upload stays: the ticker has it parsed again
        raise
    except MemoryError:
        gib = bounded_process.MAX_MEMORY // 2**30
        _fail(trace, f"the import needs more than {gib} GiB of memory; import the trace in parts")
    except Exception as error:
        log.exception("import of trace %s failed", trace_id)
        _fail(trace, f"the import failed: {type(error).__name__}: {error}")
    _close(trace)


def _close(trace: Trace) -> None:
    """Removal of the files of an ended upload, and its announcement."""
    trace.refresh_from_db(fields=["status", "message", "progress", "job_count", "server_count", "format", "scan"])
    if trace.status in (Trace.READY, Trace.FAILED, Trace.CANCELLED):
        drop_upload(trace)
    publish(trace)


def _scan(trace: Trace) -> None:
    try:
        parts = importers.parse(**_given(trace))
        scan_cache.keep(trace, parts)
        found = summary_of(parts, trace.seed, trace.options.get("slot_ms") or synthesis.SLOT_MS)
        if trace.options.get("mapping"):
            found["header"] = known_mappings.header_key(found["files"][0]["columns"])
    except importers.Unclear as unclear:  # the user can choose the format
        found = {"unclear": str(unclear), "files": [known_mappings.remembered(file) for file in unclear.files]}
    Trace.objects.filter(pk=trace.pk, status=Trace.PARSING).update(
        status=Trace.SCANNED, progress=1, scan=found,
        message=found.get("unclear") or found["report"]["summary"].replace(" imported", "")
    )  # fmt: skip


def _import(trace: Trace) -> None:
    choice = importers.Choice.of(trace.options)
    _keep(trace, importers.read(**_given(trace), choice=choice, parsed=scan_cache.kept(trace)))


def _given(trace: Trace) -> dict[str, Any]:
    uploads = [importers.Upload(Path(settings.UPLOAD_DIR) / file["path"], file["name"]) for file in trace.files]
    return {
        "uploads": uploads, "format": trace.format, "mapping": trace.options.get("mapping"), "seed": trace.seed,
        "slot_ms": trace.options.get("slot_ms"), "reading": importers.Reading.of(trace.options),
        "progress": _Progress(trace),
        "cancelled": lambda: _cancelled(trace.pk),
    }  # fmt: skip


def enqueue(trace_id: int, expires: float | None = None) -> bool:
    """Request for the import. False without a broker: the ticker requests it again."""
    return send("import_trace", trace_id, queue="io", expires=expires)


def take_up() -> list[int]:
    """Imports whose message or worker was lost, which are enqueued again as far as they may be in progress."""
    now = timezone.now()
    lost = Trace.objects.filter(_lost(now), status__in=(Trace.QUEUED, Trace.PARSING)).order_by("pk")
    found = list(lost.values_list("pk", flat=True)[: _free(now)])
    for trace_id in found:
        Trace.objects.filter(pk=trace_id, status=Trace.QUEUED).update(touched_at=now)  # not requested at every tick
        log.warning("the import of trace %s is resumed", trace_id)
        enqueue(trace_id, expires=ABANDONED.total_seconds())  # they do not pile up while no worker runs
    return found


def _free(now: datetime) -> int:
    """Number of imports that may begin: with more of them, alerts, forecasts and plans would wait for a worker."""
    busy = Trace.objects.filter(status=Trace.PARSING).exclude(_lost(now)).count()
    return max(0, settings.IMPORT_PROCESSES - busy)


def _waiting(now: datetime) -> Q:
    """Imports that no process works on."""
    return Q(status=Trace.QUEUED) | Q(_lost(now), status=Trace.PARSING)


def _lost(now: datetime) -> Q:
    """Imports without a heartbeat for too long; one in the future is from before the clock was set back."""
    return Q(touched_at__lt=now - ABANDONED) | Q(touched_at__gt=now + ABANDONED)


def publish(trace: Trace) -> None:
    """Publication to the pages that show traces."""
    pubsub.publish(pubsub.traces_channel(trace.team_id), {"type": "trace", "trace": import_state(trace)})


class _Progress:
    """Progress, written and published a few times a second."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.published = trace, 0.0
        self.until = time.monotonic() + MAX_S

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if now > self.until:
            raise importers.ImportRefused(
                f"{self.trace.name}: not finished after {MAX_S / 60:.0f} minutes; import it in parts"
            )
        if now - self.published < PUBLISH_S:
            return
        self.published, self.trace.progress = now, round(min(1.0, fraction), 4)
        self.trace.progressed_at = timezone.now()
        with _patience(self.trace.pk):
            Trace.objects.filter(pk=self.trace.pk).update(
                progress=self.trace.progress, progressed_at=self.trace.progressed_at,
                touched_at=self.trace.progressed_at,
            )  # fmt: skip
        publish(self.trace)


def _cancelled(trace_id: int) -> bool:
    with _patience(trace_id):
        return not Trace.objects.filter(pk=trace_id, status=Trace.PARSING).exists()
    return False


@contextmanager
def _patience(trace_id: int) -> Iterator[None]:
    """A query that an import can do without: it goes on while the database does not answer."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        log.warning("import of trace %s continues; the database does not respond: %s", trace_id, error)
        connection.close_if_unusable_or_obsolete()


def _keep(trace: Trace, result: importers.ImportResult) -> None:
    with transaction.atomic():
        changed = Trace.objects.filter(pk=trace.pk, status=Trace.PARSING).update(
            status=Trace.READY, progress=1, format=result.format, message=result.summary, job_count=len(result.jobs),
            server_count=len(result.cluster.servers) if result.cluster else 0, report=result.report,
            preview=result.preview, jobs=result.jobs.data, skipped_csv=result.skipped_csv,
        )  # fmt: skip
        if not changed:
            raise importers.ImportCancelled
        if result.cluster is not None:
            store.store_cluster(result.cluster, f"server list of {trace.name}", trace)


def _refused(trace: Trace, why: str) -> None:
    """Failure of an import: a scanned upload waits for another selection, with its files; any other has failed."""
    if not trace.scan:
        return _fail(trace, why)
    found = {**trace.scan, "refused": why}
    Trace.objects.filter(pk=trace.pk, status=Trace.PARSING).update(
        status=Trace.SCANNED, progress=1, scan=found, message=why[:2000]
    )
    return None


def _fail(trace: Trace, message: str) -> None:
    Trace.objects.filter(pk=trace.pk, status=Trace.PARSING).update(status=Trace.FAILED, message=message[:2000])


def _again(trace: Trace) -> None:
    try:
        Trace.objects.filter(pk=trace.pk, status=Trace.PARSING).update(status=Trace.QUEUED, touched_at=timezone.now())
    except DatabaseError as error:
        log.warning("import of trace %s: the database does not respond: %s", trace.pk, error)


def drop_upload(trace: Trace) -> None:
    """Removal of the uploaded files, which are not needed again."""
    if remove_files(trace):
        trace.files = [{**file, "path": ""} for file in trace.files]
        Trace.objects.filter(pk=trace.pk).update(files=trace.files)


def remove_files(trace: Trace) -> int:
    """Removal of files from the disk; their number."""
    paths = [file["path"] for file in trace.files if file.get("path")]
    for path in paths:
        (Path(settings.UPLOAD_DIR) / path).unlink(missing_ok=True)
        scan_cache.drop(path)
    return len(paths)
