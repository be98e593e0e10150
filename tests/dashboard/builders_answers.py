"""Answers of the API as the tests of the browser's modules take them."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import orjson

OF_RUN = (
    "", "static/", "snapshot/", "jobs/?page=1&size=25&sort=index&q=&state=", *(f"jobs/{job}/" for job in range(8)),
    "forks/", "payoffs/?after=0", "certificate/", "now/", "situation/", "thumbnail/",
    "events/table/?kind=&decision=&size=50", "prices/0/", "delays/", "jobs/0/counterfactuals/",
)  # fmt: skip


def recorded(client: Any, path: str) -> Any:
    """An answer as JSON; one of binary columns as {base64}."""
    answer = client.get(path)
    body = b"".join(answer.streaming_content) if getattr(answer, "streaming", False) else answer.content
    if answer.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    if answer.headers["Content-Type"] == "application/octet-stream":
        return {"base64": base64.b64encode(body).decode()}
    return {"status": answer.status_code, "body": orjson.loads(body)}
