"""Load of the servers at a past time of a run, as at the time of a fork."""

from __future__ import annotations

from typing import Any

from twin.analysis.situation import load
from twin.eventlog.state_cache import Newest
from twin.models import Run
from twin.scenarios import store


def loads_at(run: Run, at_ms: int) -> dict[str, Any]:
    """{measure, scale, servers, sites} (load.py) at the end of that instant, by what was planned then."""
    with Newest(run) as state:
        _, jobs = store.of_run(run)
        cluster = [one for begin, one in store.clusters(run) if begin <= at_ms][-1]
        held = load.held(run, state, cluster, jobs, at_ms, at_ms, known_ms=at_ms)
        return load.loads(held, cluster, at_ms, load.gone(run, cluster.servers, at_ms))
