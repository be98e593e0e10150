"""A small API server over plain HTTP: lists in pages, watches from a version, bookmarks, 410 for lost versions."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PODS, NODES, JOBS = "/api/v1/pods", "/api/v1/nodes", "/apis/batch/v1/jobs"
GROUPS = {"batch": ("v1", ("jobs",))}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


class FakeApiServer:
    """Objects by path and name, and every change of them since the server began.

    pages_that_expire  how many lists lose their later pages
    """

    def __init__(self, **groups: tuple[str, tuple[str, ...]]) -> None:
        self.groups = GROUPS | {name.replace("_", "-"): kinds for name, kinds in groups.items()}
        self.objects: dict[str, dict[str, Any]] = {}
        self.events: list[tuple[int, str, str]] = []  # (version, path, line)
        self.version, self.oldest = 100, 0
        self.answers: dict[str, tuple[int, str]] = {}  # path -> what is answered instead
        self.asked: list[str] = []
        self.pages_that_expire = 0
        self.cut_after = 0  # grows when all streams are to end
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def put(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        """Creates or changes an object."""
        name = obj["metadata"]["name"]
        verb = "MODIFIED" if name in self.objects.get(path, {}) else "ADDED"
        self._tell(path, verb, obj)
        self.objects.setdefault(path, {})[name] = obj
        return obj

    def delete(self, path: str, name: str) -> None:
        """Deletes an object."""
        self._tell(path, "DELETED", self.objects[path].pop(name))

    def bookmark(self, path: str) -> None:
        """Tells the newest version without a change."""
        self._tell(path, "BOOKMARK", {"metadata": {}})

    def play(self, path: str, line: str) -> None:
        """Sends a recorded line to whoever watches, and keeps no object."""
        with self._changed:
            self.version += 1
            self.events.append((self.version, path, line.strip()))
            self._changed.notify_all()

    def compact(self) -> None:
        """Forgets all changes so far, so that watches cannot begin before now."""
        self.version += 1
        self.oldest = self.version

    def cut(self) -> None:
        """Ends all streams, as when a connection breaks."""
        with self._changed:
            self.cut_after += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Ends the server and all streams."""
        self.cut()
        self._server.shutdown()
        self._server.server_close()

    def _tell(self, path: str, verb: str, obj: dict[str, Any]) -> None:
        with self._changed:
            self.version += 1
            obj["metadata"]["resourceVersion"] = str(self.version)
            self.events.append((self.version, path, json.dumps({"type": verb, "object": obj})))
            self._changed.notify_all()

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, str]:
        """The answer to a question that is not a watch."""
        if path in self.answers:
            return self.answers[path]
        if path == "/version":
            return 200, '{"gitVersion": "v1.99.0"}'
        if path == "/readyz":
            return 200, "ok"
        parts = path.strip("/").split("/")
        if parts[0] == "apis" and len(parts) < 4:
            version, kinds = self.groups.get(parts[1], ("", ()))
            if not version:
                return 404, "404 page not found"
            if len(parts) == 2:
                return 200, json.dumps({"versions": [{"version": version}], "preferredVersion": {"version": version}})
            return 200, json.dumps({"resources": [{"name": kind} for kind in kinds]})
        return self._page(path, int(query.get("limit", 0)), int(query.get("continue", 0)))

    def _page(self, path: str, limit: int, first: int) -> tuple[int, str]:
        if first and self.pages_that_expire:
            self.pages_that_expire -= 1
            return 410, '{"message": "The provided continue parameter is too old"}'
        items = [obj for _, obj in sorted(self.objects.get(path, {}).items())]
        metadata = {"resourceVersion": str(self.version)}
        if limit and first + limit < len(items):
            metadata["continue"] = str(first + limit)
        return 200, json.dumps({"metadata": metadata, "items": items[first : first + limit] if limit else items})

    def _handler(fake) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                fake.asked.append(self.path)
                if query.get("watch") == "1" and parts.path not in fake.answers:
                    self._watch(parts.path, int(query["resourceVersion"]))
                    return
                status, text = fake.answer(parts.path, query)
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def _watch(self, path: str, seen: int) -> None:
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                if seen < fake.oldest:
                    status = {"kind": "Status", "message": f"too old resource version: {seen}", "code": 410}
                    self._line(json.dumps({"type": "ERROR", "object": status}))
                    self.wfile.write(b"0\r\n\r\n")
                    return
                until = fake.cut_after
                while True:
                    with fake._changed:
                        while fake.version == seen and fake.cut_after == until:
                            fake._changed.wait()
                        lines = [line for version, at, line in fake.events if at == path and version > seen]
                        seen = fake.version
                    for line in lines:
                        self._line(line)
                    if fake.cut_after != until:
                        self.close_connection = True
                        return

            def _line(self, line: str) -> None:
                data = line.encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

        return Handler
