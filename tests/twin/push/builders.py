"""Events in the vocabulary of push."""

import orjson

from twin.push.events import PushedFact, ReadFact, digest_of, fact, read

T0 = 1_780_000_000_000  # 2026-05-28
NOW = T0 + 86_400_000


def pushed(type: str, subject: str, at_ms: int, /, **data) -> PushedFact:
    """An event; events with the same content are the same event."""
    digest = digest_of(type, subject, str(at_ms), str(sorted(data.items())))
    return fact(type, subject, at_ms, digest, orjson.dumps(data), NOW)  # as it is sent: nothing is filled in


def event(type: str, at_ms: int, /, **data) -> ReadFact:
    """An event of the job or node that the test is about, as the fold reads it."""
    sent = pushed(type, "x", at_ms, **data)
    return read(sent.at_ms, sent.digest, sent.payload)


def cloud_event(type: str, subject: str, at_ms: int, /, id: str | None = None, **data) -> dict:
    from datetime import UTC, datetime

    time = datetime.fromtimestamp(at_ms / 1_000, UTC).isoformat()
    name = id or f"{type} {subject} {at_ms}"
    return {
        "specversion": "1.0",
        "id": name,
        "source": "/lab",
        "type": type,
        "subject": subject,
        "time": time,
        "data": data,
    }
