"""Large answers, compressed faster than by Django's middleware."""

from __future__ import annotations

import gzip

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from dashboard.http.accept_encoding import takes_gzip


def compressed(request: HttpRequest, body: bytes, kind: str = "application/octet-stream") -> HttpResponse:
    """Response with a body of this media type, as gzip if the client accepts it."""
    zipped = takes_gzip(request)
    answer = HttpResponse(gzip.compress(body, compresslevel=1) if zipped else body, content_type=kind)
    if zipped:
        answer["Content-Encoding"] = "gzip"
    patch_vary_headers(answer, ("Accept-Encoding",))
    answer["Cache-Control"] = "no-store"
    return answer
