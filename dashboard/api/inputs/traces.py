"""Traces: upload, progress, report, cancel, delete."""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard import query
from dashboard.api.audit import AuditedDelete, record
from dashboard.api.serializers.traces import TraceDetailSerializer, TraceSerializer
from dashboard.api.serializers.uploads import AnnouncedSerializer, ChoiceSerializer, UploadSerializer
from dashboard.auth.visible import OfTeams, one, visible
from dashboard.http import upload_files
from dashboard.http.parsers import OrjsonParser, RawParser
from dashboard.http.streamed import streamed
from dashboard.http.throttles import UploadThrottle
from dashboard.openapi.answers import answer
from dashboard.readmodels import cards, downloads
from scheduling.model.values import ModelError
from twin.infra.errors import Refused
from twin.models import Trace
from twin.scenarios import listed
from twin.traces import import_commands, import_task
from twin.traces.importers import Reading
from twin.traces.importing.drafts import Skipped
from twin.traces.mappings import preview as mapping_preview


@extend_schema_view(
    list=extend_schema(description="Traces that scenarios can use."),
    retrieve=extend_schema(description="One trace with the result of its scan, its report and its first jobs."),
    destroy=extend_schema(description="Deletes a trace that no scenario uses."),
)
class TraceViewSet(
    OfTeams,
    AuditedDelete,
    mixins.RetrieveModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Trace],
):
    """Traces that scenarios can use."""

    queryset = Trace.objects.defer("jobs", "skipped_csv").select_related("created_by", "team")
    parser_classes = (MultiPartParser, OrjsonParser)
    noun = "trace"
    lookup_value_regex = r"\d+"

    def filter_queryset(self, queryset: QuerySet[Trace]) -> QuerySet[Trace]:
        found = super().filter_queryset(queryset)
        return listed.inputs(found, "trace") if self.action == "list" else found

    def get_serializer_class(self) -> type:
        return TraceDetailSerializer if self.action == "retrieve" else TraceSerializer

    def get_throttles(self) -> list[Any]:
        return [UploadThrottle()] if self.action == "create" else super().get_throttles()

    @extend_schema(request=UploadSerializer, responses={201: TraceSerializer})
    def create(self, request: Request) -> Response:
        """Stores the files of a form and queues their import, or announces a resumable upload (JSON with `files`)."""
        if not isinstance(request.data, QueryDict):
            return self._announced(request)
        form = UploadSerializer(data=_form(request.data))
        form.is_valid(raise_exception=True)
        given = form.validated_data
        if why := _twice([(upload.name, upload.checksum) for upload in given["file"]]):
            raise ValidationError({"file": [why]})
        checksum = checksum_of([upload.checksum for upload in given["file"]])
        options = form.options()
        known = visible(Trace.objects.all(), request.user)
        earlier = _duplicate(known, checksum, given["format"], given["seed"], options, stage=given["stage"])
        if earlier is not None:
            return _said_before(earlier)
        trace = Trace.objects.create(
            name=_name(given, [upload.name for upload in given["file"]]), format=given["format"], checksum=checksum,
            seed=given["seed"],
            files=[{"name": u.name, "size": u.size, "received": u.size, "path": u.keep()} for u in given["file"]],
            options=options, stage=given["stage"], created_by=request.user,
        )  # fmt: skip
        import_commands.start_import(trace, request.user)
        return Response(TraceSerializer(trace).data, status=status.HTTP_201_CREATED)

    def _announced(self, request: Request) -> Response:
        form = AnnouncedSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        names = [file["name"] for file in given["files"]]
        total = sum(file["size"] for file in given["files"])
        if total > settings.UPLOAD_LIMIT_BYTES:
            raise upload_files.TooLarge(upload_files.too_large())
        with transaction.atomic():
            trace = Trace.objects.create(
                name=_name(given, names), format=given["format"], seed=given["seed"], status=Trace.UPLOADING,
                stage=given["stage"],
                files=[{"name": Path(f["name"]).name or "upload", "size": f["size"], "received": 0,
                        "path": upload_files.new()} for f in given["files"]],
                options=form.options(), created_by=request.user,
            )  # fmt: skip
            record(request.user, "trace.announce", trace)
        import_task.publish(trace)
        return Response(TraceSerializer(trace).data, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: Trace) -> None:
        if instance.status in Trace.BUSY:
            raise Refused(f"trace {instance.name} is {instance.status}; cancel its import before deleting it")
        super().perform_destroy(instance)
        import_task.remove_files(instance)

    @extend_schema(request=ChoiceSerializer, responses=TraceSerializer)
    @action(detail=True, methods=["post"], url_path="import")
    def import_(self, request: Request, pk: str) -> Response:
        """Imports a scanned upload with this selection."""
        return self._chosen(request, Trace.IMPORT)

    @extend_schema(request=ChoiceSerializer, responses=TraceSerializer)
    @action(detail=True, methods=["post"])
    def scan(self, request: Request, pk: str) -> Response:
        """Scans the upload again, with another format or column mapping."""
        return self._chosen(request, Trace.SCAN)

    def _chosen(self, request: Request, stage: str) -> Response:
        trace = self.get_object()
        form = ChoiceSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given, options = form.validated_data, form.options()
        if stage == Trace.IMPORT:
            known = visible(Trace.objects.exclude(pk=trace.pk), self.request.user)
            earlier = _duplicate(known, trace.checksum, given["format"], given["seed"], options)
            if earlier is not None:
                return _said_before(earlier)
        changes = {
            "format": given["format"],
            "seed": given["seed"],
            "options": options,
            "name": given.get("name") or trace.name,
        }
        return Response(TraceSerializer(import_commands.choose(trace, stage, changes, request.user)).data)

    @extend_schema(
        parameters=[
            OpenApiParameter("mapping", str, description="{field: column}, as JSON", required=True),
            OpenApiParameter("time_zone", str, description="Time zone of dates that state none"),
            OpenApiParameter("file", int, description="Number of the file in the scan, from 0"),
        ],
        responses={200: answer("TraceMapping")},
    )
    @action(detail=True, methods=["get"])
    def mapping(self, request: Request, pk: str) -> Response:
        """First ten rows of a scanned file as a column mapping reads them."""
        trace = self.get_object()
        files = trace.scan.get("files") or []
        place = query.number(request.query_params, "file", 0, 0, 2**31)
        if place >= len(files):
            raise NotFound(f"The scan of trace {pk} has no file {place}; it has {len(files):,}, numbered from 0.")
        given = {"mapping": _mapping(request.query_params.get("mapping", "{}"))}
        if zone := request.query_params.get("time_zone"):
            given["time_zone"] = zone
        form = ChoiceSerializer(data=given)
        form.is_valid(raise_exception=True)
        found = mapping_preview.preview(
            files[place]["file"], files[place]["sample"], form.validated_data["mapping"], Reading.of(form.options())
        )
        return Response(found)

    @extend_schema(responses={200: answer("TraceCard")})
    @action(detail=True)
    def card(self, request: Request, pk: str) -> Response:
        """Arrivals of a trace that is ready, as a small picture."""
        trace = one(Trace.objects.only("id"), request.user, pk=pk, status=Trace.READY)
        return Response(cards.trace_card(trace.pk))

    @extend_schema(request=None, responses=TraceSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Stops an import in progress."""
        return Response(TraceSerializer(import_commands.cancel_import(self.get_object(), request.user)).data)

    @extend_schema(
        responses={(200, kind.partition(";")[0]): OpenApiTypes.BINARY for kind in downloads.MEDIA_TYPES.values()}
    )
    def jobs(self, request: Request, pk: str, kind: str) -> StreamingHttpResponse:
        """Jobs of a trace in the format of the address: jobs.jsonl, jobs.csv, jobs.parquet or jobs.swf."""
        trace = one(Trace.objects.only("jobs", "job_count", "status", "name"), request.user, pk=pk)
        if not trace.job_count:
            raise NotFound(f"Trace {pk} ({trace.name}) has no jobs.")
        return streamed(*downloads.trace_jobs(trace, kind))

    @extend_schema(responses={(200, "text/csv"): str})
    def report(self, request: Request, pk: str) -> HttpResponse:
        """All skipped rows with line and reason."""
        trace = one(Trace.objects.only("skipped_csv"), request.user, pk=pk)
        packed = bytes(trace.skipped_csv) or Skipped.joined([])
        answer = HttpResponse(gzip.decompress(packed), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="trace-{trace.pk}-report.csv"'
        return answer


class TraceFileView(APIView):
    """PUT /api/traces/<id>/files/<n>/?offset=<bytes>: next part of a file as raw bytes."""

    parser_classes = (RawParser,)

    @extend_schema(
        request=OpenApiTypes.BINARY,
        parameters=[OpenApiParameter("offset", int, description="Byte of the file at which the part begins")],
        responses={200: answer("TracePart")},
    )
    def put(self, request: Request, trace_id: int, number: int) -> Response:
        """Appends a part; 409 with the number of received bytes if the offset differs."""
        trace = one(Trace.objects.defer("jobs", "skipped_csv"), request.user, pk=trace_id)
        if not 0 <= number < len(trace.files):
            raise NotFound(f"Trace {trace_id} has no file {number}; it has {len(trace.files):,}, numbered from 0.")
        offset = query.number(request.query_params, "offset", 0, 0, 2**53)
        part = request.data if isinstance(request.data, bytes) else b""  # DRF gives {} for an empty body
        with transaction.atomic():
            trace = Trace.objects.select_for_update().defer("jobs", "skipped_csv").get(pk=trace_id)
            if trace.status != Trace.UPLOADING:
                raise Refused(f"trace {trace.name} is {trace.status}; its upload is complete")
            file = trace.files[number]
            if offset != file["received"]:
                return Response(
                    {
                        "detail": f"{file['name']} has been received up to byte {file['received']}, not {offset}",
                        "received": file["received"],
                    },
                    status=status.HTTP_409_CONFLICT,
                )
            if offset + len(part) > file["size"]:
                raise ModelError(
                    f"{file['name']} was announced with {file['size']:,} bytes; this part ends at "
                    f"{offset + len(part):,}"
                )
            upload_files.append(file["path"], offset, part)
            file["received"] = offset + len(part)
            whole = all(f["received"] == f["size"] for f in trace.files)
            sent, size = (sum(f[key] for f in trace.files) for key in ("received", "size"))
            trace.progress = sent / size if size else 1.0
            Trace.objects.filter(pk=trace_id).update(
                files=trace.files, progress=trace.progress, touched_at=timezone.now()
            )
        if not whole:
            import_task.publish(trace)
            return Response({"received": file["received"]})
        return self._whole(trace, request)

    def _whole(self, trace: Trace, request: Request) -> Response:
        checksums = [upload_files.checksum(file["path"]) for file in trace.files]
        if why := _twice([(file["name"], checksum) for file, checksum in zip(trace.files, checksums, strict=True)]):
            import_commands.cancel_import(trace, request.user)
            trace.delete()
            raise ValidationError({"file": [why]})
        trace.checksum = checksum_of(checksums)
        known = visible(Trace.objects.exclude(pk=trace.pk), request.user)
        earlier = _duplicate(known, trace.checksum, trace.format, trace.seed, trace.options, stage=trace.stage)
        if earlier is not None:
            import_commands.cancel_import(trace, request.user)
            trace.delete()
            return _said_before(earlier)
        Trace.objects.filter(pk=trace.pk).update(checksum=trace.checksum)
        import_commands.start_import(trace, request.user)
        return Response({"received": trace.files[-1]["size"], "trace": TraceSerializer(trace).data})


def checksum_of(checksums: list[str]) -> str:
    """Checksum of a file, or of a set of files in any order."""
    return checksums[0] if len(checksums) == 1 else sha256("\n".join(sorted(checksums)).encode()).hexdigest()


def _twice(files: list[tuple[str, str]]) -> str:
    """Reason why files, as (name, checksum), cannot be imported together: two have the same content; "" if none do."""
    known: dict[str, str] = {}
    for name, checksum in files:
        if checksum in known:
            return (
                f"{known[checksum]} and {name} have the same content, so each job would occur twice; "
                "upload only one of them"
            )
        known[checksum] = name
    return ""


def _duplicate(
    known: QuerySet[Trace], checksum: str, format: str, seed: int, options: dict[str, Any], stage: str = Trace.IMPORT
) -> Trace | None:
    """Known trace of the same files with the same options; for a scan, one in the state scanned."""
    same = known.filter(checksum=checksum).exclude(status__in=(Trace.FAILED, Trace.CANCELLED))
    if stage == Trace.SCAN:
        return same.filter(stage=Trace.SCAN, status__in=(*Trace.BUSY, Trace.SCANNED)).first()
    alike = Q(seed=seed, options=options) & (
        Q(format=format) | Q(status=Trace.READY) if format == "auto" else Q(format=format)
    )
    return same.filter(alike).first()


def _said_before(earlier: Trace) -> Response:
    state = "; it has not been imported yet" if earlier.status == Trace.SCANNED else ", with the same options"
    detail = f"This file has already been uploaded as trace {earlier.pk} ({earlier.name}){state}."
    return Response({"detail": detail, "duplicate_of": earlier.pk}, status=status.HTTP_409_CONFLICT)


def _name(given: dict[str, Any], names: list[str]) -> str:
    return str(given.get("name") or (names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"))[:200]


def _form(data: QueryDict) -> dict[str, Any]:
    """Form as plain data, with lists for repeated fields."""
    plain: dict[str, Any] = {name: data.get(name) for name in data if name not in ("file", "groups")}
    for name in ("file", "groups"):
        if name in data:
            plain[name] = data.getlist(name)
    if "mapping" in plain:
        plain["mapping"] = _mapping(str(plain["mapping"]))
    return plain


def _mapping(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ModelError(f"mapping must be JSON: {error}") from error
