"""Bodies of requests that push accepts, one file each: CloudEvents, and what other systems post by themselves.

A file of this folder defines TITLE, MEDIA_TYPES, `fits(item)` and `read(item, now_ms)`. `fits` says of one object of a
body with the media type application/json whether it is of this kind. `read` makes the events of one object: none where
it states nothing about jobs and nodes; EventError says in one sentence why it is refused.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import orjson

from scheduling.kernel.menus import Menu, lacks
from scheduling.model.values import ModelError
from twin.push.events import PushedFact
from twin.push.vocabulary import EventError

MAX_EVENTS = 1_000  # of one request
PLAIN = "application/json"


class TooMany(ValueError):
    """A body with more events than a request may hold."""


def _offered(module: ModuleType) -> list[tuple[str, ModuleType]] | str:
    reason = lacks(module, ("TITLE", "MEDIA_TYPES", "fits", "read"))
    return reason or [(module.__name__.rpartition(".")[2], module)]


MENU: Menu[ModuleType] = Menu("kind of body", __name__, _offered)
kinds = MENU.available  # {name: module} of all kinds of bodies


def media_types() -> list[str]:
    """The media types that are accepted."""
    return [*(name for kind in kinds().values() for name in kind.MEDIA_TYPES), PLAIN]


def read(body: bytes, media_type: str, now_ms: int) -> list[list[PushedFact] | EventError]:
    """Events of each object of a body, or why it is refused; ModelError if the body as a whole cannot be read."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ModelError(f"the body is not JSON: {error}") from None
    items = document if isinstance(document, list) else [document]
    if len(items) > MAX_EVENTS:
        raise TooMany(f"The request has {len(items):,} events; send at most {MAX_EVENTS:,} in one request.")
    return [_events(item, media_type, now_ms) for item in items]


def _events(item: Any, media_type: str, now_ms: int) -> list[PushedFact] | EventError:
    try:
        if not isinstance(item, dict):
            raise EventError(f"an event must be a JSON object, got {type(item).__name__}")
        return _kind(item, media_type).read(item, now_ms)
    except EventError as error:
        return error


def _kind(item: dict[str, Any], media_type: str) -> Any:
    """The module that reads this object."""
    for kind in kinds().values():
        if media_type in kind.MEDIA_TYPES or (media_type == PLAIN and kind.fits(item)):
            return kind
    titles = ", ".join(kind.TITLE for kind in kinds().values()) + MENU.notice()
    raise EventError(f"the fields {', '.join(list(item)[:6])} fit no known event format; known: {titles}")
