"""Verifier of groups of jobs that share machines, in the log and in groups.csv, from plain rows alone.

Recomputed with code of its own: the times of each job on the machines of its group (Eq. 2), the time of an iteration
(Eq. 1), utilization (Eq. 3 and 4), memory on each machine, and the iterations that a job has made when it completes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scheduling.colocation.verification.group_replay import MODEL, GroupReplay
from scheduling.colocation.verification.groups_csv import check_rows
from scheduling.colocation.verification.metrics import metrics_of
from scheduling.verification.replay import NOWHERE
from scheduling.verification.rules import Output, Row, Rules, Stage
from scheduling.verification.value_checks import boolean


class ColocationRules(Rules):
    """Groups of jobs on their own machines, with the times, memory and iterations that follow."""

    name = MODEL
    states = {"fills": boolean}
    part = "groups"
    files = ("groups.csv",)

    def check(self, given: Output, problems: list[str]) -> None:
        if not problems:  # groups of a log that contradicts itself are not followed
            rows, parameters = given.more.get("groups"), given.summary["parameters"]
            _check_groups(given.cluster, given.jobs, given.log, parameters, given.execution["fills"], rows, problems)

    def metrics(self, given: Output) -> dict[str, Any] | None:
        return metrics_of(given.cluster, given.jobs, given.log, given.done)

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        for job, _, server, start_ms, end_ms, _, _, _, group in bars:
            if group < 0 or server != NOWHERE:
                problems.append(
                    f"job {jobs[job]['id']} from {start_ms} to {end_ms} ms is in no group, but co-located jobs must be"
                )

    def check_phases(
        self, stages: Sequence[Stage], jobs: Sequence[Row], log: Sequence[Row], problems: list[str]
    ) -> None:
        replay = GroupReplay(stages[0].cluster, jobs, log[0]["data"]["parameters"], problems)
        replay.enter(stages[0], log[0]["data"]["parameters"])
        following = iter(stages[1:])
        for at, at_ms, event in _instants(replay, log):
            if event["kind"] == "edited":
                replay.settle(at_ms)
                replay.hand_over(event["data"])
                replay.enter(next(following), event["data"]["parameters"])
            else:
                replay.take(at, at_ms, event)

    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        return None  # by the iterations in group events, not by bars


def _check_groups(
    cluster: Row, jobs: Sequence[Row], log: Iterable[Row], parameters: Row, fills: bool, rows: Sequence[Row] | None,
    problems: list[str],
) -> None:  # fmt: skip
    """Check of the groups.

    fills: no machine of a site is idle while jobs run there; rows: of groups.csv, None without such a file.
    """
    replay = GroupReplay(cluster, jobs, parameters, problems, fills=fills)
    last_ms = 0
    for at, last_ms, event in _instants(replay, log):
        replay.take(at, last_ms, event)
    if rows is not None:
        check_rows(cluster, jobs, replay.history(last_ms), rows, problems)


def _instants(replay: GroupReplay, log: Iterable[Row]) -> Iterator[tuple[str, int, Row]]:
    """Events as (line, time, event); at the end of each instant the replay is settled."""
    last_ms = 0
    for event in log:
        if event["at_ms"] != last_ms:
            replay.settle(last_ms)
            last_ms = event["at_ms"]
        yield f"events.jsonl: line {event['seq']}", last_ms, event
    replay.settle(last_ms)
