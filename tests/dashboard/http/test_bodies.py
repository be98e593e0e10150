"""A body over the limit is refused while it arrives, before Django writes it to the disk."""

import orjson
from asgiref.testing import ApplicationCommunicator

from twin.config.asgi import application


async def answer(path: str, pieces: list[bytes], **headers: str) -> tuple[int, dict]:
    """(status, JSON body) of a POST whose body comes in pieces."""
    sent = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    sent += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": sent}
    peer = ApplicationCommunicator(application, scope)
    for i, piece in enumerate(pieces):
        await peer.send_input({"type": "http.request", "body": piece, "more_body": i + 1 < len(pieces)})
    status = (await peer.receive_output(timeout=5))["status"]
    return status, orjson.loads((await peer.receive_output(timeout=5))["body"])


async def test_a_declared_length_is_refused_at_once(settings):
    settings.MAX_BODY_BYTES = 2**20
    status, body = await answer("/api/clusters/", [b"x"], content_length=str(2**20 + 1))
    assert (status, body["detail"]) == (413, "The request is larger than the limit of 1 MiB; split it or compress it.")


async def test_a_length_that_was_not_declared_is_counted(settings):
    """Four pieces of 30 bytes pass 100 at the fourth."""
    settings.MAX_BODY_BYTES = 100
    status, _ = await answer("/login/", [b"x" * 30] * 4)
    assert status == 413


async def test_only_the_upload_address_takes_more(settings):
    settings.MAX_BODY_BYTES, settings.UPLOAD_LIMIT_BYTES = 100, 2 * 2**20
    status, body = await answer("/api/traces/", [b"x" * 2**20] * 4)
    assert (status, body["detail"]) == (413, "The request is larger than the limit of 3 MiB; split it or compress it.")
    status, body = await answer("/api/schedulers/", [b"x" * 2**20])
    assert (status, body["detail"]) == (
        413,
        "The request is larger than the limit of 100 bytes; split it or compress it.",
    )
