"""Base of the command-line tools without a database. Bad input: one line, exit code 2. Ctrl-C: no partial output."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
from abc import ABC, abstractmethod
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser

from scheduling.kernel.parameters import UnknownName
from scheduling.model.limits import MAX_INT
from scheduling.model.values import ModelError, shorten
from twin.management.atomic_output import remove_unfinished
from twin.traces.importers import ImportRefused

BAD_INPUT = (ModelError, UnknownName, ImportRefused, OSError)
MAX_SHOWN = 100  # problems of something that was verified
MAX_WORD_LENGTH = 300  # characters without a blank in a line that is shown
REMEDIES = {
    errno.ENOSPC: "nothing was written; free some space, or choose a folder on another disk",
    errno.EDQUOT: "nothing was written; free some of your quota, or choose a folder on another disk",
    errno.EFBIG: "nothing was written; raise the limit of file sizes (ulimit -f)",
    errno.EACCES: "choose a path that you can access",
    errno.EPERM: "choose a path that you can access",
    errno.EROFS: "choose a writable path",
    errno.EBUSY: "choose a folder inside it",
}


class HeadlessCommand(BaseCommand, ABC):
    """`work` does it; what it refuses ends with its sentence on standard error."""

    requires_system_checks: list[str] = []
    requires_migrations_checks = False
    unwinds = False  # when stopped: True where there is more to end than results half written

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """A wrong option gives one line as well; --help has the details."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        fail = parser.error
        parser.print_usage = lambda file=None: None  # type: ignore[method-assign]  # of this parser alone
        parser.error = lambda message: fail(one_line(message))  # type: ignore[method-assign]  # of this parser alone
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with _stoppable(self.unwinds):
                self.work(**options)
        except BAD_INPUT as error:
            self._refuse(_sentence(error) if isinstance(error, OSError) else str(error))
        except MemoryError as error:
            self._refuse(f"out of memory: {error}")
        except KeyboardInterrupt:
            self.stderr.write("interrupted")
            sys.exit(128 + signal.SIGINT)

    def report(self, sentence: str) -> None:
        """Line on standard output, with any characters."""
        self.stdout.write(one_line(sentence))

    def end_with_problems(self, problems: Sequence[str], of: object) -> None:
        """The problems of something that was verified, one line each, and exit code 1; nothing if there are none."""
        for problem in problems[:MAX_SHOWN]:
            self.report(problem)
        if problems:
            hidden = len(problems) - MAX_SHOWN
            count = f"{len(problems):,} problem{'s' if len(problems) > 1 else ''} in {of}"
            self._state(count + (f", {hidden:,} of them not shown" if hidden > 0 else ""))
            sys.exit(1)

    def _refuse(self, sentence: str) -> NoReturn:
        self._state(sentence)
        sys.exit(2)

    def _state(self, sentence: str) -> None:
        """Line on standard error that begins with the name of the command."""
        self.stderr.write(one_line(f"{self.__module__.rsplit('.', 1)[-1]}: {sentence}"))

    @abstractmethod
    def work(self, **options: Any) -> None:
        """The command."""


def one_line(text: str) -> str:
    """The text without control characters, and its longest words cut."""
    plain = (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    )
    return re.sub(rf"\S{{{MAX_WORD_LENGTH + 1},}}", lambda word: shorten(word[0]), plain)


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


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE options as a dict."""
    found = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ModelError(f"{option} must have the form name=value, got {shorten(repr(pair))}")
        found[name] = value
    return found


def _whole(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= MAX_INT:
        raise ArgumentTypeError(f"must be an integer from {least} to 2^53, got {shorten(repr(text))}")
    return value


def _sentence(error: OSError) -> str:
    """Message with the file, the fault and a remedy."""
    message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    remedy = REMEDIES.get(error.errno or 0)
    return f"{message}; {remedy}" if remedy else message


@contextmanager
def _stoppable(unwinds: bool) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the command, and nothing of what it began is left.

    It exits at once, since an exception could be swallowed by the interrupted code. Only commands with more to clean up
    raise an exception.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        if unwinds:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
        remove_unfinished()
        if number == signal.SIGINT:
            os.write(sys.stderr.fileno(), b"interrupted\n")
        os._exit(128 + number)  # as shells count

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
