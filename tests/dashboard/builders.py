"""Requests, downloads, routes and sockets: shared by the tests of the dashboard."""

import asyncio
from collections.abc import Iterator

import orjson
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.urls import URLPattern, URLResolver, get_resolver

from scheduling.workloads import generate
from tests.dashboard.peer import Peer
from tests.twin.runtime.queues import work
from twin.config.asgi import application
from twin.infra import pubsub
from twin.infra.columns import unpack
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store

WRITES = ("post", "put", "patch", "delete")


def routes(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern).removeprefix("^").removesuffix("$").removesuffix("\\Z")
        if isinstance(entry, URLResolver):
            yield from routes(entry, path)
        else:
            yield path, entry


def methods_of(view) -> set[str]:
    """What a view of the API declares; nothing for a page."""
    plain = getattr(view, "cls", None)  # of an APIView, or of a viewset
    declared = getattr(view, "actions", None) or (plain and {name for name in ("get", *WRITES) if hasattr(plain, name)})
    return set(declared or {})


def played(scheduler: str, jobs: int, servers: int, seed: int = 3) -> Run:
    """A run to its end, of a generated workload that suits the scheduler; for tests with the fixture `make_run`."""
    profile = {"a_online": "a-online", "harmony": "harmony"}.get(scheduler, "oasis")
    made = generate(profile, num_jobs=jobs, num_servers=servers, seed=seed)
    spec, trace = store.store_generated("s", *made, seed)
    scenario = Scenario.objects.create(name="s", cluster=spec, trace=trace, scheduler=scheduler, seed=seed)
    run = Run.objects.create(scenario=scenario)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    return run


def downloaded(answer) -> bytes:
    """The body of a streamed answer, taken as the ASGI server takes it."""

    async def pieces() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(pieces)()


def post(client, address, body):
    return client.post(address, orjson.dumps(body), content_type="application/json")


def socket(client, run_id: int, origin: bytes = b"http://localhost", through=application) -> Peer:
    headers = [(b"origin", origin), (b"host", b"localhost")]
    if client is not None:
        headers.append((b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()))
    return Peer(through, f"/ws/runs/{run_id}/", headers=headers)


async def receive(peer: Peer) -> dict:
    """The next message: JSON, or what a frame says besides its columns."""
    message = await peer.hear()
    return unpack(message)[0] if isinstance(message, bytes) else orjson.loads(message)


async def listening(run_id: int) -> None:
    """Until the hub's subscription stands."""
    channel = pubsub.run_channel(run_id)
    for _ in range(500):
        if await database_sync_to_async(lambda: pubsub.client().pubsub_numsub(channel)[0][1])():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nobody subscribed")
