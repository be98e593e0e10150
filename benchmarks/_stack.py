"""A whole twin of its own for a row: `manage.py up` on a temporary folder and a free port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from twin.infra import broker

MAX_WAIT_S = 60.0


def environment(folder: Path) -> dict[str, str]:
    """Environment of this process, with its own data folder and none of the services to which it may be connected."""
    env = {name: value for name, value in os.environ.items() if name not in ("BROKER_URL", "LAYER_URL", "DATABASE_URL")}
    return env | {"TWIN_VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "twin.config.settings"}


@contextmanager
def stack(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """(supervisor, url) of a twin whose first page has come."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "up", "--port", str(port), *options]
    with (folder / "up.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment(folder), stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + MAX_WAIT_S
        while not _page(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the twin did not start: {(folder / 'up.log').read_text()}")
            time.sleep(0.02)
        yield process, url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextmanager
def web_server(folder: Path, given: Mapping[str, str]) -> Iterator[str]:
    """The address of a web server alone, on a fresh database; given: settings of its environment."""
    port = _free_port()
    env = environment(folder) | dict(given)
    subprocess.run([sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "-v", "0"], env=env, check=True)
    command = [sys.executable, "-m", "uvicorn", "twin.config.asgi:application", "--port", str(port), "--no-access-log"]
    with (folder / "web.log").open("ab") as log:
        process = subprocess.Popen(command, env=env, cwd=settings.BASE_DIR, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + MAX_WAIT_S
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the web server did not come up: {(folder / 'web.log').read_text()}")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def bus(folder: Path) -> Iterator[str]:
    """The URL of an empty frame bus, for a process that publishes."""
    socket = broker.socket_path(folder)
    url = f"unix://{socket}"
    with (folder / "bus.log").open("ab") as log:
        command = broker.command(broker.find_server(), socket, folder / "bus")
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        broker.wait(url)
        yield url
    finally:
        process.terminate()
        process.wait(30)
        broker.drop_socket(socket)


def process_tree(pid: int) -> list[int]:
    """The process and all that came from it (Linux)."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [pid]
    for known in found:
        found += [child for child, parent in parents.items() if parent == known]
    return found


def proportional_bytes(pid: int) -> int:
    """Memory of a process as PSS: shared pages count by their share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _page(url: str) -> bool:
    """The login page, as a browser without a session gets it."""
    try:
        with urllib.request.urlopen(f"{url}/", timeout=5) as answer:
            return answer.status == 200 and b"</html>" in answer.read()
    except (urllib.error.URLError, OSError):
        return False
