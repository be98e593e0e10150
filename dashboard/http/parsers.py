"""JSON parser by orjson, which refuses NaN, infinities and unlimited nesting."""

from __future__ import annotations

from typing import Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


class OrjsonParser(BaseParser):
    """application/json."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return orjson.loads(stream.read())
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON: {error}.") from error


class RawParser(BaseParser):
    """Part of a file as raw bytes."""

    media_type = "application/octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> bytes:
        return bytes(stream.read())
