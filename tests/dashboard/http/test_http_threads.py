"""The HTTP handler: one thread per request, connections that stay, more requests than threads."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from twin.config.http import MAX_THREADS, PooledHandler

seen: list[tuple[str, int]] = []
together = threading.Barrier(2)


def remember(get_response: Any) -> Any:
    """Middleware that notes its thread."""

    def middleware(request: HttpRequest) -> HttpResponse:
        seen.append(("middleware", threading.get_ident()))
        return get_response(request)

    return middleware


def note(request: HttpRequest) -> HttpResponse:
    seen.append(("view", threading.get_ident()))
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse(f"{threading.current_thread().name} {id(connection.connection)}")


def wait(request: HttpRequest) -> HttpResponse:
    together.wait(30)
    return HttpResponse()


def prefix(request: HttpRequest) -> HttpResponse:
    from django.urls import reverse

    return HttpResponse(reverse("note"))


def fail(request: HttpRequest) -> HttpResponse:
    """A view that breaks the connection of its thread, as a restart of the database server does."""
    connection.ensure_connection()
    connection.connection.close()
    connection.errors_occurred = True
    for name in ("is_usable", "is_in_memory_db"):
        setattr(connection, name, lambda: False)
    return HttpResponse()


urlpatterns = [path("note", note, name="note"), path("wait", wait), path("prefix", prefix), path("fail", fail)]
AGAIN = ["tests.dashboard.http.test_http_threads.remember"] * 2


async def get(handler: PooledHandler, address: str, root: str = "") -> str:
    scope = {"type": "http", "method": "GET", "path": root + address, "root_path": root, "query_string": b"",
             "headers": [(b"host", b"testserver")]}  # fmt: skip
    asked = ApplicationCommunicator(handler, scope)
    await asked.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await asked.receive_output(30)
    assert start["status"] == 200
    body = (await asked.receive_output(30))["body"].decode()
    await asked.send_input({"type": "http.disconnect"})
    await asked.wait(30)
    return body


@pytest.fixture
def handler(tmp_path: Any, transactional_db: None) -> Any:
    seen.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=AGAIN):
        made = PooledHandler()
        yield made
        made.threads.shutdown()


async def test_middlewares_and_view_run_in_one_thread_and_keep_its_connection(handler: PooledHandler) -> None:
    first = await get(handler, "/note")
    assert [what for what, _ in seen] == ["middleware", "middleware", "view"]
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident(), "the event loop answers others meanwhile"
    answers = {first, *[await get(handler, "/note") for _ in range(3)]}
    assert len({answer.split()[0] for answer in answers}) == len(answers), "each thread keeps its connection"


async def test_a_broken_connection_is_replaced_at_the_next_request(handler: PooledHandler) -> None:
    handler.threads.shutdown()
    handler.threads = ThreadPoolExecutor(1, "one")  # all three in the thread of the broken connection
    before = await get(handler, "/note")
    await get(handler, "/fail")
    after = await get(handler, "/note")
    assert (before.split()[0], after.split()[0]) == ("one_0", "one_0")


async def test_requests_are_answered_at_the_same_time_and_those_over_the_limit_wait(handler: PooledHandler) -> None:
    await asyncio.gather(get(handler, "/wait"), get(handler, "/wait"))  # each waits for the other
    assert len(await asyncio.gather(*(get(handler, "/note") for _ in range(3 * MAX_THREADS)))) == 3 * MAX_THREADS
    assert len({thread for what, thread in seen if what == "view"}) <= MAX_THREADS


async def test_addresses_have_the_prefix_of_a_proxy(handler: PooledHandler) -> None:
    assert await get(handler, "/prefix", "/twin") == "/twin/note"
    assert await get(handler, "/prefix") == "/note"
