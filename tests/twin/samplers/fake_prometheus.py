"""A server that speaks the query API of Prometheus: recorded answers by default, and hostile ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

RECORDED = json.loads((Path(__file__).resolve().parents[2] / "fixtures/prometheus/answers-2.42.0.json").read_text())
AT_S = max(one["value"][0] for answer in RECORDED.values() for one in answer.get("data", {}).get("result", ()))
PLACES = (  # what only one expression has
    ("gpu_at", "timestamp(DCGM"), ("node_at", "timestamp(node"), ("gpu_memory", "DCGM_FI_DEV_FB"),
    ("gpu_busy", "DCGM_FI_DEV_GPU_UTIL"), ("cpu", "node_cpu"), ("memory", "node_memory"),
)  # fmt: skip


def vector(*rows: tuple[dict[str, str], Any], at_s: float = AT_S) -> dict[str, Any]:
    """An instant vector of (labels, value)."""
    result = [{"metric": labels, "value": [at_s, str(value)]} for labels, value in rows]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


class FakePrometheus:
    """answers: by the name of the expression; `hostile(handler)` answers in their place."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {key: RECORDED[key] for key, _ in PLACES}
        self.hostile: Callable[[BaseHTTPRequestHandler], None] | None = None
        self.asked: list[str] = []
        self.tokens: list[str | None] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.tokens.append(self.headers.get("Authorization"))
                if outer.hostile is not None:
                    outer.hostile(self)
                    return
                query = parse_qs(urlsplit(self.path).query)["query"][0]
                outer.asked.append(query)
                key = next(key for key, text in PLACES if text in query)
                answer(self, 200, json.dumps(outer.answers[key]).encode())

            def log_message(self, *args: object) -> None:
                """Silence."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


def answer(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """Sends one answer."""
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
