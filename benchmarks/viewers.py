"""Many viewers of one run, some of which never read, on one web process: spread of a message, memory, what is cut off.

VIEWERS_SECONDS sets the length; 600 s show whether memory stays flat.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median, quantiles

import orjson
from django.conf import settings

from benchmarks import Figure, Skip
from benchmarks._stack import environment, process_tree, proportional_bytes, stack
from twin.infra.broker import socket_path

VIEWERS, STUCK, EVENTS_PER_S = 1_000, 50, 10_000
TITLE = f"{VIEWERS:,} viewers of one run, {STUCK} of them stuck, {EVENTS_PER_S:,} events/s, one web process"
SECONDS = float(os.environ.get("VIEWERS_SECONDS", "90"))
FIRST_S = 60.0  # until the stuck sockets are cut off: two unanswered pings of the server
SAMPLE_S = 2.0
MAX_SPREAD_MS, MAX_GROWTH = 250.0, 1.05


def run() -> list[Figure]:
    if sys.platform != "linux":
        raise Skip("memory is read from /proc, which only Linux has")
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as name, stack(Path(name)) as (process, url):
        folder, port = Path(name), url.rpartition(":")[2]
        run_id, cookie = _output(folder, "-c", "from benchmarks.viewers import prepare; prepare()").split()
        web = next(pid for pid in process_tree(process.pid) if b"uvicorn" in Path(f"/proc/{pid}/cmdline").read_bytes())
        command = [sys.executable, "-m", "benchmarks._viewers", port, run_id, cookie, str(VIEWERS), str(STUCK)]
        with subprocess.Popen(
            [*command, str(SECONDS + 5)], cwd=settings.BASE_DIR, env=_environment(folder), stdout=subprocess.PIPE
        ) as viewers:
            assert viewers.stdout is not None
            if viewers.stdout.readline().strip() != b"connected":
                raise RuntimeError("the viewers could not connect")
            began_s, cpu_s = time.monotonic(), _processor_s(web)
            memory = []
            feed = _child(folder, "-m", "benchmarks._feed", str(SECONDS), run_id, str(EVENTS_PER_S))
            while feed.poll() is None:
                time.sleep(SAMPLE_S)
                memory.append((time.monotonic() - began_s, proportional_bytes(web)))
            busy = (_processor_s(web) - cpu_s) / (time.monotonic() - began_s)
            found = orjson.loads(viewers.stdout.read())
    steady = [size for at, size in memory if at > min(FIRST_S, SECONDS / 2)]
    third = max(1, len(steady) // 3)
    total = int(SECONDS) * EVENTS_PER_S
    return [
        Figure("from the first to the last viewer, p50", median(found["spread_ms"]), "ms"),
        Figure("from the first to the last viewer, p99", _p99(found["spread_ms"]), "ms", MAX_SPREAD_MS),
        Figure("from the publication to the last viewer, p50", median(found["age_ms"]), "ms"),
        Figure("from the publication to the last viewer, p99", _p99(found["age_ms"]), "ms"),
        Figure("events that reached every viewer that reads", found["last"], "events", total, at_least=True),
        Figure("viewers that read and were sent to a snapshot", found["gaps"], "times", 0),
        Figure("viewers that read and were cut off", found["closed"], "viewers", 0),
        Figure("stuck viewers that were cut off", found["cut_off"], "viewers", STUCK, at_least=True),
        Figure("memory of the web process", max(steady) / 1e6, "MB"),
        Figure("its growth, last third to first", mean(steady[-third:]) / mean(steady[:third]), "times", MAX_GROWTH),
        Figure("processor time of the web process", busy * 100, "%"),
        Figure("duration", SECONDS, "s"),
    ]


def prepare() -> None:
    """A run without a log, and a session of a viewer; prints both."""
    import django

    django.setup()
    from benchmarks._feed import make_run

    print(make_run(), session_of_a_viewer())


def session_of_a_viewer() -> str:
    """Key of a session."""
    from importlib import import_module

    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
    from django.contrib.auth.models import Group

    user = get_user_model().objects.create_user("viewer of the benchmark")
    user.groups.add(Group.objects.get_or_create(name="viewer")[0])
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def _p99(values: list[float]) -> float:
    return quantiles(values, n=100)[-1]


def _processor_s(pid: int) -> float:
    """Processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _environment(folder: Path) -> dict[str, str]:
    return environment(folder) | {"LAYER_URL": f"unix://{socket_path(folder)}"}


def _child(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *words], env=_environment(folder), cwd=settings.BASE_DIR)


def _output(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], env=_environment(folder), cwd=settings.BASE_DIR, stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode().strip()
