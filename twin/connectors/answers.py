"""Bodies of HTTP answers, read in blocks up to a size and a deadline."""

from __future__ import annotations

import http.client
from collections.abc import Callable

from twin.connectors.facts import ConnectorError

BLOCK_BYTES = 1 << 16


def body_of(
    response: http.client.HTTPResponse, most_bytes: int, too_long: str, after_each: Callable[[], None]
) -> bytes:  # fmt: skip
    """The whole body; ConnectorError(too_long) beyond most_bytes. after_each: called after every block."""
    blocks, size = [], 0
    while block := response.read1(BLOCK_BYTES):
        blocks.append(block)
        size += len(block)
        if size > most_bytes:
            raise ConnectorError(too_long)
        after_each()
    return b"".join(blocks)
