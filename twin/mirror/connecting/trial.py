"""Test of a connection: what its connector finds, and the site of each node, in a process with bounds.

A command that hangs or prints gigabytes ends that process, and never holds up the one that asks.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings

from twin.infra.errors import Refused
from twin.processes import bounded_command

MAX_S = 20.0  # of a test
GRACE_S = 5.0  # after which a test that does not end by itself is killed
MAX_ANSWER_BYTES = 32_000_000
MAX_AT_ONCE = 2  # tests of one web process
_places = threading.BoundedSemaphore(MAX_AT_ONCE)


def run(
    connector: str, parameters: Mapping[str, Any], sites: Mapping[str, Any], limit_s: float = MAX_S,
    *, sampler: str = "", sampler_parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """{well, error, version, clock_offset_ms, findings, nodes, total_nodes, jobs, seconds}; error: a sentence."""
    if not _places.acquire(blocking=False):
        raise Refused(f"{MAX_AT_ONCE:,} connections are being tested; try again when a test has ended")
    try:
        given = {"connector": connector, "parameters": parameters, "sites": sites, "limit_s": limit_s}
        return _tested({**given, "sampler": sampler, "sampler_parameters": sampler_parameters or {}}, limit_s)
    finally:
        _places.release()


def _tested(settings_given: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
    given = orjson.dumps(settings_given)
    argv = [sys.executable, "-m", "twin.mirror.connecting.trial_process"]
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "twin.config.settings")}
    try:
        code, out, err = bounded_command.run(
            argv, limit_s + GRACE_S, MAX_ANSWER_BYTES, given=given, env=env, cwd=settings.BASE_DIR
        )
    except TimeoutError:
        return failed(f"the test did not end within {limit_s:g} s and was stopped")
    except OverflowError:
        return failed(
            f"the answer of the cluster is larger than {MAX_ANSWER_BYTES // 1_000_000} MB; the test was stopped"
        )
    if code or not out:
        reason = err.strip().splitlines()[-1][:200] if err.strip() else f"exit code {code}"
        return failed(f"the test of the connection failed: {reason}")
    return dict(orjson.loads(out))


def failed(error: str) -> dict[str, Any]:
    """The result of a test that found nothing."""
    return {
        "well": False, "error": error, "version": "", "clock_offset_ms": None, "findings": [], "nodes": [],
        "total_nodes": 0, "jobs": {}, "seconds": 0.0,
    }  # fmt: skip
