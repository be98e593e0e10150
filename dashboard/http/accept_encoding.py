"""Encodings that a client accepts. Django and WhiteNoise search only for the word `gzip`, and so accept `gzip;q=0`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

HEADER = "HTTP_ACCEPT_ENCODING"
REFUSED = re.compile(r";\s*q\s*=\s*0(\.0*)?\s*$", re.IGNORECASE)


@sync_and_async_middleware
def without_refused(get_response: Callable[..., Any]) -> Callable[..., Any]:
    """Middleware that keeps in Accept-Encoding only what the client accepts."""

    def strip(request: HttpRequest) -> None:
        if HEADER in request.META:
            request.META[HEADER] = ",".join(
                part for part in request.META[HEADER].split(",") if not REFUSED.search(part)
            )

    async def later(request: HttpRequest) -> Any:
        strip(request)
        return await get_response(request)

    def now(request: HttpRequest) -> Any:
        strip(request)
        return get_response(request)

    return later if iscoroutinefunction(get_response) else now


def takes_gzip(request: HttpRequest) -> bool:
    """True if an answer may be gzip; without the header it is sent plain."""
    return bool(re.search(r"\bgzip\b", request.META.get(HEADER, ""), re.IGNORECASE))
