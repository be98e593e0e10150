"""HTTP handler of the web server: middlewares and view of a request run in one thread of a pool.

Django's own handler changes between the event loop and a thread at each middleware, and opens a database connection for
each request, whose thread is new. Here the threads and their connections stay.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from concurrent.futures import ThreadPoolExecutor

from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from twin.config.json_logs import request_id
from twin.infra import counters, tracing

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")  # that /metrics names
REQUEST_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)  # of a proxy before the twin; others are replaced
MAX_THREADS = 16  # requests that are answered at a time; others wait


class PooledHandler(ASGIHandler):
    """ASGI application of Django whose middlewares and views run in a pool of threads."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware(is_async=False)
        self.threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="http")

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        # without the context of the event loop: connections belong to the thread
        return await asyncio.get_running_loop().run_in_executor(self.threads, self._answer, request)

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        assert isinstance(request, ASGIRequest)
        close_broken_connections()
        set_script_prefix(get_script_prefix(request.scope))
        given = request.headers.get("X-Request-Id", "")
        request_id.set(given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8))
        with counters.timed("http_request_seconds"):
            response = tracing.answer(request, self.get_response, request_id.get())
        response.headers["X-Request-Id"] = request_id.get()
        method = request.method if request.method in METHODS else "other"
        counters.count("http_requests", method, str(response.status_code))
        return response


def close_broken_connections() -> None:
    """Closing of those connections of this thread that do not answer; the next query opens another one."""
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and (connection.errors_occurred or not connection.is_usable()):
            connection.close()
