"""Check of summary.json: its metrics are recomputed from the log, its certificate is compared with the run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import END, ROLE, SERVER
from scheduling.model.values import shorten
from scheduling.verification.by_model import RULES
from scheduling.verification.capacities import Steps, amounts_at, capacities_of
from scheduling.verification.replay import ROLES, Outcome
from scheduling.verification.rules import CLOSE, TRANSFER, WORKER, Output, Row, same
from scheduling.verification.schema import AMOUNTS, TIME_BOUNDS

Demands = Mapping[tuple[str, str], Steps]  # of (job, role): what a unit holds


def check_summary(given: Output, demands: Demands, problems: list[str]) -> None:
    """Check of what summary.json states: scheduler, metrics, times of decisions and certificate."""
    summary, expected = given.summary, _expected(given, demands)
    for name in ("scheduler", "parameters", "seed", "execution", "beliefs"):
        if summary.get(name) != given.outcome.started.get(name):
            stated, logged = (shorten(repr(part.get(name))) for part in (summary, given.outcome.started))
            problems.append(f"summary.json: {name} is {stated}, but the run of events.jsonl had {logged}")
    metrics = summary["metrics"]
    for rules in RULES.values():
        if rules.part in metrics and rules.part not in expected:
            problems.append(
                f"summary.json: {rules.part} must not be there: no phase of events.jsonl has the model {rules.name}"
            )
    for path, value in _nested((), expected).items():
        found: Any = metrics
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if (value is None) != (found is None) or (value is not None and not same(found, value)):
            problems.append(f"summary.json: {'.'.join(path)} is {found!r}, recomputed {value!r}")
    times = summary["decision_ms"]
    if times is not None and not times["p50"] <= times["p95"] <= times["max"]:
        problems.append(f"summary.json: decision_ms must have p50 <= p95 <= max, got {times}")
    if summary["certificate"] is not None:
        _check_certificate(summary["certificate"], expected, problems)


def _check_certificate(certificate: Row, expected: Row, problems: list[str]) -> None:
    """Check of the certificate's form and of its run only: the bound is proved where it is computed."""
    achieved, bound, ratio = certificate["achieved"], certificate["bound"], certificate["ratio"]
    about = TIME_BOUNDS.get(certificate["kind"], "utility")
    total = {
        "utility": expected["total_utility"] or 0.0,
        "total completion time": (expected["mean_jct_ms"] or 0) * expected["completed"],
        "makespan": expected["makespan_ms"]
        if expected["completed"] == expected["jobs"]
        else achieved,  # of those that completed
    }[about]
    if not same(achieved, total):
        problems.append(f"summary.json: the certificate states a {about} of {achieved!r}, but the run has {total!r}")
    _check_ratio("the certificate", about, achieved, bound, ratio, problems)
    if "edge_only" in certificate:
        edge = certificate["edge_only"]
        _check_ratio("the certificate of edge servers", about, achieved, edge["bound"], edge["ratio"], problems)


def _check_ratio(what: str, about: str, achieved: float, bound: float, ratio: float, problems: list[str]) -> None:
    low, high = (achieved, bound) if about == "utility" else (bound, achieved)
    if not 0 <= low <= high * (1 + CLOSE):
        problems.append(f"summary.json: {what} bounds a {about} of {achieved!r} by {bound!r}")
    elif high > 0 and not abs(ratio - low / high) <= 2e-4:
        problems.append(f"summary.json: {what} has the ratio {ratio!r}, and {low!r} of {high!r} are {low / high:.6f}")


def _expected(given: Output, demands: Demands) -> dict[str, Any]:
    """The metrics of summary.json, recomputed."""
    packs = given.execution["packs"]
    metrics = _metrics(given.cluster, given.jobs, demands, given.outcome, given.done, given.utilities, packs)
    if (
        "execution" not in given.summary
    ):  # older versions also wrote the utilization of resources that their model does not pack
        metrics["utilization"] = {name: share for name, share in metrics["utilization"].items() if name in packs}
    rules = RULES[given.execution["model"]]
    own = rules.metrics(given)
    return metrics if rules.part is None or own is None else metrics | {rules.part: own}


