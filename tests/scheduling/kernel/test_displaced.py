"""Jobs whose plans an edit ends, worked by hand: one that runs is preempted, one that has not started displaced."""

from scheduling.kernel.changes.phases import Phase
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from tests.scheduling.builders_typed_workers import job, machine, world


def test_only_running_jobs_are_preempted_by_an_edit():
    """One worker: job a runs from 0 to 100 ms, and the chunk of job b is planned behind it. SRTF takes over at 50."""
    cluster, jobs = world(machine()), [job("a", 0, 100), job("b", 1, 100)]
    later = [Phase(50, cluster, jobs, build("srtf", {}), ("another scheduler",))]
    events = list(Simulation(cluster, jobs, build("a_online", {}), 0, later).events())
    lost = [
        (e.at_ms, e.data["job"], e.data["kind"]) for e in events if e.kind == "decided" and "phase" in e.data["values"]
    ]
    assert lost == [(50, 0, "preempted"), (50, 1, "displaced")]
