"""Content of the demo twin for the benchmarks of every page, created by its API from a page that is logged in."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks._stack import environment

MAX_WAIT_S = 120.0
AGAIN_MS = 300
OVER = ("finished", "failed", "cancelled")
HOUR_MS = 3_600_000
FETCH = """async ([path, body]) => {
  const headers = { 'Content-Type': 'application/json',
    'X-CSRFToken': document.querySelector('meta[name="csrf-token"]').content };
  const options = body === null ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json(); }"""
EDITS = [
    {"verb": "fail_servers", "servers": "w0*", "at_ms": 20 * HOUR_MS, "for_ms": 5 * HOUR_MS},
    {"verb": "scale_arrivals", "factor": 1.5},
]


def login_link(folder: Path, role: str = "operator") -> str:
    """The way in for a person of that role in the twin whose data are in the folder."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "login_link", "--role", role]
    return subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=True).stdout.strip()


def ask(page: Any, path: str, body: Any = None) -> Any:
    """The API's answer; with a body it is posted."""
    return page.evaluate(FETCH, [path, body])


def ended(page: Any, runs: list[int]) -> None:
    """End of all these runs, waited for."""
    for run in runs:
        _until(page, f"/api/runs/{run}/", lambda answer: answer["status"] in OVER)


def edited(page: Any) -> int:
    """A scenario of the demo's cluster and jobs with two edits."""
    first = ask(page, "/api/scenarios/1/")
    made = {
        "name": "Ten servers fail on a busier day",
        "scheduler": "fifo",
        "cluster": first["cluster"],
        "trace": first["trace"],
        "edits": EDITS,
    }
    return int(ask(page, "/api/scenarios/", made)["id"])


def swept(page: Any, scenario: int) -> int:
    """A sweep over both edits of that scenario, two by three runs, after all have ended."""
    axes = [
        {"edit": 2, "field": "factor", "values": [0.5, 1, 2]},
        {"edit": 1, "field": "for_ms", "values": [HOUR_MS, 12 * HOUR_MS]},
    ]
    sweep = ask(
        page, "/api/sweeps/", {"scenario": scenario, "name": "Length of the outage of ten servers", "axes": axes}
    )["id"]
    _until(page, f"/api/sweeps/{sweep}/", lambda answer: answer["total"] and not answer["active"])
    return int(sweep)


def _until(page: Any, path: str, holds: Callable[[Any], Any]) -> None:
    deadline = time.monotonic() + MAX_WAIT_S
    while not holds(answer := ask(page, path)):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{path} is not done after {MAX_WAIT_S:g} s: {answer}")
        page.wait_for_timeout(AGAIN_MS)
