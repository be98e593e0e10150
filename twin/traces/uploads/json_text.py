"""JSON values of a file one after another, without the whole text in memory: jobs of an array, or bare jobs.

`under` names the key of an object whose array holds the values, as `jobs` in the output of `sacct --json`.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from twin.traces.importing.drafts import ImportRefused, ReadOptions, Source

BLOCK = 256 * 1024  # bytes
BLANKS = re.compile(r"[ \t\r\n]*")
MAX_VALUE = 16 * 1024 * 1024  # characters of one value


def values(source: Source, options: ReadOptions, under: str = "") -> Iterator[tuple[int, Any]]:
    """Values with their lines; one block of text is held at a time."""
    text = _Text(source, options)
    if not under:
        yield from _array(text, bare=True, last=True)
    while under and text.skip():
        yield from _under(text, under)


def _under(text: _Text, key: str) -> Iterator[tuple[int, Any]]:
    """Values of the array that an object has under this key."""
    if text.skip() != "{":
        raise text.refused(f"an object with the key {key!r} is expected")
    text.step()
    while text.skip() != "}":
        if _key(text) == key:
            yield from _array(text, bare=False, last=False)
        else:
            text.value()
        if text.skip() == ",":
            text.step()
        elif text.skip() != "}":
            raise text.refused("the object is incomplete; upload the complete file")
    text.step()


def _key(text: _Text) -> str:
    if text.skip() != '"':
        raise text.refused("the name of a key is expected")
    _, name = text.value()
    if not isinstance(name, str) or text.skip() != ":":
        raise text.refused("the name of a key and a colon are expected")
    text.step()
    text.skip()
    return name


def _array(text: _Text, bare: bool, last: bool) -> Iterator[tuple[int, Any]]:
    """Values of an array; `bare`: or values without one; `last`: the text ends after them."""
    opened = text.skip() == "["
    if opened:
        text.step()
    elif not bare:
        raise text.refused("an array is expected")
    first = True
    while mark := text.skip():
        if opened and mark == "]":
            text.step()
            if last and text.skip():
                raise text.refused("unexpected text after the end of the array")
            return
        if opened and not first:
            if mark != ",":
                raise text.refused("a comma or the end of the array is missing")
            text.step()
            text.skip()
        first = False
        yield text.value()
    if opened:
        raise text.refused("the array is incomplete; upload the complete file")


class _Text:
    """A text that is read block by block. held: what is not passed yet, from `at` on; line: of `at`."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.json = json.JSONDecoder()
        self.held, self.at, self.line, self.ended = "", 0, 1, False
        source.stream.seek(0)

    def skip(self) -> str:
        """The next character that is no blank; "" at the end."""
        while True:
            self._pass(BLANKS.match(self.held, self.at).end())  # type: ignore[union-attr]  # always matches
            if self.at < len(self.held):
                return self.held[self.at]
            if self.ended:
                return ""
            self._more()

    def step(self) -> None:
        """Progress by one character."""
        self.at += 1

    def value(self) -> tuple[int, Any]:
        """The value that begins here, with its line."""
        while True:
            try:
                value, end = self.json.raw_decode(self.held, self.at)
            except json.JSONDecodeError as error:
                if self.ended or len(self.held) - self.at > MAX_VALUE:
                    raise self.refused(f"the JSON is incomplete or invalid ({error.msg})", error.pos) from error
            except (RecursionError, ValueError) as error:
                raise self.refused("a value is nested too deeply or has too many digits") from error
            else:
                if end < len(self.held) or self.ended:
                    line = self.line
                    self._pass(end)
                    return line, value
            self._more()

    def refused(self, why: str, at: int = 0) -> ImportRefused:
        """The refusal with its line."""
        line = self.line + self.held.count("\n", self.at, max(at, self.at))
        return ImportRefused(f"{self.source.name}: line {line}: {why}")

    def _pass(self, at: int) -> None:
        self.line += self.held.count("\n", self.at, at)
        self.at = at

    def _more(self) -> None:
        """Next block; the part already read is dropped."""
        block = self.source.stream.read(BLOCK)
        self.ended = not block
        self.held, self.at = self.held[self.at :] + self.decoder.decode(block, final=self.ended), 0
        self.options.tick(self.source.share(self.source.stream.tell()))
