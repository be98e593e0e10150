"""Events in the vocabulary of push."""

from twin.push.events import PushedFact, ReadFact, digest_of, made, read

T0 = 1_780_000_000_000  # 2026-05-28
NOW = T0 + 86_400_000


def pushed(type: str, subject: str, at_ms: int, /, **data) -> PushedFact:
    """An event; events with the same content are the same event."""
    return made(type, subject, at_ms, digest_of(type, subject, str(at_ms), str(sorted(data.items()))), data, NOW)


def event(type: str, at_ms: int, /, **data) -> ReadFact:
    """An event of the job or node that the test is about, as the fold reads it."""
    fact = pushed(type, "x", at_ms, **data)
    return read(fact.at_ms, fact.digest, fact.payload)


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
