"""Measurement of settings: starts the processes of each, collects their times, and ends them whatever happens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection

from scheduling.model.measured_speed import Setting
from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from twin.measuring.processes import TIMEOUT_S, WARM_UP, bounds, parameters, serve, work

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")  # one for each process
BATCHES = (0.25, 0.5, 1.0)  # shares of the batch


def settings(workers: int, ps: int, batch: int) -> list[tuple[int, int, int]]:
    """(workers, parameter servers, batch) of each setting: 1 to `workers`, 1 to `ps`, three batches."""
    batches = sorted({max(1, round(share * batch)) for share in BATCHES})
    return list(product(range(1, workers + 1), range(1, ps + 1), batches))


def measured(
    of: Sequence[tuple[int, int, int]], gradient_mb: float, iterations: int, tell: Callable[[str], None]
) -> list[Setting]:
    """Each setting with the time of an iteration, the mean over its workers."""
    found = []
    with _one_thread_each():
        for workers, ps, batch in of:
            ms, first, last = _trained(workers, ps, batch, parameters(gradient_mb), iterations)
            tell(
                f"{counted(workers, 'worker')}, {counted(ps, 'parameter server')}, batch {batch}: {ms:.2f} ms an "
                f"iteration, loss {first:.3f} to {last:.3f}"
            )
            found.append(Setting(workers, ps, batch, ms))
    return found


def _trained(workers: int, ps: int, batch: int, count: int, iterations: int) -> tuple[float, float, float]:
    """(ms of an iteration, loss at first, loss at last): means over the workers."""
    context, total = get_context("forkserver"), iterations + WARM_UP
    context.set_forkserver_preload([serve.__module__])  # imported once, not by each process
    children, channels = [], []

    def begin(target: Callable[..., None], *arguments: object) -> Connection:
        mine, theirs = context.Pipe()
        child = context.Process(target=target, args=(theirs, *arguments), daemon=True)
        child.start()
        theirs.close()
        children.append(child)
        channels.append(mine)
        return mine

    try:
        servers = []
        for part in range(ps):
            low, high = bounds(count, ps, part)
            servers.append(begin(serve, high - low, workers, total))
        ports = [_heard(channel) for channel in servers]
        reports = [begin(work, ports, count, batch, total, number) for number in range(workers)]
        rows = [_heard(channel) for channel in reports]
        means = [sum(column) / workers for column in zip(*rows, strict=True)]
        return means[0], means[1], means[2]
    finally:
        for child in children:
            child.terminate()
            child.join()
        for channel in channels:
            channel.close()


def _heard(channel: Connection) -> object:
    """Report of a process; ModelError if it ended without one."""
    try:
        if channel.poll(2 * TIMEOUT_S):
            return channel.recv()
    except EOFError:
        pass
    raise ModelError("a process of the training ended without a result; see its message above")


@contextmanager
def _one_thread_each() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
