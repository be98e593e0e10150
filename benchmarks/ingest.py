"""Push: events that a web server of its own accepts over HTTP, in large and in small requests.

Each size is sent as fast as the answers come, which gives the rate, and then EVENTS_PER_SECOND on a schedule, which
gives the latency at that rate: from the time at which a request is due, so that a slow answer counts for the next one.
"""

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
LARGE, SMALL = (1_000, 25, 75), (100, 150, 750)  # events of a request, requests of each measurement


def run() -> list[Figure]:
    """Figures on SQLite, and on PostgreSQL if a server is available."""
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
        for size, requests, paced in (LARGE, SMALL):
            fastest_s = sender.send(size, requests)
            rate = size * requests / sum(fastest_s)
            took_s = sender.send_paced(size, paced)
            title = f"{name}: {size:,} events a request"
            figures += [
                Figure(f"{title}, accepted without a pause", rate, "1/s", EVENTS_PER_SECOND, at_least=True),
                Figure(f"{title}, answer without a pause, p99", _percentile(fastest_s, 99), "ms"),
                Figure(f"{title}, answer at {EVENTS_PER_SECOND:,}/s, p50", _percentile(took_s, 50), "ms"),
                Figure(f"{title}, answer at {EVENTS_PER_SECOND:,}/s, p99", _percentile(took_s, 99), "ms", P99_MS),
            ]
        return figures


def _percentile(seconds: list[float], q: int) -> float:
    """Percentile of the durations, in milliseconds."""
    return float(np.percentile(seconds, q)) * 1_000


class _Sender:
    """A client with one connection; the rate limit of the token makes it wait, not counted."""

    def __init__(self, url: str, token: str) -> None:
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"))
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/cloudevents-batch+json"}
        self.sent = 0

    def send(self, size: int, requests: int) -> list[float]:
        """Seconds of each request; each is sent when the one before is answered."""
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
        return took

    def send_paced(self, size: int, requests: int) -> list[float]:
        """Seconds from the time at which each request is due, at EVENTS_PER_SECOND."""
        bodies = [self._batch(size) for _ in range(requests)]
        time.sleep(1.0)  # the allowance of the token fills up
        took: list[float] = []
        began = time.perf_counter()
        for number, body in enumerate(bodies):
            due = began + number * size / EVENTS_PER_SECOND
            time.sleep(max(0.0, due - time.perf_counter()))
            status, wait_s = self._post(body)
            while status != 200:  # only after a pause of a second or more
                time.sleep(wait_s)
                status, wait_s = self._post(body)
            took.append(time.perf_counter() - due)
        return took

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
