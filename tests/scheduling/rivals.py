"""Runs and checks of the schedulers that plan again at every event."""

import numpy as np

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.slotted.workload_pd_ors import pd_ors
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.scheduling.builders import ROLES, output_of_run

# changes of a job that then can never run on servers with 2 GPUs, and the reason of its rejection
REFUSED = [
    ({"worker": (3_000, 0, 0, 0, 1_000)}, "fits_nowhere"), ({"minibatch_ms": None}, "missing_part"),
    ({"worker": (0, 0, 0, 0, 3_000)}, "ps_too_slow"),
]  # fmt: skip


def workload(world, num_jobs=40, num_servers=20, seed=0, slots=40):
    if world == "oasis":
        return generate("oasis", num_jobs=num_jobs, num_servers=num_servers, seed=seed, horizon_slots=slots)
    return pd_ors("calibrated", num_jobs, num_servers, seed, slots, 3_600_000)


def events_of(cluster, jobs, scheduler, seed=0, **parameters):
    return list(Simulation(cluster, jobs, build(scheduler, parameters), seed).events())


def bars_of(events):
    """{job: bars as they were}: a plan replaces the future of the one before."""
    bars = {}
    for event in events:
        if event.kind == "plan_changed":
            (job,) = event.data["keys"]
            past = [
                bar._replace(end_ms=min(bar.end_ms, event.at_ms))
                for bar in bars.get(job, ())
                if bar.start_ms < event.at_ms
            ]
            bars[job] = past + list(event.data["bars"])
    return bars


def workers(events, job):
    """(start, end, workers) of each stretch of the job, in order, without the places."""
    spans = {}
    for bar in bars_of(events).get(job, ()):
        if bar.role == 0:
            spans[bar.start_ms, bar.end_ms] = spans.get((bar.start_ms, bar.end_ms), 0) + bar.count
    return [(*span, count) for span, count in sorted(spans.items())]


def decided(events):
    return [(e.at_ms, e.data["job"], e.data["kind"], e.data["code"]) for e in events if e.kind == "decided"]


def completed(events):
    return {e.data["job"]: e.at_ms for e in events if e.kind == "job_completed"}


def verified(cluster, jobs, scheduler, seed=0, **parameters):
    """The events of a run in which the verifier finds no problem."""
    simulation = Simulation(cluster, jobs, build(scheduler, parameters), seed)
    events = list(simulation.events())
    problems = verify(**rows_of(simulation, events))
    assert problems == [], problems
    return events


def rows_of(simulation, events):
    """The rows that the verifier reads, of a run that has ended."""
    rows, jobs = output_of_run(simulation, events), simulation.records
    names = [server.name for server in simulation.cluster.servers]
    rows["schedule"] = [
        {
            "job": jobs[bar.job].id, "chunk": "", "role": ROLES[bar.role], "server": names[bar.server], "lane": "",
            "group": "", "count": str(bar.count), "start_ms": str(bar.start_ms), "end_ms": str(bar.end_ms),
        }
        for bars in bars_of(events).values() for bar in bars
    ]  # fmt: skip
    return rows


def in_pieces(cluster, jobs, scheduler, cuts, seed=0, **parameters):
    """The events of a run that is saved and restored after some numbers of events."""
    simulation = Simulation(cluster, jobs, build(scheduler, parameters), seed)
    events = []
    for cut in cuts:
        events += simulation.run_until(max_events=cut)
        state = simulation.state()
        simulation = Simulation(cluster, jobs, build(scheduler, parameters), seed)
        simulation.restore(state)
    return events + list(simulation.events())


def cuts_of(events, seed):
    return np.random.default_rng(seed).integers(1, max(2, len(events) // 3), size=3).tolist()
