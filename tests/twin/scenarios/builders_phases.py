"""Clusters and jobs of every profile under random edits at later moments."""

from __future__ import annotations

from scheduling.kernel.registry import build
from scheduling.workloads import generate
from twin.scenarios.edits import parse, phases
from twin.scenarios.edits.base import ScenarioState


def scenario_state(profile, name, seed, *, jobs=14, servers=6, **options):
    cluster, rows = generate(profile, num_jobs=jobs, num_servers=servers, seed=seed, **options)
    return ScenarioState(cluster, rows, name, {"model": "pd-ors"} if (profile, name) == ("pd-ors", "oasis") else {})


def some_edits(draw, base, last_ms):
    """Up to four edits at random moments, of verbs that can stand anywhere."""
    names = [server.name for server in base.cluster.servers]
    made = []
    for _ in range(draw.randint(1, 4)):
        at_ms = draw.randrange(1, last_ms)
        which = draw.choice(names)
        made.append(draw.choice([
            {"verb": "add_servers", "like": which, "count": draw.randint(1, 3)},
            {"verb": "remove_servers", "servers": which},
            {"verb": "fail_servers", "servers": which, "for_ms": draw.randrange(1, last_ms)},
            {"verb": "drain_servers", "servers": which, "from_ms": at_ms + draw.randrange(last_ms),
             "to_ms": at_ms + 2 * last_ms},
            {"verb": "resize_servers", "servers": which, "resource": draw.choice(("gpu", "cpu", "memory")),
             "amount": draw.choice((0, 2, 8, 64))},
            {"verb": "scale_arrivals", "factor": draw.choice((0.5, 3))},
            {"verb": "drop_jobs", "jobs": base.jobs[-1].id},
            {"verb": "add_jobs", "like": base.jobs[0].id, "arrival_ms": at_ms + draw.randrange(last_ms), "count": 2},
            {"verb": "delay_jobs", "jobs": base.jobs[-1].id, "by_ms": draw.randrange(1, last_ms)},
        ]) | {"at_ms": at_ms})  # fmt: skip
    return made


def last_event_ms(base):
    horizon = base.cluster.horizon_slots
    until = max(job.arrival_ms for job in base.jobs) * 2 + base.cluster.slot_ms
    return min(until, horizon * base.cluster.slot_ms - 1) if horizon else until


def staged(base, edits):
    stages = phases(base, parse(edits))
    for stage in stages:
        build(stage.state.scheduler, stage.state.parameters).check(stage.state.cluster)
    return stages
