"""Files as responses, sent in parts while they are generated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

PART_BYTES = 256 * 1024


def streamed(lines: Iterable[bytes], filename: str, kind: str) -> StreamingHttpResponse:
    """Lines as a file of this name and media type."""
    answer = StreamingHttpResponse(_pieces(iter(lines)), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{filename}"'
    # GZipMiddleware would make every part a gzip file of its own,
    # and browsers stop after the first: the rest would be lost
    answer["Content-Encoding"] = "identity"
    return answer


async def _pieces(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Response generated in the request's thread; Django would collect a plain iterator in memory first."""
    while part := await sync_to_async(_part)(lines):
        yield part


def _part(lines: Iterator[bytes]) -> bytes:
    found, size = [], 0
    for line in lines:
        found.append(line)
        size += len(line)
        if size >= PART_BYTES:
            break
    return b"".join(found)
