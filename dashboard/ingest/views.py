"""POST /api/ingest/<source>/events and /snapshot, GET /api/ingest/<source>/cursor: for tokens of that source only."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import APIException, Throttled
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.bearer import BearerOrBasicAuthentication
from dashboard.http import throttles
from dashboard.ingest import openapi
from dashboard.ingest.permission import Ingest
from dashboard.openapi.answers import answer
from twin.infra import counters
from twin.push import bodies, snapshots, storage
from twin.push.vocabulary import EventError


class TooLarge(APIException):
    """Error: the request is over the limit; nothing of it was stored."""

    status_code = 413


class OtherMediaType(APIException):
    """Error: unsupported type of body."""

    status_code = 415


class AnyBody(BaseParser):
    """Parser that leaves the body to the view."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> bytes:
        return bytes(stream.read())


class IngestView(APIView):
    """Base of the three endpoints."""

    authentication_classes = (BearerOrBasicAuthentication,)
    permission_classes = (Ingest,)
    throttle_classes = (throttles.TokenThrottle,)
    parser_classes = (AnyBody,)

    def body(self) -> bytes:
        """The body; 413 where it is too large."""
        try:
            data = self.request.body
        except RequestDataTooBig:
            data = None
        if data is None or len(data) > settings.MAX_INGEST_BYTES:
            limit = settings.MAX_INGEST_BYTES // 2**20
            raise TooLarge(f"The request is larger than the limit of {limit} MiB; send fewer events in one request.")
        return data

    def count(self, events: int) -> None:
        """Count of the token's events; 429 if there are too many in a second."""
        wait_s = throttles.events.take(self.request.auth.pk, events)
        if wait_s:
            most = f"{throttles.MAX_EVENTS:,}"
            raise Throttled(
                wait_s, f"The token sends more than {most} events in a second; nothing of this request was stored."
            )


class EventsView(IngestView):
    """Events of a source."""

    @extend_schema(request=openapi.EVENTS, responses={200: answer("EventsAccepted")})
    def post(self, request: Request, source: str) -> Response:
        """Stores a batch of events, or a single one; an empty batch is a heartbeat (docs/push.md).

        An event that comes again counts as a duplicate.
        """
        media_type = request.content_type.partition(";")[0].strip().lower()
        if media_type not in bodies.media_types():
            known = ", ".join(bodies.media_types())
            raise OtherMediaType(f"Content-Type must be one of {known}; got {media_type[:80] or 'none'}.")
        now_ms = time.time_ns() // 1_000_000
        try:
            read = bodies.read(self.body(), media_type, now_ms)
        except bodies.TooMany as error:
            raise TooLarge(str(error)) from None
        self.count(len(read))
        facts = [fact for events in read if not isinstance(events, EventError) for fact in events]
        accepted, cursor = storage.accept(source, facts, now_ms)
        if not facts and not any(isinstance(found, EventError) for found in read):  # a heartbeat
            storage.contact(source, now_ms)
        counters.count("events_pushed", by=accepted)
        return Response({
            "accepted": accepted,
            "duplicate": len(facts) - accepted,
            "rejected": [{"index": index, "error": str(found).replace("\n", "\\n").replace("\r", "\\r")}
                         for index, found in enumerate(read) if isinstance(found, EventError)],
            "ignored": sum(found == [] for found in read),
            "cursor": cursor,
        })  # fmt: skip


class SnapshotView(IngestView):
    """Snapshots of a source."""

    @extend_schema(request=openapi.SNAPSHOT, responses={200: answer("SnapshotStep")})
    def post(self, request: Request, source: str) -> Response:
        """Receives a step of a snapshot: begin, part or end. At the end, items that are not in it are removed."""
        now_ms = time.time_ns() // 1_000_000
        try:
            found = snapshots.step(source, self.body(), now_ms, self.count)
        except bodies.TooMany as error:
            raise TooLarge(str(error)) from None
        storage.contact(source, now_ms)
        return Response(found)


class CursorView(IngestView):
    """Cursor of a source."""

    @extend_schema(responses={200: answer("SourceCursor")})
    def get(self, request: Request, source: str) -> Response:
        """Cursor as {source, cursor}: the sequence number of the newest event; 0 before the first."""
        return Response({"source": source, "cursor": storage.cursor(storage.check_source(source))})
