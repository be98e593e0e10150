"""Heartbeats: each process of the twin reports every second that it responds, and its current work.

They go to two places. A file in VAR_DIR/pulse, whose age the supervisor watches: a process that hangs is replaced. A
hash on the frame bus, from which pages and /healthz show the work of all processes, on any host. A process that
responds but does not do its work reports the reason in both, and is replaced as well.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import redis
from django.conf import settings

from twin.infra import counters, memory, pubsub, tracing
from twin.runs import lease

WEB, TICKER, FOLLOWER, ACTOR = "web", "ticker", "follower", "acting process"
RUNS, LONG, BACKGROUND = "worker for runs", "worker for long decisions", "background worker"
WORKERS = {"runs": RUNS, "long": LONG, "io": BACKGROUND}  # by the first of the queues that one consumes
BEAT_S = 1.0
LATE_S = 3.0  # heartbeats late by this much are reported
SILENT_S = 10.0  # a process without a heartbeat for this long is not responding
FORGOTTEN_S = 600.0  # after this time it is not listed any more: its host is gone
HASH = "twin:pulse"
# of an entry; one of another version may lack some
KEPT = ("fault", "parent", "supervised", "begun", "memory", "counters")

_doing: tuple[str, float] | None = None  # of this process, and since when (wall clock)
_begun = 0  # tasks that this process has begun


@dataclass(frozen=True)
class Process:
    """Last heartbeat of a process."""

    name: str  # host/pid
    kind: str
    silent_s: float
    doing: str  # empty while it waits for work
    busy_s: float
    fault: str = ""  # reason why it does not work although it responds
    parent: str = ""  # host/pid
    supervised: bool = False  # a supervisor replaces it if it does not recover
    begun: int = 0  # tasks
    memory: int = 0  # resident bytes
    counters: Sequence[Sequence[Any]] = ()  # counters.snapshot

    @property
    def answers(self) -> bool:
        return self.silent_s < SILENT_S and not self.fault

    @property
    def trouble(self) -> str:
        """Fault of the process as text; empty if there is none."""
        number = self.name.rpartition("/")[2]
        if self.fault:
            remedy = "it is replaced" if self.supervised else "restart it"
            return f"the {self.kind} (process {number}) {self.fault}; {remedy}"
        if self.silent_s >= LATE_S:
            remedy = "it is replaced if it does not recover" if self.supervised else "restart it if it does not recover"
            return f"the {self.kind} (process {number}) has not answered for {self.silent_s:.0f} s; {remedy}"
        return ""


def dispatcher(kind: str) -> str:
    """Kind of the main process of a worker, which passes tasks to its pool."""
    return f"dispatcher of the {kind}"


class Pulse:
    """Heartbeat thread. `fault` returns why the process fails and must be replaced; empty while it works."""

    def __init__(self, kind: str, fault: Callable[[], str] = lambda: "", supervisor: str = "up") -> None:
        self.kind, self.fault = kind, fault
        self.name = f"{socket.gethostname()}/{os.getpid()}"
        self.file = folder(supervisor) / f"{kind.replace(' ', '-')}.{os.getpid()}"
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def start(self) -> Pulse:
        self.thread.start()
        return self

    def stop(self) -> None:
        """Removal of the heartbeat of a process that ends normally."""
        self.over.set()
        if self.thread.is_alive():
            self.thread.join(BEAT_S)
        self.file.unlink(missing_ok=True)
        try:
            pubsub.client().hdel(HASH, self.name)
        except (redis.RedisError, OSError):
            pass

    def _run(self) -> None:
        while True:
            self.beat()
            if self.over.wait(BEAT_S):
                return

    def beat(self) -> None:
        """Heartbeat, once."""
        fault = self.fault()
        try:
            self.file.write_text(fault)
            self.file.touch()
        except OSError:  # the disk is full, or the folder was removed: the next beat tries again
            pass
        parent = f"{socket.gethostname()}/{os.getppid()}"
        entry = {
            "kind": self.kind,
            "at": time.time(),
            "doing": _doing,
            "fault": fault,
            "parent": parent,
            "supervised": settings.SUPERVISED,
            "begun": _begun,
            "memory": memory.resident(),
            "counters": counters.snapshot(),
        }
        try:
            pubsub.client().hset(HASH, self.name, orjson.dumps(entry))
        except (redis.RedisError, OSError):
            pass


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Current work of this process, for the length of the block."""
    global _doing, _begun
    _doing, _begun = (what, time.time()), _begun + 1
    tracing.note_work(what)
    try:
        yield
    finally:
        _doing = None


def work() -> str:
    """Current work of this process; empty while it waits."""
    return _doing[0] if _doing else ""


def processes() -> list[Process] | None:
    """Processes that exist or should exist, by kind and name; None if the bus does not respond."""
    try:
        entries = pubsub.client().hgetall(HASH)
    except (redis.RedisError, OSError):
        return None
    now, found = time.time(), []
    for key, value in entries.items():
        name, row = key.decode(), orjson.loads(value)
        silent_s = max(0.0, now - row["at"])
        if silent_s > FORGOTTEN_S or lease.abandoned(name):
            pubsub.client().hdel(HASH, name)
            continue
        what, since = row["doing"] or ("", now)
        found.append(
            Process(
                name,
                row["kind"],
                silent_s,
                what,
                max(0.0, now - since),
                **{key: row[key] for key in KEPT if key in row},
            )
        )
    return sorted(found, key=lambda process: (process.kind, process.name))


def folder(supervisor: str = "up") -> Path:
    """Folder of the files that a supervisor watches: each has its own, and replaces only its own processes."""
    path: Path = settings.VAR_DIR / "pulse" / supervisor
    path.mkdir(parents=True, exist_ok=True)
    return path
