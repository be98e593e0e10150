"""Limit on request bodies: a longer one is refused while it arrives.

Django under ASGI first writes every body to a temporary file, whoever sends it and however long it is; its own limits
apply to that file afterwards. So this limit applies before Django.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from django.conf import settings

MAX_FORM_BYTES = 1024 * 1024  # the fields and borders around an uploaded file
# read and discarded, so that a browser sees the answer and not a broken connection
MAX_DRAIN_BYTES, MAX_DRAIN_S = (1024**3, 30)


class TooLong(Exception):
    """Error: the body is over the limit."""


class BodyLimit:
    """ASGI: passes requests on to `app`, and answers 413 to those whose body is too long."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        limit = limit_of(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"")
        if declared.isdigit() and int(declared) > limit:
            await _refuse(receive, send, scope["path"], more=True)
            return
        taken, more = 0, True

        async def counted() -> Any:
            nonlocal taken, more
            message = await receive()
            taken, more = taken + len(message.get("body", b"")), message.get("more_body", False)
            if taken > limit:
                raise TooLong
            return message

        try:
            await self.app(scope, counted, send)
        except TooLong:  # only ever while Django reads the body, so before it has begun to answer
            await _refuse(receive, send, scope["path"], more)


def limit_of(path: str) -> int:
    """Bytes that a request to the path may hold."""
    if path.startswith(settings.INGEST_PATH):
        return settings.MAX_INGEST_BYTES
    return settings.UPLOAD_LIMIT_BYTES + MAX_FORM_BYTES if path == settings.UPLOAD_PATH else settings.MAX_BODY_BYTES


async def _refuse(receive: Any, send: Any, path: str, more: bool) -> None:
    """Refusal with 413, after the rest of the body, if there is `more`, has been read."""
    drained = 0
    try:
        async with asyncio.timeout(MAX_DRAIN_S):
            while more and drained < MAX_DRAIN_BYTES:
                message = await receive()
                drained += len(message.get("body", b""))
                more = message.get("more_body", False)  # a disconnect has none
    except TimeoutError:
        pass
    limit = limit_of(path)
    shown = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit} bytes"
    remedy = "send fewer events in one request" if path.startswith(settings.INGEST_PATH) else "split it or compress it"
    body = orjson.dumps({"detail": f"The request is larger than the limit of {shown}; {remedy}."})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
