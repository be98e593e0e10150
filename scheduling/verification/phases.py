"""Verifier of the log of a run of several phases, from plain rows alone.

It shares no code with schedulers or hand-over.

Each phase has its own cluster; jobs and servers are named by their numbers in the last one, which every phase before
begins with. The bars of a phase must fit that phase's servers, and a job completes once its work is done, however often
it was moved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from scheduling.model.bars import END, JOB, ROLE, SERVER, START
from scheduling.verification.by_model import RULES, check_stated, no_rules
from scheduling.verification.replay import CLOUD, FOREVER, ROLES, Outcome, cut, replay
from scheduling.verification.rules import PS, TRANSFER, WORKER, Row, Stage, held_by, same, thousandths
from scheduling.verification.schema import AMOUNTS, check_events, check_inputs
from scheduling.verification.verify import filled, utility_of


def verify_phases(stages: Sequence[Stage], jobs: Sequence[Row], events: Iterable[Any], jobs_at_first: int) -> list[str]:
    """Problems as sentences. jobs: of the last stage; jobs_at_first: number of jobs of the first one."""
    problems: list[str] = []
    last = stages[-1].cluster
    check_inputs(last, jobs, problems)
    log = check_events(events, problems)
    if problems:
        return problems
    _check_rules(stages, log, problems)
    if problems:
        return problems
    begins = {"jobs": jobs_at_first, "servers": len(stages[0].cluster["servers"])}
    stages = [stage._replace(cluster=filled(stage.cluster)) for stage in stages]
    last = stages[-1].cluster
    # it may have been switched off
    cloud = next((stage.cluster["cloud"] for stage in stages if stage.cluster["cloud"]), None)
    outcome = replay({**last, "cloud": cloud}, jobs, log, problems, [stage.at_ms for stage in stages[1:]], begins)
    ends = [stage.at_ms for stage in stages[1:]] + [FOREVER]
    for stage, end_ms in zip(stages, ends, strict=True):
        bars = [
            cut(bar, stage.at_ms, end_ms)
            for plan in outcome.bars.values()
            for bar in plan
            if bar[START] < end_ms and bar[END] > stage.at_ms
        ]
        _check_stage(stage, jobs, bars, problems)
    _check_completions(stages, jobs, outcome, problems)
    if not problems:  # groups of a log that contradicts itself are not followed
        for model in dict.fromkeys(stage.execution["model"] for stage in stages):
            RULES[model].check_phases(stages, jobs, log, problems)
    return problems


def _check_rules(stages: Sequence[Stage], log: Sequence[Row], problems: list[str]) -> None:
    """Check that every phase has rules, and that the log states the same ones."""
    check_stated(log, problems)
    stated = [event["data"].get("execution") for event in log if event["kind"] in ("run_started", "edited")]
    for place, stage in enumerate(stages):
        at = f"phase {place} of scheduler {stage.scheduler}"
        if problem := no_rules(stage.execution, stage.parameters):
            problems.append(f"{at}: {problem}")
        if place < len(stated) and stated[place] not in (None, stage.execution):
            problems.append(f"{at}: the log states the execution {stated[place]}, not {stage.execution}")


def _check_stage(stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]) -> None:
    servers = stage.cluster["servers"]
    if not stage.cluster["cloud"]:
        stray = sorted({bar[JOB] for bar in bars if bar[SERVER] == CLOUD})
        problems += [
            f"events.jsonl: job {jobs[job]['id']} uses the cloud after {stage.at_ms} ms, but the cluster has none"
            for job in stray
        ]
    counted = [r for r, name in enumerate(AMOUNTS) if name in stage.execution["packs"]]
    held: dict[int, list[tuple[int, int, list[int]]]] = defaultdict(list)
    known = []
    for bar in bars:
        job, role, server, start_ms, end_ms, count, *_ = bar
        at = f"job {jobs[job]['id']} from {start_ms} to {end_ms} ms"
        if server >= len(servers):
            problems.append(f"{at} is on server {server}, which does not exist yet")
            continue
        known.append(bar)
        if server < 0:
            continue
        row = servers[server]
        if any(start_ms < back and end_ms > gone for gone, back in row["away"]):
            problems.append(f"{at} is on server {row['name']}, which is unavailable")
        if role != TRANSFER:
            if role in (WORKER, PS) and ROLES[role] not in row["roles"]:
                problems.append(f"{at}: server {row['name']} does not accept the role {ROLES[role]}")
            amounts = [count * amount for amount in held_by(jobs[job], ROLES[role])]
            held[server] += [(start_ms, 1, amounts), (end_ms, -1, amounts)]
    for server, changes in held.items():
        capacity, total = thousandths(servers[server]["capacity"]), [0] * len(AMOUNTS)
        for at_ms, sign, amounts in sorted(changes, key=lambda change: change[:2]):
            total = [t + sign * a for t, a in zip(total, amounts, strict=True)]
            if any(total[r] > capacity[r] for r in counted):
                problems.append(
                    f"server {servers[server]['name']} holds {total} of {capacity} thousandths from {at_ms} ms"
                )
                break
    RULES[stage.execution["model"]].check_stage(stage, jobs, known, problems)


def _check_completions(stages: Sequence[Stage], jobs: Sequence[Row], outcome: Outcome, problems: list[str]) -> None:
    horizon, slot_ms = stages[0].cluster["horizon_slots"], stages[0].cluster["slot_ms"]
    for job, bars in outcome.bars.items():
        for bar in bars:
            if bar[START] < jobs[job]["arrival_ms"] or (horizon is not None and bar[END] > horizon * slot_ms):
                problems.append(f"job {jobs[job]['id']} runs before its arrival or after the horizon: {bar}")
    for job, (at_ms, utility) in outcome.completed.items():
        row, bars = jobs[job], outcome.bars.get(job, [])
        if at_ms != max((bar[END] for bar in bars if bar[ROLE] == WORKER), default=-1):
            problems.append(f"job {row['id']} completes at {at_ms} ms, not when its last worker stops")
        if not same(utility, utility_of(stages[0].cluster, row, at_ms)):
            problems.append(f"job {row['id']} completes with a utility of {utility!r}")
        shares = [
            _done(stage, end, row, bars)
            for stage, end in zip(stages, [s.at_ms for s in stages[1:]] + [FOREVER], strict=True)
        ]
        if all(share is not None for share in shares) and math.fsum(share or 0.0 for share in shares) < 1 - 1e-6:
            problems.append(
                f"job {row['id']} completes after {math.fsum(share or 0.0 for share in shares):.6f} of its work"
            )


def _done(stage: Stage, end_ms: int, job: Row, bars: Iterable[Sequence[int]]) -> float | None:
    """Share of the job's work that is done in the stage; None where its model does not determine it by bars."""
    own = [
        cut(bar, stage.at_ms, end_ms)
        for bar in bars
        if bar[START] < end_ms and bar[END] > stage.at_ms and bar[ROLE] != TRANSFER
    ]
    return RULES[stage.execution["model"]].share_done(stage, job, own) if own else 0.0
