"""Push: events that a web server of its own accepts over HTTP, in large and in small requests."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import orjson
import psycopg
from django.conf import settings

from benchmarks import Figure
from benchmarks._stack import environment, web_server

TITLE = "push: 1,000 and 100 events a request, one sender"
EVENTS_PER_SECOND, P99_MS = 5_000, 50.0
POSTGRES = os.environ.get("BENCH_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
LARGE, SMALL = (1_000, 25), (100, 150)  # (events of a request, requests)


def run() -> list[Figure]:
    """On SQLite, and on PostgreSQL where a server is."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        figures = _figures("SQLite", Path(folder), {})
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder, _database() as given:
        return figures + (_figures("PostgreSQL", Path(folder), given) if given else [])


@contextmanager
def _database() -> Iterator[dict[str, str]]:
    """The URL of a database that lives as long as the measurement; nothing where there is no server."""
    name = f"twin_bench_{os.getpid()}"
    try:
        admin = psycopg.connect(f"{POSTGRES}/postgres", autocommit=True, connect_timeout=2)
    except psycopg.OperationalError:
        yield {}
        return
    with admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield {"DATABASE_URL": f"{POSTGRES}/{name}"}
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _figures(name: str, folder: Path, given: dict[str, str]) -> list[Figure]:
    with web_server(folder, given) as url:
        command = [
            sys.executable,
            str(settings.BASE_DIR / "manage.py"),
            "token",
            "create",
            "--name",
            "bench",
            "--scope",
            "ingest:bench",
        ]
        token = (
            subprocess.run(command, env=environment(folder) | given, capture_output=True, check=True)
            .stdout.decode()
            .strip()
        )
        sender = _Sender(url, token)
        figures = []
        for size, requests in (LARGE, SMALL):
            took_s, seconds = sender.send(size, requests)
            rate, p99_ms = size * requests / seconds, float(np.percentile(took_s, 99)) * 1_000
            figures += [
                Figure(f"{name}: events accepted, {size:,} a request", rate, "1/s", EVENTS_PER_SECOND, at_least=True),
                Figure(f"{name}: answer to {size:,} events, p50", float(np.median(took_s)) * 1_000, "ms"),
                Figure(f"{name}: answer to {size:,} events, p99", p99_ms, "ms", P99_MS),
            ]
        return figures


class _Sender:
    """A client that sends one request after another; the rate limit of the token makes it wait, not counted."""

    def __init__(self, url: str, token: str) -> None:
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"))
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/cloudevents-batch+json"}
        self.sent = 0

    def send(self, size: int, requests: int) -> tuple[list[float], float]:
        """Seconds of each request, and of all."""
        self._post(self._batch(size))  # the first one prepares connections and code
        took: list[float] = []
        while len(took) < requests:
            body = self._batch(size)
            began = time.perf_counter()
            status, wait_s = self._post(body)
            if status == 200:
                took.append(time.perf_counter() - began)
            else:
                time.sleep(wait_s)
        return took, sum(took)

    def _post(self, body: bytes) -> tuple[int, float]:
        self.connection.request("POST", "/api/ingest/bench/events", body, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status == 200:
            assert orjson.loads(text)["rejected"] == []
        elif answer.status != 429:
            raise RuntimeError(f"the twin answered {answer.status}: {text.decode()}")
        return answer.status, float(answer.headers.get("Retry-After", 0))

    def _batch(self, size: int) -> bytes:
        """Jobs of four events each, as a busy cluster sends them."""
        first, self.sent = self.sent, self.sent + size
        return orjson.dumps([_event(number) for number in range(first, first + size)])


def _event(number: int) -> dict[str, object]:
    job, step = divmod(number, 4)
    share = {"node": f"gpu{job % 1_000}", "gpus": 2, "cpus": 8, "gpu_ids": [0, 1]}
    type, data = (
        ("job.submitted", {"gpus": 2, "cpus": 8, "queue": "short", "user": f"user{job % 75}", "limit_ms": 3_600_000}),
        ("job.changed", {"priority": job % 1_000, "reason": "Resources"}),
        ("job.started", {"shares": [share]}),
        ("job.ended", {"outcome": "completed"}),
    )[step]
    moment = 1_770_000_000 + job + step * 60
    time_text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    return {
        "specversion": "1.0", "id": f"{os.getpid()}-{number}", "source": "/bench", "type": type, "subject": f"job{job}",
        "time": time_text, "data": data,
    }  # fmt: skip
