"""A whole twin of its own for a test: real processes on a temporary data folder and a free port."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.twin.runtime import prepared

ROOT = Path(__file__).resolve().parents[3]
MAX_WAIT_S = 90.0
MAX_PAUSE_S = 0.15


class Stack:
    """`manage.py up` and what a test asks of it; `fresh`: on an empty folder, as at the first start."""

    def __init__(self, folder: Path, fresh: bool = False, **env: str) -> None:
        self.folder, self.port = folder, free_port()
        if not fresh:
            prepared.fill(folder)
        own = {
            "TWIN_VAR_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "twin.config.settings",
            "PYTHONPATH": str(ROOT),
            **env,
        }
        hidden = ("BROKER_URL", "LAYER_URL", "DATABASE_URL")
        self.env = {name: value for name, value in os.environ.items() if name not in hidden} | own
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def up(self, *options: str) -> Stack:
        """Starts it and returns when the web server answers."""
        command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(self.port), *options]
        with (self.folder / "up.log").open("a") as log:
            self.process = subprocess.Popen(command, env=self.env, stdout=log, stderr=log, text=True)
        wait_until(lambda: "Press Ctrl-C to stop" in self.output() or self.process.poll() is not None, "the twin is up")
        assert self.process.poll() is None, self.output()
        return self

    def output(self) -> str:
        return (self.folder / "up.log").read_text()

    def down(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def processes(self, word: str = "") -> list[psutil.Process]:
        """Processes of this stack, also those the supervisor no longer knows; `word` stands in the command line."""
        found = []
        for process in psutil.process_iter():
            try:
                mine = process.environ().get("TWIN_VAR_DIR") == str(self.folder) or process.cwd() == str(
                    self.folder / "broker"
                )
                if mine and word in " ".join(process.cmdline()):  # the broker paints its title over its environment
                    found.append(process)
            except (psutil.Error, OSError):
                pass
        return [p for p in found if p.pid != os.getpid() and is_alive(p)]

    def workers(self) -> tuple[psutil.Process, list[psutil.Process]]:
        """The main process of the worker for runs, and its pool children."""
        celery = self.processes("-Q runs")
        main = next(p for p in celery if p.ppid() == self.process.pid)
        return main, [p for p in celery if p.ppid() == main.pid]

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement with ? for values, from the stack's own database."""
        if "DATABASE_URL" in self.env:
            with psycopg.connect(self.env["DATABASE_URL"]) as server:
                return server.execute(statement.replace("?", "%s"), values).fetchall()
        with sqlite3.connect(self.folder / "twin.sqlite3", timeout=30) as connection:
            return connection.execute(statement, values).fetchall()

    def manage(self, code: str, timeout_s: float = 120) -> str:
        """Runs Python in the stack's settings, connected to its broker; what it prints."""
        env = dict(self.env)
        live = self.processes("uvicorn")
        if live:
            env |= {name: value for name, value in live[0].environ().items() if name in ("BROKER_URL", "LAYER_URL")}
        done = subprocess.run(
            [sys.executable, "-c", f"import django; django.setup()\n{code}"],
            env=env,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


def is_alive(process: psutil.Process) -> bool:
    """False if the process is a zombie or has ended, even between the two checks."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(holds: Callable[[], Any], what: str, max_wait_s: float = MAX_WAIT_S) -> None:
    """Polls until it holds; AssertionError naming `what` when it does not in time."""
    deadline, pause = time.monotonic() + max_wait_s, 0.01
    while not holds():
        assert time.monotonic() < deadline, f"waited {max_wait_s:g} s in vain: {what}"
        time.sleep(pause)  # longer each time: a check reads /proc or a database, and others need the processor
        pause = min(1.3 * pause, MAX_PAUSE_S)
