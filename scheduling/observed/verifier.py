"""Verifier of mirrored runs, from plain rows: capacities hold, and every job that ran is accounted for."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.verification.rules import SUSPENDED, WORKER, Output, Row, Rules, Stage


class ObservedRules(Rules):
    """Rules of mirrored runs, without slots or training: bars are on servers, on one GPU each if known.

    No GPU is held twice.
    """

    name = "observed"
    roles = ("worker", "suspended")
    states = {}

    def check(self, given: Output, problems: list[str]) -> None:
        holds: dict[tuple[str, int], list[tuple[int, int, str]]] = {}
        for id_, own in given.bars.items():
            for bar in own:
                at = f"job {id_}: on {bar.server} in [{bar.start_ms}, {bar.end_ms}) ms"
                if bar.chunk or bar.group:
                    problems.append(f"{at} must have no chunk and no group")
                elif bar.server in ("", "cloud"):
                    problems.append(f"{at} must be on a server")
                elif bar.worker_slot:
                    if bar.count != 1:
                        problems.append(
                            f"{at} names GPU {bar.worker_slot} and counts {bar.count}, where a GPU counts 1"
                        )
                    holds.setdefault((bar.server, int(bar.worker_slot)), []).append((bar.start_ms, bar.end_ms, id_))
            if id_ in given.done and given.done[id_] < max(bar.end_ms for bar in own):
                problems.append(
                    f"job {id_} completes at {given.done[id_]} ms, before its last bar ends at "
                    f"{max(b.end_ms for b in own)} ms"
                )
        _check_gpus(holds, problems)

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        for job, role, server, start_ms, end_ms, *_ in bars:
            if server < 0 or role not in (WORKER, SUSPENDED):
                problems.append(f"job {jobs[job]['id']}: from {start_ms} to {end_ms} ms must be a worker on a server")

    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        return None  # a cluster does not report the amount of work of a job


def _check_gpus(holds: dict[tuple[str, int], list[tuple[int, int, str]]], problems: list[str]) -> None:
    """Check that no two jobs hold the same GPU at a time."""
    for (server, gpu), spans in sorted(holds.items()):
        until_ms, holder = -1, ""
        for start_ms, end_ms, id_ in sorted(spans):
            if start_ms < until_ms and id_ != holder:
                problems.append(
                    f"server {server}: GPU {gpu} is held by job {holder} until {until_ms} ms and by job {id_} "
                    f"from {start_ms} ms"
                )
            if end_ms > until_ms:
                until_ms, holder = end_ms, id_
