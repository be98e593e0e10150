"""How the schedulers that form groups are played and checked in tests."""

import csv
import json

from scheduling.kernel.realized_schedule import Futures
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import Placement
from scheduling.verification.verify import verify
from tests.scheduling.builders import output_of_run
from twin.files.groups_csv import GroupHistory
from twin.infra.columns import pack_state, unpack_state

SCHEDULERS = ("harmony", "oracle", "isolated", "naive_colocation", "gavel")


def events_of(cluster, jobs, scheduler, parameters=None, seed=0):
    return list(Simulation(cluster, jobs, build(scheduler, parameters or {}), seed).events())


def verified(cluster, jobs, scheduler, parameters=None, seed=0):
    """The events of a run in which the verifier finds no problem."""
    rows, events = _played(cluster, jobs, scheduler, parameters, seed)
    problems = verify(**rows)
    assert problems == [], problems
    return events


def rows_of(cluster, jobs, scheduler, parameters=None, seed=0):
    """The rows that the verifier reads, groups.csv among them."""
    return _played(cluster, jobs, scheduler, parameters, seed)[0]


def _played(cluster, jobs, scheduler, parameters, seed):
    """Rows of the verifier and events of a run."""
    simulation = Simulation(cluster, jobs, build(scheduler, parameters or {}), seed)
    events = list(simulation.events())
    rows = output_of_run(simulation, events)
    futures, history = Futures(), GroupHistory()
    for event in events:
        futures.feed(event)
        history.feed(event)
    rows["schedule"] = [
        {
            "job": jobs[bar.job].id, "chunk": "", "role": "worker", "server": "", "lane": "", "group": str(bar.group),
            "count": str(bar.count), "start_ms": str(bar.start_ms), "end_ms": str(bar.end_ms),
        }
        for bar in map(Placement._make, futures.matrix().tolist())
    ]  # fmt: skip
    rows["groups"] = list(csv.DictReader("".join(history.lines(cluster, jobs)).splitlines()))
    return rows, events


def in_pieces(cluster, jobs, scheduler, cuts, parameters=None, seed=0):
    """The events of a run that is saved as bytes and restored after some numbers of events."""
    simulation, events = Simulation(cluster, jobs, build(scheduler, parameters or {}), seed), []
    for cut in cuts:
        events += simulation.run_until(max_events=cut)
        saved = pack_state(simulation.state())
        simulation = Simulation(cluster, jobs, build(scheduler, parameters or {}), seed)
        simulation.restore(unpack_state(saved))
        assert pack_state(simulation.state()) == saved
    return events + list(simulation.events())


def encoded(events):
    return [json.dumps(event) for event in events]


def groups_at(events, at_ms):
    """{group: data} of the groups that stand after the events of that moment."""
    standing = {}
    for event in events:
        if event.at_ms > at_ms:
            break
        if event.kind == "grouped":
            standing[event.data["group"]] = event.data
    return {group: data for group, data in standing.items() if data["jobs"]}
