"""A client of the twin that repeats a request until it is answered, as a script of a user would."""

from __future__ import annotations

import contextlib
import http.client
import json
import urllib.error
import urllib.request
import uuid
from typing import Any

import pytest

from tests.twin.runtime.stack import wait_until

MAX_WAIT_S = 180.0
FINAL = (400, 403, 404, 413, 415)  # a repetition would be answered alike


class Client:
    """Requests with a token."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.repeated = 0  # requests that were not answered, or with an error that passes

    def get(self, path: str) -> Any:
        return self._until_answered("GET", path, None, "application/json")

    def post(self, path: str, given: Any, media_type: str = "application/json") -> Any:
        return self._until_answered("POST", path, json.dumps(given).encode(), media_type)

    def upload(self, path: str, filename: str, content: bytes, **fields: Any) -> Any:
        """A form with one file."""
        border = uuid.uuid4().hex
        parts = [
            f'--{border}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in fields.items()
        ]
        parts += [
            f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n\r\n'.encode(),
            content,
            f"\r\n--{border}--\r\n".encode(),
        ]
        return self._until_answered("POST", path, b"".join(parts), f"multipart/form-data; boundary={border}")

    def _until_answered(self, method: str, path: str, body: bytes | None, media_type: str) -> Any:
        answers: list[Any] = []

        def answered() -> bool:
            with contextlib.suppress(OSError, http.client.HTTPException):
                answers.append(self._once(method, path, body, media_type))
                return True
            self.repeated += 1
            return False

        wait_until(answered, f"{method} {path} is answered", MAX_WAIT_S)
        return answers[0]

    def _once(self, method: str, path: str, body: bytes | None, media_type: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": media_type}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=15) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code in FINAL:
                pytest.fail(f"{method} {path}: {error.code} {error.read().decode()}")
            raise
