"""Work in a separate process that can be ended: at its time limit, when it is no longer needed, or with its owner.

A solver inside C code looks at no flag and no clock; only a process can be stopped in the middle of it. What it took of
memory goes back to the system when it ends.
"""

from __future__ import annotations

import logging
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from typing import Literal, NoReturn

from django.db import InterfaceError, OperationalError, connection, connections

from twin.processes import shutdown
from twin.processes.supervisor import die_with_parent

log = logging.getLogger(__name__)
CHECK_S = 0.5  # between two checks whether the work is still needed
NICENESS = 10  # below runs and pages
MAX_MEMORY = 4 * 2**30  # bytes of data; beyond, the work gets a MemoryError
RAISED, WAITS, TOO_LARGE = 1, os.EX_TEMPFAIL, os.EX_OSERR  # exit codes of the child

Outcome = Literal["done", "late", "unwanted", "waits", "failed", "memory", "killed"]
FAILURES: tuple[Outcome, ...] = ("late", "failed", "memory", "killed")


def run(work: Callable[[], object], *, limit_s: float, wanted: Callable[[], bool]) -> Outcome:
    """Outcome of `work` in a child process, after its end.

    late: it took longer than `limit_s` and was killed. unwanted: `wanted()`, asked every CHECK_S, was false, or this
    worker is stopping; the work goes on while the database does not answer. waits: the database did not answer the
    work, or its disk is full; it has to be repeated later. failed: it raised (its log has the traceback). memory: it
    needed more than MAX_MEMORY. killed: by somebody else, as when the machine has no memory left.
    """
    connections.close_all()  # a connection must not be shared with the child
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work)
    os.close(writing)  # the child has the only copy left: its end is the end of the pipe
    until = time.monotonic() + limit_s
    still = _Still(wanted)
    outcome: Outcome = "unwanted"  # also where `wanted` raises
    try:
        while not select.select([reading], [], [], max(0.0, min(CHECK_S, until - time.monotonic())))[0]:
            if time.monotonic() >= until:
                outcome = "late"
            elif shutdown.asked() or not still.wanted():
                outcome = "unwanted"
            else:
                continue
            break
        else:
            outcome = "done"
    finally:
        if outcome != "done":
            os.kill(child, signal.SIGKILL)
        os.close(reading)
        _, status = os.waitpid(child, 0)
    return _ended(status) if outcome == "done" else outcome


class _Still:
    """The question whether work is still wanted, to a database that may not answer.

    Until it does, the work goes on: while the database is locked no other worker can take the lease of the work over,
    even if its time is up, and whether one has taken it is known from the first answer.
    """

    def __init__(self, asked: Callable[[], bool]) -> None:
        self.asked = asked
        self.silent_since: float | None = None

    def wanted(self) -> bool:
        """The answer; True without one."""
        began = time.monotonic()
        try:
            found = self.asked()
        except (OperationalError, InterfaceError) as error:
            if self.silent_since is None:
                self.silent_since = began
                log.warning("the database does not say whether the task is still wanted; it continues: %s", error)
            connection.close_if_unusable_or_obsolete()
            return True
        if self.silent_since is not None:
            silent_s, self.silent_since = time.monotonic() - self.silent_since, None
            if not found:
                log.warning("the task lost its lease while the database did not answer for %.0f s", silent_s)
        return found


def why(outcome: Outcome, limit_s: float, setting: str = "") -> str:
    """Reason of a failure, without a full stop. setting: the name of that of the time limit, if there is one."""
    return {
        "late": f"it took longer than {limit_s:g} s{f' ({setting})' if setting else ''}",
        "memory": f"it needed more than {MAX_MEMORY / 2**30:g} GiB of memory",
        "killed": "its process was killed, for example because the machine had no memory left",
    }.get(outcome, "it failed with an error, which is in the log of the background worker")


def _ended(status: int) -> Outcome:
    """Outcome of a child that has ended by itself."""
    if os.WIFSIGNALED(status):
        return "killed"
    codes: dict[int, Outcome] = {0: "done", WAITS: "waits", TOO_LARGE: "memory"}
    return codes.get(os.WEXITSTATUS(status), "failed")


def _work(work: Callable[[], object]) -> NoReturn:
    """Main function of the child; it never returns into the code that called `run`."""
    code = RAISED
    try:
        die_with_parent(signal.SIGKILL)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.nice(NICENESS)
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(
            resource.RLIMIT_DATA, (MAX_MEMORY if most == resource.RLIM_INFINITY else min(MAX_MEMORY, most), most)
        )
        work()
        code = 0
    except (OperationalError, InterfaceError) as error:
        log.warning("the task waits in its own process: %s", error)
        code = WAITS
    except MemoryError:
        log.exception("the task needed too much memory in its own process")
        code = TOO_LARGE
    except BaseException:
        log.exception("the task failed in its own process")
    finally:
        os._exit(code)
