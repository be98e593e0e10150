"""Tables of experiments for the command: their parts one after another, or in a pool of processes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import count
from multiprocessing import get_context
from typing import Any, NamedTuple

import experiments
from experiments import Options, Skip, Table
from scheduling.model.values import ModelError
from twin.processes.supervisor import die_with_parent

Value = tuple[Any, float]  # what a part gave, and its seconds of processor time
Waiting = Mapping[str, Callable[[], Value]]  # by the titles of the parts
Report = Callable[[int, int, str], None]  # called after each part: how many are done, of how many, which one it was


class Outcome(NamedTuple):
    """Table of an experiment, or the reason why it was skipped."""

    table: Table | None
    skipped: str
    seconds: float  # of processor time


def outcomes(names: Sequence[str], options: Options, processes: int, report: Report) -> Generator[Outcome, None, None]:
    """Outcome of each experiment, in this order. With several processes parts are computed ahead, in any order."""
    titles = {name: _titles(name, options) for name in names}
    total, number = sum(len(found) for found in titles.values() if not isinstance(found, str)), count(1)
    begin = partial(_begun, report=lambda part: report(next(number), total, part))
    with _processes(min(processes, total), options) as pool:
        waiting = {
            name: found if isinstance(found, str) else {title: begin(pool, options, name, title) for title in found}
            for name, found in titles.items()
        }
        for name, parts in waiting.items():
            yield Outcome(None, parts, 0.0) if isinstance(parts, str) else _outcome(name, options, parts)


def _titles(name: str, options: Options) -> list[str] | str:
    """Titles of the parts, or why the experiment cannot run here."""
    try:
        return experiments.part_titles(name, options)
    except Skip as reason:
        return str(reason)


@contextmanager
def _processes(number: int, options: Options) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of n processes, which end with this one; none if one is enough."""
    if number < 2:
        yield None
        return
    pool = ProcessPoolExecutor(number, get_context("spawn"), _begin, (options,))
    try:
        yield pool
    except BrokenProcessPool as error:
        raise ModelError(
            f"one of {number} processes was killed, possibly because memory ran out; use a smaller --processes"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begun(
    pool: ProcessPoolExecutor | None, options: Options, name: str, title: str, report: Callable[[str], None]
) -> Callable[[], Value]:
    """The part, begun if there is a pool; the call gives its value."""
    said = f"{name}: {title}"
    if pool is None:
        return partial(_computed_here, options, name, title, partial(report, said))
    future = pool.submit(_part, name, title)
    future.add_done_callback(partial(_done, report, said))
    return future.result


def _done(report: Callable[[str], None], said: str, future: Future[Value]) -> None:
    if not future.cancelled() and future.exception() is None:
        report(said)


def _outcome(name: str, options: Options, parts: Waiting) -> Outcome:
    found = {title: result() for title, result in parts.items()}
    began = time.process_time()
    table = experiments.table_of_parts(name, options, {title: value for title, (value, _) in found.items()})
    return Outcome(table, "", sum(seconds for _, seconds in found.values()) + time.process_time() - began)


def _computed_here(options: Options, name: str, title: str, report: Callable[[], None]) -> Value:
    value = _computed(options, name, title)
    report()
    return value


def _computed(options: Options, name: str, title: str) -> Value:
    began = time.process_time()
    return experiments.part_value(name, options, title), time.process_time() - began


# --- in a process of the pool ---

_options = Options()


def _begin(options: Options) -> None:
    """First step of a process. It ends with the command, which handles Ctrl-C."""
    global _options
    die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _options = options


def _part(name: str, title: str) -> Value:
    return _computed(_options, name, title)
