"""Jobs of a cut as jobs of the model: mapped as imported ones, with their durations, and run by every scheduler."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduling.kernel.registry import build, names, schedulers
from scheduling.kernel.simulation import simulate
from scheduling.model.values import Cluster
from tests.twin.mirror.builders import NODES, Log, S, job, polled, running
from tests.twin.mirror.whatif.builders_servers import servers_of
from twin.mirror.whatif.cut import ASSUMED, LIMIT, Choice, cut
from twin.mirror.whatif.jobs import SLOTS_MS, drafts_of, job_of, job_table, slot_for
from twin.traces.importers._shared.shapes import shapes

MINUTE = 60 * S


def some():
    """Two jobs that run and two that wait, with limits of whole minutes."""
    log = Log()
    limits = {"a": 7, "b": 10, "c": 3, "d": 20}
    facts = [
        running("a", 0, limit_ms=limits["a"] * MINUTE),
        running("b", 0, node="cloud1", limit_ms=limits["b"] * MINUTE, user="ann"),
    ]
    facts += [job(name, limit_ms=limits[name] * MINUTE) for name in "cd"]
    log.apply(polled(0, *facts))
    return cut(log.mirror, MINUTE, servers_of(log.mirror), set(), Choice())


def test_a_job_has_the_shape_of_an_imported_one():
    found = some()
    drafts = drafts_of(found.parts)
    workers, demand = shapes(np.array([2.0] * 4), np.array([2.0] * 4), np.array([4_194.0] * 4))
    assert drafts.workers.tolist() == workers.tolist() == [2] * 4
    demand[:, 1] -= 1  # a thousandth of a CPU is for its parameter server
    assert drafts.demand[:, :3].tolist() == demand[:, :3].tolist()
    table = job_table(found.parts, SLOTS_MS[0])
    one = next(iter(table.jobs()))
    assert (one.id, one.arrival_ms, one.requested_workers, one.worker) == ("a", MINUTE, 2, (1_000, 999, 2_097, 0, 0))
    assert (one.ps, one.gradient_mb) == ((0, 1, 0, 0, 0), 0.0)
    assert (one.provenance["minibatch_ms"], one.provenance["utility"]) == (LIMIT, "drawn")
    assert [job.user for job in table.jobs()] == [None, "ann", None, None]


def test_a_job_that_fills_a_node_fits_on_it_again():
    """8 CPUs for 3 GPUs: 3 x 2.667 would be more than the node has."""
    _, demand = shapes(np.array([3.0]), np.array([8.0]), np.array([16_000.0]), np.floor)
    assert demand[0, 1] * 3 <= 8_000
    assert demand[0, 2] * 3 <= 16_000


def test_a_job_is_the_same_in_every_cut():
    found = some()
    whole = list(job_table(found.parts, SLOTS_MS[0]).jobs())
    assert [job_of(part, SLOTS_MS[0]) for part in found.parts] == whole


def test_with_fifo_every_job_takes_what_it_was_believed_to_take():
    found = some()
    cluster = Cluster(name="lab", slot_ms=SLOTS_MS[0], servers=tuple(found.servers))
    jobs = list(job_table(found.parts, cluster.slot_ms).jobs())
    starts, ends = {}, {}
    for event in simulate(cluster, jobs, build("fifo", {"backfill": True}), 0):
        if event.kind == "decided":
            assert event.data["kind"] == "started"
            starts[jobs[event.data["job"]].id] = event.at_ms
        elif event.kind == "job_completed":
            ends[jobs[event.data["job"]].id] = event.at_ms
    assert {name: ends[name] - starts[name] for name in ends} == {part.known.name: part.run_ms for part in found.parts}
    assert starts == dict.fromkeys("abcd", MINUTE), "all of them fit, running ones first"


@pytest.mark.parametrize("name", names())
def test_every_scheduler_runs_the_jobs_of_a_cut(name):
    if name not in schedulers():
        pytest.skip(f"scheduler {name} is not available here")
    found = some()
    cluster = Cluster(name="lab", slot_ms=SLOTS_MS[0], servers=tuple(found.servers))
    scheduler = build(name)
    scheduler.check(cluster)
    events = list(simulate(cluster, list(job_table(found.parts, cluster.slot_ms).jobs()), scheduler, 0))
    assert events[-1].kind == "run_finished"
    over = {event.data["job"] for event in events if event.kind == "job_completed"}
    rejected = {event.data["job"] for event in events if event.kind == "decided" and event.data["kind"] == "rejected"}
    codes = {event.data["code"] for event in events if event.kind == "decided"}
    assert over | rejected == set(range(4))
    assert over
    assert "missing_part" not in codes, "no job lacks what the scheduler needs"


def test_the_slot_grows_with_the_longest_job():
    parts = some().parts
    assert slot_for(parts) == SLOTS_MS[0]
    assert slot_for([parts[0]._replace(run_ms=30 * 86_400_000, origin=ASSUMED)]) == 3_600_000
    assert slot_for([]) == SLOTS_MS[0]


def test_a_cut_without_jobs_is_an_empty_table():
    assert len(job_table([], SLOTS_MS[0])) == 0


@pytest.mark.parametrize("name", ["fifo", "pd_ors", "drf", "oasis", "dorm", "rrh"])
def test_a_cluster_that_is_full_of_workers_has_room_for_their_parameter_servers(name):
    """Two jobs hold every GPU and every CPU of both nodes; nothing is placed on a node that is not available."""
    log = Log()
    whole = {"gpus": 4, "limit_ms": 10 * MINUTE}
    held = [running("a", 0, **whole), running("b", 0, node="cloud1", **whole)]
    full = [replace(fact, attempts=(replace(fact.attempts[0], shares=(_all(fact),)),)) for fact in held]
    log.apply(polled(0, *full, nodes=(*NODES, replace(NODES[0], name="gone", state="down"))))
    found = cut(log.mirror, MINUTE, servers_of(log.mirror), set(), Choice())
    cluster = Cluster(name="lab", slot_ms=SLOTS_MS[0], servers=tuple(found.servers))
    jobs = list(job_table(found.parts, cluster.slot_ms).jobs())
    events = list(simulate(cluster, jobs, build(name), 0))
    bars = [bar for event in events for bar in event.data.get("bars", ())]
    assert {bar.server for bar in bars} <= {0, 1}
    if name == "fifo":
        assert [event.at_ms for event in events if event.kind == "job_completed"] == [10 * MINUTE] * 2


def _all(fact):
    return replace(fact.attempts[0].shares[0], cpus=8, memory_mb=16_000)
