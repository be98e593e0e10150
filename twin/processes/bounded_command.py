"""A command with a time limit and a bound on what it may print; it and what it started are killed beyond."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from typing import IO

from twin.processes import progress

MAX_STDERR_BYTES = 64_000
CHUNK_BYTES = 1 << 16


def run(
    argv: list[str], timeout_s: float, max_bytes: int, *, given: bytes = b"", env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> tuple[int, str, str]:  # fmt: skip
    """(exit code, stdout, stderr); given: its standard input. TimeoutError and OverflowError when it passes a bound."""
    progress.calls(2 * timeout_s)  # its output may take that long, and its end as well
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, env=env, cwd=cwd
        )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        out, err = _read(process.stdout, process.stderr, time.monotonic() + timeout_s, max_bytes)
        try:
            code = process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
    finally:
        _kill_group(process)
        process.stdout.close()
        process.stderr.close()
    return code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _read(stdout: IO[bytes], stderr: IO[bytes], until: float, max_bytes: int) -> tuple[bytes, bytes]:
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ, out)
        selector.register(stderr, selectors.EVENT_READ, err)
        while selector.get_map():
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, CHUNK_BYTES)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.data is out or len(err) < MAX_STDERR_BYTES:
                    key.data.extend(chunk)
                if len(out) > max_bytes:
                    raise OverflowError
    return bytes(out), bytes(err)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End of the command and what it started; a group that has ended is no error."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
