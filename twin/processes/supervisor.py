"""Supervisor of child processes that cannot outlive it: start, restart with a growing pause, joint stop."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
STOP_S = 8.0  # between SIGTERM and SIGKILL
MAX_PAUSE_S = 10.0
MAX_LOG = 5_000_000  # bytes; a longer log is put aside when its process starts
TRIES = 10
STEADY_S = 20.0  # a child that lived this long is healthy again

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None  # loaded before any fork


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Request to the kernel to send `number` to this process when its parent dies (Linux; elsewhere nothing)."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, number)


@dataclass
class Child:
    """Process of the stack."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    log: Path
    niceness: int = 0  # of all its processes against those of other children
    stop_signal: int = signal.SIGTERM
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = 0.25
    again_at: float = 0.0

    def start(self) -> None:
        """Start in its own session, so that Ctrl-C reaches only the supervisor, which stops all in order."""
        parent = os.getpid()

        def prepare() -> None:
            die_with_parent(signal.SIGKILL if self.name in ("worker", "long", "background") else signal.SIGTERM)
            if os.getppid() != parent:  # the parent died before the request above
                os._exit(1)

        if self.log.exists() and self.log.stat().st_size > MAX_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                list(self.command), env=dict(self.env), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=prepare,
            )  # fmt: skip
        _set_niceness(self.process.pid, self.niceness)
        self.started = time.monotonic()

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal_group(self, number: int) -> None:
        """Signal to the process and all its descendants."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass


def _set_niceness(session: int, niceness: int) -> None:
    """Niceness of a session against other ones, where Linux has autogroups: nice(2) counts only within a session there.

    The kernel takes one request in 0.1 s from an account without privileges.
    """
    for _ in range(TRIES if niceness else 0):
        try:
            Path(f"/proc/{session}/autogroup").write_text(str(niceness))
            return
        except BlockingIOError:
            time.sleep(0.1)
        except OSError:  # no autogroups, or the process has ended
            return


@dataclass
class Children:
    """Child processes in the order of their start; they stop in the opposite order."""

    report: Callable[[str], None] = print
    members: list[Child] = field(default_factory=list)

    def add(self, child: Child) -> Child:
        child.start()
        self.members.append(child)
        return child

    def watch(self) -> None:
        """Restart of processes that died, after a pause that doubles with each failure."""
        now = time.monotonic()
        for child in self.members:
            if child.alive:
                if now - child.started > STEADY_S:
                    child.pause = 0.25
                continue
            if child.again_at == 0.0:
                code = child.process.returncode if child.process else None
                child.signal_group(signal.SIGKILL)  # what it may have left behind
                child.again_at = now + child.pause
                self.report(f"{child.name} exited (code {code}); restarting. Log: {child.log}")
            elif now >= child.again_at:
                child.again_at, child.pause = 0.0, min(MAX_PAUSE_S, child.pause * 2)
                try:
                    child.start()
                except OSError as error:  # no room for its log, no more processes
                    child.again_at = now + child.pause
                    self.report(f"{child.name} could not be started: {error}; next attempt in {child.pause:g} s")

    def stop(self) -> None:
        """SIGTERM in reverse order, SIGKILL to what is still there after STOP_S."""
        for child in reversed(self.members):
            if child.alive:
                assert child.process is not None
                child.process.send_signal(child.stop_signal)
                try:
                    child.process.wait(STOP_S)
                except subprocess.TimeoutExpired:
                    pass
            child.signal_group(signal.SIGKILL)
