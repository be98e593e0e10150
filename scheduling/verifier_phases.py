"""Rechecks the log of a run whose world changed on the way, from plain rows alone. It shares no code with schedulers or hand-over.

Each phase has its own cluster; jobs and servers are named by their numbers in the last one, which every phase before begins with. What
stands in a phase must fit that phase's servers, and a job completes once its work is done, however often it was moved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from scheduling.verifier import CLOSE, COUNTED, PARTS, Row, _filled, _same, _thousandths, _utility, _work_ms, _world
from scheduling.verifier_form import AMOUNTS, check_events, check_inputs
from scheduling.verifier_lanes import KINDS, lane_types
from scheduling.verifier_log import CLOUD, ROLES, Told, replay

WORKER, PS, TRANSFER = 0, 1, 2


class Stage(NamedTuple):
    """What holds from at_ms on, as plain rows."""

    at_ms: int
    cluster: Row
    scheduler: str
    parameters: Row


def verify_phases(stages: Sequence[Stage], jobs: Sequence[Row], events: Iterable[Any], jobs_at_first: int) -> list[str]:
    """Everything that is wrong, in sentences. jobs: of the last stage; jobs_at_first: how many the first one had."""
    problems: list[str] = []
    last = stages[-1].cluster
    check_inputs(last, jobs, problems)
    log = check_events(events, problems)
    if problems:
        return problems
    begins = {"jobs": jobs_at_first, "servers": len(stages[0].cluster["servers"])}
    stages = [stage._replace(cluster=_filled(stage.cluster)) for stage in stages]
    last = stages[-1].cluster
    cloud = next((stage.cluster["cloud"] for stage in stages if stage.cluster["cloud"]), None)  # it may have been switched off
    told = replay({**last, "cloud": cloud}, jobs, log, problems, [stage.at_ms for stage in stages[1:]], begins)
    ends = [stage.at_ms for stage in stages[1:]] + [1 << 62]
    for stage, end_ms in zip(stages, ends, strict=True):
        bars = [
            [*bar[:3], max(bar[3], stage.at_ms), min(bar[4], end_ms), *bar[5:]]
            for plan in told.bars.values()
            for bar in plan
            if bar[3] < end_ms and bar[4] > stage.at_ms
        ]
        _check_stage(stage, jobs, bars, problems)
    _check_completions(stages, jobs, told, problems)
    return problems


def _check_stage(stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]) -> None:
    servers = stage.cluster["servers"]
    if not stage.cluster["cloud"]:
        stray = sorted({bar[0] for bar in bars if bar[2] == CLOUD})
        problems += [
            f"events.jsonl: job {jobs[job]['id']} holds the cloud after {stage.at_ms} ms, where there is none" for job in stray
        ]
    counted = COUNTED[_world(stage.cluster, {"scheduler": stage.scheduler, "parameters": stage.parameters})]
    lanes = [lane_types(stage.cluster, role) for role in (WORKER, PS)] if stage.scheduler in KINDS else None
    held: dict[int, list[tuple[int, int, list[int]]]] = defaultdict(list)
    on: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
    for job, role, server, start_ms, end_ms, count, lane, _, _ in bars:
        if server < 0:
            continue
        at = f"job {jobs[job]['id']}: from {start_ms} to {end_ms} ms"
        if server >= len(servers):
            problems.append(f"{at}: stands on server {server}, which is not there yet")
            continue
        row = servers[server]
        if any(start_ms < back and end_ms > gone for gone, back in row["away"]):
            problems.append(f"{at}: stands on server {row['name']}, which is away")
        if role != TRANSFER and ROLES[role] not in row["roles"]:
            problems.append(f"{at}: server {row['name']} does not take the role {ROLES[role]}")
        if lanes is not None:
            on[int(role == PS), server, lane].append((start_ms, end_ms))
            if not 0 <= lane < len(lanes[int(role == PS)][server]):
                problems.append(f"{at}: server {row['name']} has no lane {lane}")
        elif role != TRANSFER:
            amounts = [count * amount for amount in _thousandths(jobs[job].get(ROLES[role]))]
            held[server] += [(start_ms, 1, amounts), (end_ms, -1, amounts)]
    for server, changes in held.items():
        capacity, total = _thousandths(servers[server]["capacity"]), [0] * len(AMOUNTS)
        for at_ms, sign, amounts in sorted(changes, key=lambda change: change[:2]):
            total = [t + sign * a for t, a in zip(total, amounts, strict=True)]
            if any(total[r] > capacity[r] for r in range(counted)):
                problems.append(f"server {servers[server]['name']}: holds {total} of {capacity} thousandths from {at_ms} ms")
                break
    for (_, server, lane), spans in on.items():
        spans.sort()
        if any(after[0] < before[1] for before, after in pairwise(spans)):
            problems.append(f"server {servers[server]['name']}: two stand on lane {lane} at a time")


def _check_completions(stages: Sequence[Stage], jobs: Sequence[Row], told: Told, problems: list[str]) -> None:
    horizon, slot_ms = stages[0].cluster["horizon_slots"], stages[0].cluster["slot_ms"]
    for job, bars in told.bars.items():
        for bar in bars:
            if bar[3] < jobs[job]["arrival_ms"] or (horizon is not None and bar[4] > horizon * slot_ms):
                problems.append(f"job {jobs[job]['id']}: runs before its arrival or behind the horizon: {bar}")
    for job, (at_ms, utility) in told.completed.items():
        row, bars = jobs[job], told.bars.get(job, [])
        if at_ms != max((bar[4] for bar in bars if bar[1] == WORKER), default=-1):
            problems.append(f"job {row['id']}: completes at {at_ms} ms, not when its last worker stops")
        if not _same(utility, _utility(stages[0].cluster, row, at_ms)):
            problems.append(f"job {row['id']}: completes with a utility of {utility!r}")
        shares = [
            _done(stage, end, row, bars) for stage, end in zip(stages, [s.at_ms for s in stages[1:]] + [1 << 62], strict=True)
        ]
        if all(share is not None for share in shares) and math.fsum(share or 0.0 for share in shares) < 1 - 1e-6:
            problems.append(f"job {row['id']}: completes after {math.fsum(share or 0.0 for share in shares):.6f} of its work")


def _done(stage: Stage, end_ms: int, job: Row, bars: Iterable[Sequence[int]]) -> float | None:
    """The share of the job's work that is done in the stage; None where nobody checks it (groups)."""
    own = [
        (bar[1], bar[2], max(bar[3], stage.at_ms), min(bar[4], end_ms), bar[5], bar[8])
        for bar in bars
        if bar[3] < end_ms and bar[4] > stage.at_ms and bar[1] != TRANSFER
    ]
    if not own:
        return 0.0
    if stage.scheduler in KINDS:
        speed = 1.0 + (stage.parameters.get("speed_augmentation") or 0.0)
        return sum(
            _chunk_share(job, server == CLOUD, speed) * count * (b - a) for role, server, a, b, count, _ in own if role == WORKER
        )
    world = _world(stage.cluster, {"scheduler": stage.scheduler, "parameters": stage.parameters})
    if world is None or any(job.get(part) is None for part in PARTS[world]):
        return None
    total = job["epochs"] * (job["num_chunks"] * job["minibatches_per_chunk"] if world == "oasis" else job["num_samples"])
    bandwidth = _thousandths(job["worker"])[4]
    done = 0.0
    for begin, end in pairwise(sorted({ms for bar in own for ms in bar[2:4]})):
        standing = [bar for bar in own if bar[2] <= begin < bar[3]]
        workers = sum(bar[4] for bar in standing if bar[0] == WORKER)
        if workers:
            done += workers * (end - begin) / _work_ms(job, bandwidth, world, len({bar[1] for bar in standing}) == 1)
    return done * (1 + CLOSE) / total


def _chunk_share(job: Row, together: bool, speed: float) -> float:
    """Of the job's work, what one worker does in a ms; in the cloud at the better of its rates."""
    each_ms = job["minibatch_ms"] + (job.get("ps_update_ms") or 0.0)
    rate = (job.get("worker") or {}).get("bandwidth") or 0
    if not together and job.get("gradient_mb") and rate:
        each_ms += 2 * 8 * job["gradient_mb"] / rate
    return 1 / (job["num_chunks"] * max(1.0, job["epochs"] * job["minibatches_per_chunk"] * each_ms / speed))
