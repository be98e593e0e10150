"""What the headless commands share: they need no database; bad input is one line and exit code 2; Ctrl-C leaves nothing behind."""

from __future__ import annotations

import errno
import re
import signal
import sys
import threading
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser

from scheduling.model import LARGEST, ModelError, shorten
from scheduling.registry import UnknownName
from twin.importers import ImportRefused

BAD_INPUT = (ModelError, UnknownName, ImportRefused, OSError)
INTERRUPTED, TERMINATED = 130, 143  # exit codes, as shells count them: 128 + the signal
LONGEST_WORD = 300  # characters without a blank in a line that is shown
REMEDIES = {
    errno.ENOSPC: "nothing was written; free some space, or name a folder on another disk",
    errno.EDQUOT: "nothing was written; free some of your quota, or name a folder on another disk",
    errno.EFBIG: "nothing was written; raise the limit of file sizes (ulimit -f)",
    errno.EACCES: "name a place that you may use",
    errno.EPERM: "name a place that you may use",
    errno.EROFS: "name a place that can be written",
    errno.EBUSY: "name a folder inside it",
}


class HeadlessCommand(BaseCommand):
    """`work` does it; what it refuses ends with its sentence on standard error."""

    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """A wrong option is one line as well; --help tells the rest."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        fail = parser.error
        parser.print_usage = lambda file=None: None  # type: ignore[method-assign]
        parser.error = lambda message: fail(one_line(message))  # type: ignore[method-assign]
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with _terminable():
                self.work(**options)
        except BAD_INPUT as error:
            self._refuse(_sentence(error) if isinstance(error, OSError) else str(error))
        except MemoryError as error:
            self._refuse(f"too large for the memory of this machine: {error}")
        except KeyboardInterrupt:
            self.stderr.write("interrupted")
            sys.exit(INTERRUPTED)

    def tell(self, sentence: str) -> None:
        """One line on standard output, whatever names it holds."""
        self.stdout.write(one_line(sentence))

    def _refuse(self, sentence: str) -> NoReturn:
        self.stderr.write(one_line(f"{self.__module__.rsplit('.', 1)[-1]}: {sentence}"))
        sys.exit(2)

    def work(self, **options: Any) -> None:
        """The command."""
        raise NotImplementedError


def one_line(text: str) -> str:
    """The text without control characters, and its longest words cut."""
    plain = text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: shorten(word[0]), plain)


def natural(text: str) -> int:
    """An integer >= 0, e.g. a seed."""
    return _whole(text, 0)


def positive(text: str) -> int:
    """An integer >= 1."""
    return _whole(text, 1)


def place(text: str) -> Path:
    """A path that is named."""
    if not text.strip():
        raise ArgumentTypeError(f"must be named, got {text!r}")
    return Path(text)


def _whole(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= LARGEST:
        raise ArgumentTypeError(f"must be an integer from {least} to 2^53, got {shorten(repr(text))}")
    return value


def _sentence(error: OSError) -> str:
    """What went wrong with which file, and what helps."""
    said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    remedy = REMEDIES.get(error.errno or 0)
    return f"{said}; {remedy}" if remedy else said


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the command like an error, so that what it began is taken away."""

    def stop(number: int, frame: FrameType | None) -> None:
        sys.exit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
