"""Detection of processes of this host that hang, or report a fault.

The supervisor ends and restarts them.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import redis
from django.conf import settings

from twin.infra import processor
from twin.processes.supervisor import Child

MAX_CHECK_S = 2.0  # maximum counted time between two checks: a delayed supervisor kills no process
PROBE_S = 1.0
# maximum time from the start of a process to its first heartbeat; twice that at the next start, and proportionally
# longer on an overloaded machine
BEGIN_S = 60.0
MAX_BEGIN_S = 960.0


@dataclass
class _Seen:
    """Pulse file: its time at the last check, and for how long it has not changed."""

    mtime_ns: int
    still_s: float = 0.0


class Hangs:
    """Watch of the files of twin/processes/heartbeat.py."""

    def __init__(self, folder: Path, report: Callable[[str], None]) -> None:
        self.folder, self.report = folder, report
        self.seen: dict[Path, _Seen] = {}
        self.begin_s: dict[str, float] = {}  # by name: longer for those that have exceeded BEGIN_S
        self.checked_at = time.monotonic()
        for path in folder.iterdir():  # of processes of the last time
            path.unlink(missing_ok=True)

    def check(self, started: Mapping[int, tuple[str, float]] | None = None) -> list[int]:
        """Processes that hang, which are killed.

        started: process -> (name, since when), of those that must have a heartbeat.
        """
        now = time.monotonic()
        passed, self.checked_at = min(now - self.checked_at, MAX_CHECK_S), now
        current = {path: path.stat().st_mtime_ns for path in list(self.folder.iterdir()) if path.exists()}
        self.seen = {path: seen for path, seen in self.seen.items() if path in current}
        killed = [number for path, mtime_ns in current.items() if (number := self._examine(path, mtime_ns, passed))]
        beating, overload = {_number(path) for path in current}, processor.overload()
        for number, (name, since) in (started or {}).items():
            begin_s = self.begin_s.get(name, BEGIN_S)
            limit_s = begin_s * overload
            if number in beating:
                self.begin_s.pop(name, None)
            elif now - since > limit_s and self._kill(number, name, f"did not start within {limit_s:.0f} s"):
                self.begin_s[name] = min(2 * begin_s, MAX_BEGIN_S)
                killed.append(number)
        return killed

    def _examine(self, path: Path, mtime_ns: int, passed: float) -> int | None:
        """Number of the process of one file if it hangs; it is killed."""
        seen = self.seen.setdefault(path, _Seen(mtime_ns))
        seen.still_s = seen.still_s + passed if seen.mtime_ns == mtime_ns else 0.0
        seen.mtime_ns = mtime_ns
        try:
            why = path.read_text()
        except OSError:  # it has ended
            return None
        if seen.still_s >= settings.HUNG_S:
            why = f"has not answered for {settings.HUNG_S:g} s"
        if not why:
            return None
        path.unlink(missing_ok=True)
        number, kind = _number(path), path.name.rpartition(".")[0].replace("-", " ")
        return number if self._kill(number, kind, why) else None

    def _kill(self, number: int, kind: str, why: str) -> bool:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.report(f"{kind} (process {number}) {why}; it is replaced")
        return True


def started(children: Iterable[Child]) -> dict[int, tuple[str, float]]:
    """Processes of children that are alive, as `Hangs.check` takes them."""
    return {
        child.process.pid: (child.name, child.started)
        for child in children
        if child.process is not None and child.alive
    }


def _number(path: Path) -> int:
    return int(path.name.rpartition(".")[2])


class BrokerProbe:
    """Thread that checks whether a Redis server responds: a server that hangs would block every caller."""

    def __init__(self, url: str) -> None:
        self.client = redis.Redis.from_url(url, socket_timeout=PROBE_S, socket_connect_timeout=PROBE_S)
        self.silent_since: float | None = None
        self.over = threading.Event()
        threading.Thread(target=self._run, name="broker-probe", daemon=True).start()

    def hangs(self) -> bool:
        """True if it has not answered for HUNG_S, counted from the last restart of the server."""
        if self.silent_since is None or time.monotonic() - self.silent_since < settings.HUNG_S:
            return False
        self.silent_since = None
        return True

    def _run(self) -> None:
        while not self.over.wait(PROBE_S):
            try:
                self.client.ping()
                self.silent_since = None
            except (redis.RedisError, OSError):
                if self.silent_since is None:
                    self.silent_since = time.monotonic()