def _metrics(
    cluster: Row, jobs: Sequence[Row], demands: Demands, outcome: Outcome, done: Mapping[str, int],
    utilities: Mapping[str, float], packs: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """The metrics of summary.json, recomputed from the log."""
    arrivals = {job["id"]: job["arrival_ms"] for job in jobs}
    times = sorted(end - arrivals[id_] for id_, end in done.items())
    kinds = list(outcome.first.values())
    bars = [bar for plan in outcome.bars.values() for bar in plan]
    return {
        "total_utility": math.fsum(utilities.values()) if any(job.get("utility") is not None for job in jobs) else None,
        "jobs": len(jobs),
        "admitted": sum(kind in ("admitted", "started") for kind in kinds),
        "rejected": len({event["data"]["job"] for event in outcome.decisions if event["data"]["kind"] == "rejected"}),
        "completed": len(done),
        "mean_jct_ms": sum(times) / len(times) if times else None,
        "median_jct_ms": _quantile(times, 0.5),
        "p95_jct_ms": _quantile(times, 0.95),
        "makespan_ms": max(done.values()) - min(arrivals.values()) if done else None,
        "suspensions": _suspensions(bars),
        "utilization": _utilization(cluster, capacities_of(cluster, outcome), jobs, demands, bars, packs),
    }


def _nested(path: tuple[str, ...], metrics: Row) -> dict[tuple[str, ...], Any]:
    """Nested metrics as one mapping {path: value}."""
    out: dict[tuple[str, ...], Any] = {}
    for name, value in metrics.items():
        out |= _nested((*path, name), value) if isinstance(value, dict) else {(*path, name): value}
    return out


def _suspensions(bars: Sequence[Sequence[int]]) -> int:
    """Gaps between the worker bars of a chunk, or of a job without chunks."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for job, role, _, start_ms, end_ms, _, _, chunk, _ in bars:
        if role == WORKER:
            spans[job, chunk].append((start_ms, end_ms))
    gaps = 0
    for own in spans.values():
        own.sort()
        reached = np.maximum.accumulate([end for _, end in own])
        gaps += int((np.array([start for start, _ in own])[1:] > reached[:-1]).sum())
    return gaps


def _utilization(
    cluster: Row, capacities: Sequence[Steps], jobs: Sequence[Row], demands: Demands, bars: Sequence[Sequence[int]],
    packs: Sequence[str],
) -> dict[str, float | None]:  # fmt: skip
    """Share of capacity x time held, from the first arrival to the last bar's end; only what servers run out of."""
    units = [bar for bar in bars if bar[ROLE] != TRANSFER and bar[SERVER] >= 0]
    if not units:
        return dict.fromkeys(AMOUNTS)
    first, last = min(job["arrival_ms"] for job in jobs), max(bar[END] for bar in units)
    offered = [0] * len(AMOUNTS)
    for server, steps in zip(cluster["servers"], capacities, strict=True):
        from_ms = first
        for until_ms, capacity in steps:
            to_ms = max(from_ms, min(until_ms, last))
            gone = sum(max(0, min(end, to_ms) - max(begin, from_ms)) for begin, end in server["away"])
            offered = [o + amount * (to_ms - from_ms - gone) for o, amount in zip(offered, capacity, strict=True)]
            from_ms = to_ms
    times: dict[tuple[int, ...], int] = defaultdict(int)  # count x ms of each job and role, by the start if it matters
    for job, role, _, start_ms, end_ms, count, *_ in units:
        times[job, role, start_ms if jobs[job].get("earlier_sizes") else 0] += count * (end_ms - start_ms)
    held = [(ms, amounts_at(demands[jobs[job]["id"], ROLES[role]], at)) for (job, role, at), ms in times.items()]
    used = [sum(ms * amounts[r] for ms, amounts in held) for r in range(len(AMOUNTS))]
    return {name: used[r] / offered[r] if offered[r] and name in packs else None for r, name in enumerate(AMOUNTS)}


def _quantile(values: Sequence[float], share: float) -> float | None:
    """Linear between the two nearest of sorted values."""
    if not values:
        return None
    position = share * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)
