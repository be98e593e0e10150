"""An operator without a browser, for rows that use a whole twin over HTTP."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_WAIT_S = 180.0
MARK = "----------------------------benchmarks"


class Client:
    """A session of the operator who opens the login link."""

    def __init__(self, url: str, link: str) -> None:
        self.url = url
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.get(link)
        found = re.search(rb'name="csrf-token" content="([^"]+)"', self.get("/"))
        assert found is not None
        self.token = found[1].decode()

    def get(self, path: str) -> bytes:
        return self._open(self.url + path)

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))

    def post(self, path: str, body: Any) -> Any:
        return self._send(path, json.dumps(body).encode(), "application/json")

    def upload(self, files: list[Path], **fields: str) -> Any:
        """Trace imported from these files; returns its number."""
        parts = [_part(name, value.encode()) for name, value in fields.items()]
        parts += [_part("file", file.read_bytes(), file.name) for file in files]
        return self._send(
            "/api/traces/", b"".join(parts) + f"--{MARK}--\r\n".encode(), f"multipart/form-data; boundary={MARK}"
        )

    def _send(self, path: str, body: bytes, kind: str) -> Any:
        headers = {"Content-Type": kind, "X-CSRFToken": self.token}
        return json.loads(self._open(urllib.request.Request(self.url + path, body, headers)))

    def _open(self, request: str | urllib.request.Request) -> bytes:
        try:
            with self.opener.open(request, timeout=MAX_WAIT_S) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            body = error.read().decode(errors="replace")[:500]
            raise RuntimeError(f"{error.url}: {error.code} {body}") from None


def wait(holds: Callable[[], bool], what: str, max_wait_s: float = MAX_WAIT_S) -> None:
    """Wait for a condition, which holds afterwards."""
    deadline = time.monotonic() + max_wait_s
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"timed out after {max_wait_s:g} s: {what}")
        time.sleep(0.1)


def _part(name: str, value: bytes, file: str = "") -> bytes:
    named = f'; filename="{file}"' if file else ""
    return f'--{MARK}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode() + value + b"\r\n"
