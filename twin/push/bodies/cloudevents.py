"""CloudEvents 1.0 in JSON, in batches or single, with the vocabulary of twin/push/vocabulary.py."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import orjson

from twin.push.events import PushedFact, digest_of, fact
from twin.push.vocabulary import MAX_TEXT, EventError, check_type

TITLE = "CloudEvents 1.0"
MEDIA_TYPES = ("application/cloudevents-batch+json", "application/cloudevents+json")
SEQUENCE = re.compile(r"[0-9A-Za-z._:+-]{1,50}")
EXAMPLE = "2026-05-04T10:00:00.250Z"


def fits(item: dict[str, Any]) -> bool:
    """True if the object is an event of this kind."""
    return "specversion" in item


def read(item: dict[str, Any], now_ms: int) -> list[PushedFact]:
    """The one event that it is."""
    version = item.get("specversion")
    if version != "1.0":
        raise EventError(f'specversion must be "1.0", got {version!r}')
    type, subject = _text(item, "type"), _text(item, "subject")
    check_type(type)
    if "data_base64" in item:
        raise EventError("data_base64 is not read; send data as JSON")
    at_ms = unix_ms("time", item.get("time"))
    digest = digest_of(_text(item, "source"), _text(item, "id"))
    data = item.get("data")
    body = b"{}" if data is None else orjson.dumps(data)
    return [fact(type, subject, at_ms, digest, body, now_ms, _sequence(item.get("sequence", "")))]


def unix_ms(name: str, value: Any) -> int:
    """A time as RFC 3339 writes it, in Unix milliseconds."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
    except (TypeError, ValueError):
        shown = "it is missing" if value is None else f"got {str(value)[:60]!r}"
        raise EventError(f"{name} must be an RFC 3339 time with a zone, such as {EXAMPLE}; {shown}") from None
    return round(moment.timestamp() * 1_000)


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT:
        shown = "it is missing" if value is None else f"got {str(value)[:60]!r}"
        raise EventError(f"{name} must be a text of 1 to {MAX_TEXT:,} characters; {shown}")
    return value


def _sequence(value: Any) -> str:
    """Order among events of the same millisecond; numbers compare as numbers."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        value = str(value)
    if value == "":
        return ""
    if not isinstance(value, str) or not SEQUENCE.fullmatch(value):
        raise EventError(f"sequence must be a number or up to 50 letters and digits, got {str(value)[:60]!r}")
    return value.zfill(20) if value.isdigit() else value
