"""Verifier of schedules of typed workers, from plain rows.

It shares no code with schedulers, ledger, workers.py or metrics.

Each problem begins with the name of the rule that is violated, most of which are constraints of A_online's model
(docs/papers/contents.md).

Two ways to run a job: chunk by chunk, each on one worker for life, with one parameter server while any of them runs; or
as a gang of workers that start and stop together, and load the data of the job on servers that do not have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from scheduling.model.bars import ROLE, SERVER, WORKER_SLOT
from scheduling.typed_workers.verification.checks import Checks
from scheduling.typed_workers.verification.chunks import check_chunks
from scheduling.typed_workers.verification.gangs import check_gang
from scheduling.typed_workers.verification.intervals import Spans
from scheduling.typed_workers.verification.metrics import metrics_of
from scheduling.typed_workers.verification.storage import check_storage
from scheduling.typed_workers.verification.work import share_per_ms
from scheduling.typed_workers.verification.worker_types import slot_types
from scheduling.verification.replay import CLOUD
from scheduling.verification.rules import PS, WORKER, Output, Row, Rules, Stage
from scheduling.verification.value_checks import boolean


class TypedWorkersRules(Rules):
    """Rules of typed workers: one bar at a time on each, and jobs that run in chunks or as gangs."""

    name = "typed_workers"
    states = dict.fromkeys(("chunks", "cloud", "fixed"), boolean)
    part = "lanes"

    def check(self, given: Output, problems: list[str]) -> None:
        parameters = given.summary["parameters"]
        _check_run(Checks(given.cluster, given.jobs, given.outcome, given.execution, parameters, problems))

    def metrics(self, given: Output) -> dict[str, Any] | None:
        # also of plans that never took effect
        outcome = self.part in given.summary["metrics"] or any(given.outcome.bars.values())
        return metrics_of(given.cluster, given.jobs, given.outcome) if outcome else None

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        servers, types = stage.cluster["servers"], [slot_types(stage.cluster, role) for role in (WORKER, PS)]
        on: dict[tuple[int, int, int], Spans] = defaultdict(list)
        for job, role, server, start_ms, end_ms, _, worker_slot, _, _ in bars:
            at = f"job {jobs[job]['id']} from {start_ms} to {end_ms} ms"
            if server >= 0:
                on[int(role == PS), server, worker_slot].append((start_ms, end_ms))
                if not 0 <= worker_slot < len(types[int(role == PS)][server]):
                    problems.append(f"{at}: server {servers[server]['name']} has no worker {worker_slot}")
            elif server != CLOUD:
                problems.append(f"{at} is on no worker of a server")
        for (_, server, worker_slot), spans in on.items():
            spans.sort()
            if any(after[0] < before[1] for before, after in pairwise(spans)):
                problems.append(
                    f"server {servers[server]['name']}: two bars are on worker {worker_slot} at the same time"
                )

    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        speed = 1.0 + (stage.parameters.get("speed_augmentation") or 0.0)
        return sum(
            share_per_ms(job, server == CLOUD, speed) * count * (end_ms - start_ms)
            for _, role, server, start_ms, end_ms, count, *_ in bars
            if role == WORKER
        )


def _check_run(check: Checks) -> None:
    """All checks of a finished run."""
    worker_slots: dict[tuple[int, int, int], list[list[int]]] = defaultdict(list)
    known = {job for job, plan in check.outcome.bars.items() if plan and check.has_parts(job)}
    for plan in check.outcome.bars.values():
        for bar in plan:
            if check.placed(bar) and bar[SERVER] != CLOUD:
                worker_slots[int(bar[ROLE] == PS), bar[SERVER], bar[WORKER_SLOT]].append(bar)
    for (role, server, worker_slot), bars in worker_slots.items():
        check.check_exclusive(role, server, worker_slot, bars)
    for job in sorted(known):
        (check_chunks if check.in_chunks else check_gang)(check, job, check.outcome.bars[job])
    for job in set(check.outcome.completed) - known:
        check.problem("work of the gang", job, "completes without work")
    if check.storage != "none":
        check_storage(check)
