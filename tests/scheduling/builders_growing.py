"""Runs that hear of each job just before it arrives, and the part of a log that does not depend on that."""

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation


def fed(cluster, jobs, name, known=3, parameters=None):
    """A run that hears of each job only at the last step before it arrives; its simulation and its events."""
    simulation = Simulation(cluster, jobs[:known], build(name, parameters), 1, open_ended=True)
    events = list(simulation.run_until(0))
    for job in jobs[known:]:
        while some := simulation.run_until(job.arrival_ms - 1):
            events += some
        events += simulation.add_jobs([job])
    simulation.close()
    return simulation, events + list(simulation.events())


def facts(events, without=()):
    """What happened, without how it came to be known, and without events of the kinds `without`."""
    left_out = ("job_added", "run_started", *without)
    logged = [(e.at_ms, e.kind, e.data) for e in events if e.kind not in left_out]
    return [
        (at_ms, kind, {**data, "bars": [tuple(bar) for bar in data["bars"]]} if "bars" in data else data)
        for at_ms, kind, data in logged
    ]
