"""What the verifier reads of a run, servers that leave, and curves: shared by the tests of schedulers."""

import json
from dataclasses import asdict, replace

import numpy as np

from scheduling.kernel.realized_schedule import Futures
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import CLOUD, Placement
from scheduling.model.values import RESOURCES, Cluster
from scheduling.reporting.metrics import summarize
from scheduling.slotted.solvers.slot_cost import prefix, relaxed_marginals
from scheduling.workloads import generate

ROLES = ("worker", "ps", "transfer")


def whole(demand):
    return {name: amount / 1000 for name, amount in zip(RESOURCES, demand, strict=True)}


def output(scheduler, num_jobs=40, num_servers=20, seed=3, utility=None, **parameters):
    """What `simulate` writes, as plain rows: cluster, jobs, schedule, decisions, events, summary."""
    cluster, jobs = generate("oasis", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=60)
    return output_of(
        cluster, [replace(job, utility=utility or job.utility) for job in jobs], scheduler, seed, parameters
    )


def output_of(cluster, jobs, scheduler, seed, parameters):
    """The same of a cluster and jobs."""
    simulation = Simulation(cluster, jobs, build(scheduler, parameters), seed)
    return output_of_run(simulation, list(simulation.events()))


def output_of_run(simulation, events):
    """The same of a run that has ended."""
    cluster, jobs, scheduler, seed = simulation.cluster, simulation.records, simulation.scheduler.name, simulation.seed
    names = [server.name for server in cluster.servers]
    futures = Futures()
    for event in events:
        futures.feed(event)
    shown = [str(n) if n >= 0 else "" for n in range(-1, 1_000)]
    schedule = [
        {
            "job": jobs[bar.job].id, "chunk": shown[bar.chunk + 1], "role": ROLES[bar.role],
            "server": "cloud" if bar.server == CLOUD else names[bar.server], "lane": shown[bar.worker_slot + 1],
            "group": "",
            "count": str(bar.count), "start_ms": str(bar.start_ms), "end_ms": str(bar.end_ms),
        }
        for bar in map(Placement._make, futures.matrix().tolist())
    ]  # fmt: skip
    decisions = [
        {
            "seq": event.seq, "at_ms": event.at_ms, "job": jobs[event.data["job"]].id, "kind": event.data["kind"],
            "reason": {"code": event.data["code"], "values": event.data["values"]},
        }
        for event in events if event.kind == "decided"
    ]  # fmt: skip
    demands = [{role: whole(demand) for role in ("worker", "ps") if (demand := getattr(job, role))} for job in jobs]
    rows = {
        "cluster": {
            "name": cluster.name, "slot_ms": cluster.slot_ms, "horizon_slots": cluster.horizon_slots,
            "cloud": {"unlimited": True} if cluster.unlimited_cloud else None,
            "servers": [asdict(server) | {"capacity": whole(server.capacity)} for server in cluster.servers],
        },
        "jobs": [asdict(job) | demand for job, demand in zip(jobs, demands, strict=True)],
        "schedule": schedule,
        "decisions": decisions,
        "events": [event._asdict() for event in events],
        "summary": {
            "scheduler": scheduler, "parameters": asdict(simulation.scheduler.parameters), "seed": seed,
            "execution": simulation.scheduler.execution_on(cluster),
            "metrics": summarize(events, cluster, jobs), "certificate": None, "decision_ms": None, "wall_s": 0.1,
            **({} if simulation.knowledge is None else {"beliefs": simulation.knowledge.beliefs.name}),
        },
    }  # fmt: skip
    return json.loads(json.dumps(rows, default=lambda array: array.tolist()))  # as they come from files


def with_away(cluster, away):
    """{server name: intervals}"""
    return replace(cluster, servers=tuple(replace(s, away=away.get(s.name, ())) for s in cluster.servers))


def random_away(cluster: Cluster, rng: np.random.Generator, slots: int) -> Cluster:
    """Half of the servers leave once or twice, sometimes in the middle of a slot."""
    away = {}
    for server in cluster.servers:
        if rng.random() < 0.5:
            times = np.sort(rng.choice(slots * 4, size=2 * int(rng.integers(1, 3)), replace=False)) * (
                cluster.slot_ms // 4
            )
            away[server.name] = tuple((int(a), int(b)) for a, b in times.reshape(-1, 2))
    return with_away(cluster, away)


def curves_of(worker: np.ndarray, ps: np.ndarray, needed: np.ndarray, ratio: float):
    """Curves as the solver asks for them, from marginal costs [slot, unit] of workers and parameter servers."""
    cost = prefix(worker) + prefix(ps)[:, needed]
    relaxed = relaxed_marginals(worker, ps, ratio)
    return lambda first, past: (cost[first:past], relaxed[first:past])
