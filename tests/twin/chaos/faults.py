"""Faults of a running twin. Each lasts as long as its `with` block; those of an instant happen at its beginning."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import psycopg
import redis

from tests.twin.chaos.plan import KINDS, Fault
from tests.twin.chaos.services import Clock, Postgres
from tests.twin.runtime.stack import Stack, wait_until
from twin.infra import broker

SET_BACK_S = 300  # events that are posted may be at most 10 minutes ahead of the server
SLOW_WRITE_US = 20_000
WORDS = {
    "long worker": "-Q long", "background worker": "-Q io", "ticker": "manage.py ticker",
    "follower": "manage.py follower", "web": "uvicorn", "broker": "valkey-server",
}  # fmt: skip


class Faults:
    """Faults that are possible for a stack, with what they need."""

    def __init__(self, stack: Stack, disk: bool, clock: Clock | None, postgres: Postgres | None) -> None:
        self.stack, self.disk, self.clock, self.postgres = stack, disk, clock, postgres

    def possible(self) -> list[tuple[str, str]]:
        return [pair for pair in _all() if pair not in self.missing()]

    def missing(self) -> dict[tuple[str, str], str]:
        """Faults that cannot be made here, with the reason."""
        found = {}
        if not self.disk:
            found["fill", "disk"] = "mounting a small disk needs root"
        if self.clock is None:
            found["set back", "clock"] = "no C compiler, with which the clock is made"
        if not _traces():
            found["slow down", "disk"] = "strace is not installed, or must not trace processes"
        if self.postgres is None:
            found["restart", "database"] = found["cut connections", "database"] = "SQLite has no server"
        return found

    def happens(self, fault: Fault) -> AbstractContextManager[None]:
        """The fault as a context."""
        made: dict[str, Callable[[Fault], AbstractContextManager[None]]] = {
            "kill": self._kill, "kill all": self._kill_all, "stop": self._stop, "flush": self._flush,
            "cut connections": self._cut, "restart": self._restart, "lock": self._lock, "fill": self._fill,
            "slow down": self._slow_down, "set back": self._set_back,
        }  # fmt: skip
        return made[fault.kind](fault)

    @contextmanager
    def _kill(self, fault: Fault) -> Iterator[None]:
        with contextlib.suppress(psutil.NoSuchProcess):
            self._process(fault.target).kill()
        yield

    @contextmanager
    def _kill_all(self, fault: Fault) -> Iterator[None]:
        """The supervisor, and with it every process; afterwards somebody starts the twin again."""
        assert self.stack.process is not None
        self.stack.process.kill()
        self.stack.process.wait()
        yield
        wait_until(lambda: not self.stack.processes(), "every process is gone with the supervisor")
        log = self.stack.folder / "up.log"
        log.write_text("")
        self.stack.up()

    @contextmanager
    def _stop(self, fault: Fault) -> Iterator[None]:
        process = self._process(fault.target)
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()
        yield
        with contextlib.suppress(psutil.NoSuchProcess):  # it was replaced, because it did not answer
            process.send_signal(signal.SIGCONT)

    @contextmanager
    def _flush(self, fault: Fault) -> Iterator[None]:
        self._at_broker("FLUSHALL")
        yield

    @contextmanager
    def _cut(self, fault: Fault) -> Iterator[None]:
        if fault.target == "broker":
            self._at_broker("CLIENT", "KILL", "TYPE", "normal")
            self._at_broker("CLIENT", "KILL", "TYPE", "pubsub")
        else:
            assert self.postgres is not None
            self.postgres.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and "
                "pid <> pg_backend_pid()"
            )
        yield

    @contextmanager
    def _restart(self, fault: Fault) -> Iterator[None]:
        assert self.postgres is not None
        self.postgres.crash()
        try:
            yield
        finally:
            self.postgres.start()

    @contextmanager
    def _lock(self, fault: Fault) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            with contextlib.suppress(sqlite3.OperationalError, psycopg.OperationalError):  # of a disk that is full
                if self.postgres is None:
                    file = sqlite3.connect(self.stack.folder / "twin.sqlite3", timeout=60, isolation_level=None)
                    held.callback(file.close)
                    file.execute("BEGIN IMMEDIATE")
                else:
                    server = psycopg.connect(self.postgres.url)
                    held.callback(server.close)
                    server.execute("LOCK TABLE twin_run, twin_eventbatch, twin_trace IN ACCESS EXCLUSIVE MODE")
            yield

    @contextmanager
    def _fill(self, fault: Fault) -> Iterator[None]:
        filler = self.stack.folder / "filler"
        try:
            with filler.open("ab", buffering=0) as file:
                for size in (2**20, 4096):
                    with contextlib.suppress(OSError):
                        while file.write(b"x" * size) == size:
                            pass
            yield
        finally:
            filler.unlink(missing_ok=True)

    @contextmanager
    def _slow_down(self, fault: Fault) -> Iterator[None]:
        """Every write and flush of the twin's processes waits for SLOW_WRITE_US."""
        calls = "pwrite64,write,fsync,fdatasync"
        inject = f"inject=pwrite64,fsync,fdatasync:delay_enter={SLOW_WRITE_US}"
        pids = [word for process in self.stack.processes() for word in ("-p", str(process.pid))]
        command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", inject, *pids]
        slowing = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            slowing.terminate()
            slowing.wait(60)

    @contextmanager
    def _set_back(self, fault: Fault) -> Iterator[None]:
        """The clock is set back for as long as the fault lasts, then right again."""
        assert self.clock is not None
        self.clock.set(-SET_BACK_S)
        try:
            yield
        finally:
            self.clock.set(0)

    def _process(self, name: str) -> psutil.Process:
        """The process of a name; waits until there is one, since it may be restarting."""
        found: list[psutil.Process] = []

        def there() -> bool:
            with contextlib.suppress(StopIteration, ValueError, psutil.Error):  # it has no child yet, or is gone
                found[:] = [self._found(name)]
            return bool(found)

        wait_until(there, f"there is a {name}")
        return found[0]

    def _found(self, name: str) -> psutil.Process:
        if name in ("pool child", "worker for runs"):
            main, children = self.stack.workers()
            return main if name == "worker for runs" else max(children, key=lambda child: child.cpu_times().user)
        if name == "background child":
            celery = self.stack.processes("-Q io")
            return max(celery, key=lambda one: len(one.parents()))  # of an import, if there is one
        assert self.stack.process is not None
        return next(p for p in self.stack.processes(WORDS[name]) if p.ppid() == self.stack.process.pid)

    def _at_broker(self, *words: str) -> None:
        """A command to the broker, if it is there."""
        with contextlib.suppress(redis.RedisError, OSError):
            path = broker.socket_path(self.stack.folder)
            with redis.Redis.from_url(f"unix://{path}", socket_timeout=5) as client:
                client.execute_command(*words)


def hold(seconds: float) -> None:
    """Lets a fault last."""
    time.sleep(seconds)


def _all() -> list[tuple[str, str]]:
    return [(kind, target) for kind, (targets, _) in KINDS.items() for target in targets]


def _traces() -> bool:
    """Whether strace may trace a process of this user."""
    strace = shutil.which("strace")
    if strace is None:
        return False
    return subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def logs_of(folder: Path) -> str:
    """All that the processes have logged."""
    return "\n".join(path.read_text(errors="replace") for path in sorted((folder / "logs").glob("*.log*")))
