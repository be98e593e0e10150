"""What a chaos test may break: a small disk, a PostgreSQL of its own, a clock that can be set."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.twin.runtime.stack import free_port, wait_until


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """A disk of its own at the folder; False where mounting one needs root."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Clock:
    """The wall clock of the processes that are started with `env` (clock.c); it can be set while they run."""

    def __init__(self, folder: Path, compiler: str) -> None:
        self.file, self.library = folder / "clock", folder / "clock.so"
        self.set(0)
        source = Path(__file__).with_name("clock.c")
        command = [
            compiler,
            "-O2",
            "-Wall",
            "-Werror",
            "-shared",
            "-fPIC",
            "-o",
            str(self.library),
            str(source),
            "-ldl",
        ]
        subprocess.run(command, check=True)

    @property
    def env(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "CHAOS_CLOCK": str(self.file)}

    def set(self, seconds: int) -> None:
        """Sets the clock, relative to the clock of the machine."""
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(seconds.to_bytes(8, sys.byteorder, signed=True))


class Postgres:
    """A PostgreSQL server of its own in a folder; as the user postgres where the tests run as root."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            shutil.chown(folder, self.user)
        self._run("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Returns when the server takes connections."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c fsync=off"
        self._run(
            "pg_ctl", "start", "-w", "-D", str(self.folder / "data"), "-o", options, "-l", str(self.folder / "log")
        )
        wait_until(self._answers, "PostgreSQL answers")

    def crash(self) -> None:
        """Ends it without a shutdown: the next start recovers from its log."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-D", str(self.folder / "data"))

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as server:
            server.execute(statement.encode())

    def _answers(self) -> bool:
        try:
            self.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *words: str) -> None:
        command = [str(program_of(program)), *words]
        # no pipe: the server would inherit it, and reading would wait for its end
        with (self.folder.parent / "postgres.out").open("ab") as out:
            subprocess.run(command, user=self.user, cwd="/", stdout=out, stderr=out, check=True)


def program_of(name: str) -> Path | None:
    """A program of PostgreSQL, from PATH or from where Debian keeps it; None where there is none."""
    found = shutil.which(name)
    if found:
        return Path(found)
    return next(iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), None)
