"""The part `groups` of the metrics of summary.json, recomputed from the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduling.verification.rules import Row


def metrics_of(
    cluster: Row, jobs: Sequence[Row], log: Iterable[Row], done: Mapping[str, int]
) -> dict[str, float | None] | None:
    """Means over time, weighted by duration, and counts; None without group events."""
    first_ms = min((job["arrival_ms"] for job in jobs), default=0)
    last_ms = max(done.values(), default=first_ms)
    ends = {index: done[job["id"]] for index, job in enumerate(jobs) if job["id"] in done}
    present: dict[int, Row] = {}
    sums = {"cpu_utilization": 0.0, "net_utilization": 0.0, "mean_jobs": 0.0, "mean_groups": 0.0, "machines": 0.0}
    counts = {"regroupings": 0, "moves": 0}
    reached, stated = first_ms, False
    for event in log:
        until = min(event["at_ms"], last_ms)
        if until > reached:
            for data in present.values():
                width = until - reached
                parts = (data[name] for name in ("jobs", "comp_ms", "comm_ms", "pace_ms", "ready_ms"))
                for job, comp, comm, pace, ready in zip(*parts, strict=False):  # group_checks.py checks their lengths
                    over = min(until, ends.get(job, until))  # a group may outlast its jobs
                    # a moving job is not ready yet
                    iterations = max(0, over - max(reached, ready)) / pace if pace > 0 else 0.0
                    sums["cpu_utilization"] += data["machines"] * comp * iterations
                    sums["net_utilization"] += data["machines"] * comm * iterations
                sums["mean_jobs"] += len(data["jobs"]) * width
                sums["mean_groups"] += width
                sums["machines"] += data["machines"] * width
            reached = until
        if event["kind"] == "grouped":
            stated = True
            present[event["data"]["group"]] = event["data"]
            if not event["data"]["jobs"]:
                del present[event["data"]["group"]]
        counts["regroupings"] += event["kind"] == "regrouped"
        counts["moves"] += event["kind"] == "decided" and event["data"]["kind"] == "moved"
    if not stated:
        return None
    machines, duration = sums.pop("machines"), sums["mean_groups"]
    lasted = last_ms - first_ms
    outages = [outage for server in cluster["servers"] for outage in server["away"]]
    gone = sum(max(0, min(end, last_ms) - max(begin, first_ms)) for begin, end in outages)
    area = lasted * len(cluster["servers"]) - gone
    over = {name: area if name.endswith("utilization") else lasted for name in sums}
    means = {name: value / over[name] if over[name] else None for name, value in sums.items()}
    return {**means, "mean_parallelism": machines / duration if duration else None, **counts}
