"""Rows of the newest forecast of a cluster: what its pages show of each waiting job, and the ends of running ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduling.forecast import values
from scheduling.forecast.bands import Bands
from scheduling.forecast.values import Forecast, Running
from twin.connectors.facts import JobFact
from twin.mirror.forecasts.cluster_state import gang_of

MAX_ROWS = 5_000
MAX_NODES = 64  # of one job, that are drawn
MAX_NAMES = 5  # of jobs that a job waits for
NEVER = {
    values.HELD: "It is held, and starts only after its release.",
    values.TOO_LARGE: "No available nodes of its queue are large enough, even when they are empty.",
    values.NO_LICENCE: "It requests more licences than the cluster has.",
    values.NO_RESERVATION: "The reservation that it names has no nodes.",
    values.UNKNOWN_LIMIT: "It is delayed by a limit of its user, account or queue that the forecast does not know.",
    values.TOO_LONG: "Its time limit is longer than its queue allows.",
    values.TOO_MANY_NODES: "It requests more nodes than its queue allows for a job.",
    values.CLOSED: "Its queue does not start jobs now.",
    values.DEPENDENCY: "It depends on a job whose end is not known.",
    values.UNMET: "It depends on a job that did not end as required, so it will never start.",
    values.LICENCE: "It needs a licence that no job is known to release.",
    values.RESOURCES: "No known end of a job frees enough resources for it.",
}


def rows(
    found: Sequence[Forecast], waiting: Mapping[str, Sequence[tuple[int, JobFact]]], names: Mapping[str, str],
    bands: Bands, now_ms: int, epoch_ms: int, estimates: Mapping[str, int],
) -> list[dict[str, Any]]:  # fmt: skip
    """One per waiting job of the log; times in ms of the log. waiting: jobs (index, fact) by what they wait as.

    names: names of jobs by their identity. A node of the cluster has its index in the log.
    """
    made = []
    for row in found:
        low, high = (None, None)
        if row.start_ms is not None and (band := bands.around(row.start_ms - now_ms, row.earliest_ms - now_ms)):
            low, high = (now_ms - epoch_ms + edge for edge in band)
        for index, fact in waiting.get(row.id, ()):
            system = estimates.get(fact.key)
            made.append({
                "job": index, "start_ms": _in_log(row.start_ms, epoch_ms),
                "finish_ms": _in_log(row.finish_ms, epoch_ms), "low_ms": low, "high_ms": high,
                "servers": list(row.nodes[:MAX_NODES]),
                "why": row.why, "waits_for": [names.get(one, one) for one in row.waits_for[:MAX_NAMES]],
                "more": max(0, len(row.waits_for) - MAX_NAMES), "ahead": row.ahead,
                "system_ms": _in_log(system, epoch_ms), "never": "" if row.start_ms is not None else NEVER[row.why],
            })  # fmt: skip
    return made[:MAX_ROWS]


def ends(running: Sequence[Running], indexes: Mapping[str, int], epoch_ms: int) -> list[dict[str, int]]:
    """{job, finish_ms} of each running job of the log, the earliest end first. indexes: of the jobs, by identity."""
    found = sorted((job.end_ms, indexes[job.id]) for job in running)
    return [{"job": index, "finish_ms": max(0, end_ms - epoch_ms)} for end_ms, index in found[:MAX_ROWS]]


def by_gang(jobs: Sequence[tuple[int, JobFact]]) -> dict[str, list[tuple[int, JobFact]]]:
    """Jobs by what they wait as."""
    found: dict[str, list[tuple[int, JobFact]]] = {}
    for index, fact in jobs:
        found.setdefault(gang_of(fact), []).append((index, fact))
    return found


def _in_log(at_ms: int | None, epoch_ms: int) -> int | None:
    return None if at_ms is None else max(0, at_ms - epoch_ms)
