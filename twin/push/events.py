"""Accepted event, passed from the reader of a body to the database and to the fold."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from scheduling.reporting.quantities import duration
from twin.push.vocabulary import MAX_NUMBER, MAX_TEXT, RANKS, EventError, checked, encoded

MAX_AHEAD_MS = 600_000  # of a sender's clock before ours
JOB, NODE = "j", "n"
ENDING = ("job.ended",)


class PushedFact(NamedTuple):
    """An event about one job or node; the order of these fields is that of the columns of the database."""

    digest: bytes  # of what the sender calls it
    key: str  # JOB or NODE, then the name
    ends: bool
    at_ms: int
    payload: bytes  # [type, sequence, data] in JSON

    @property
    def name(self) -> str:
        """Name of the job or node."""
        return self.key[1:]


class ReadFact(NamedTuple):
    """The same event as the fold reads it; sorted, events are in the order in which they happened."""

    at_ms: int
    sequence: str
    rank: int
    digest: bytes
    type: str
    data: Mapping[str, Any]


def digest_of(*words: str) -> bytes:
    """16 bytes that stand for the words: the identity of an event."""
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def fact(
    type: str, subject: str, at_ms: int, digest: bytes, data: bytes, now_ms: int, sequence: str = ""
) -> PushedFact:
    """An event with the data as it came; EventError says what does not fit."""
    _check(subject, at_ms, now_ms)
    of_job = type.startswith("job.")
    try:
        data = checked(type, data)
    except EventError as error:
        raise EventError(f"{'job' if of_job else 'node'} {subject}: {error}") from None
    ends = type in ENDING or (type == "job.stated" and orjson.loads(data)["state"] == "ended")
    payload = b'["%b","%b",%b]' % (type.encode(), sequence.encode(), data)
    return PushedFact(digest, (JOB if of_job else NODE) + subject, ends, at_ms, payload)


def made(type: str, subject: str, at_ms: int, digest: bytes, data: Mapping[str, Any], now_ms: int) -> PushedFact:
    """An event whose data the reader of a foreign body has made."""
    return fact(type, subject, at_ms, digest, encoded(type, data), now_ms)


def read(at_ms: int, digest: bytes, payload: bytes) -> ReadFact:
    """A stored event."""
    type, sequence, data = orjson.loads(payload)
    return ReadFact(at_ms, sequence, RANKS[type], digest, type, data)


def _check(subject: str, at_ms: int, now_ms: int) -> None:
    if not 0 < len(subject) <= MAX_TEXT or not subject.isprintable():
        raise EventError(
            f"subject must name the job or node in 1 to {MAX_TEXT:,} printable characters, got {subject[:MAX_TEXT]!r}"
        )
    if not 0 <= at_ms <= MAX_NUMBER:
        raise EventError("time must be 1970 or later")
    if at_ms > now_ms + MAX_AHEAD_MS:
        raise EventError(
            f"time is {duration(at_ms - now_ms)} ahead of this server's clock; at most "
            f"{MAX_AHEAD_MS // 60_000} min are accepted, so set the sender's clock"
        )
