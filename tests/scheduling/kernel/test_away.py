"""Servers that leave and return: nothing stands on them meanwhile, and no work is lost."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import Placement
from scheduling.model.values import ModelError, Server
from scheduling.slotted.ledger import Overbooked, SlottedLedger
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.scheduling import tiny
from tests.scheduling.builders import output_of, random_away, with_away


def events_of(cluster, jobs, scheduler="fifo", **parameters):
    return list(Simulation(cluster, jobs, build(scheduler, parameters), 0).events())


def test_intervals_are_checked():
    for away in (((5, 5),), ((3, 9), (9, 12)), ((8, 9), (1, 2))):
        with pytest.raises(
            ModelError, match="server s: away must be non-empty intervals in ms, in order and without overlap"
        ):
            Server("s", "edge", (0, 0, 0, 0, 0), away=away)
    server = Server("s", "edge", (0, 0, 0, 0, 0), away=((2, 4), (6, 7)))
    assert [server.is_away(ms) for ms in range(8)] == [False, False, True, True, False, False, True, False]
    assert [server.next_away_ms(ms) for ms in (0, 2, 6)] == [2, 6, None]


def test_the_ledger_has_nothing_free_on_a_server_that_is_away():
    cluster = with_away(tiny.cluster(), {"w0": ((2_000, 3_000),)})
    ledger = SlottedLedger(cluster, [tiny.job()])
    assert [ledger.free(0, ms)[0] for ms in (0, 1_999, 2_000, 2_999, 3_000)] == [2000, 2000, 0, 0, 2000]
    with pytest.raises(
        Overbooked,
        match=r"in \[2000, 3000\) ms, 0 Gbps free; the server is unavailable|0 GPU free; the server is unavailable",
    ):
        ledger.replace(0, {0: [Placement(0, 0, 0, 1_000, 4_000, 1)]})
    assert ledger.free(0, 2_500)[0] == 0
    ledger.replace(0, {0: [Placement(0, 0, 0, 0, 2_000, 1), Placement(0, 0, 0, 3_000, 4_000, 1)]})
    assert ledger.free(0, 0)[0] == 1000


def test_fifo_stops_a_job_and_resumes_it_with_the_work_left():
    """4 worker-slots by 2 workers need 2 slots; the server leaves after one and comes back in slot 3."""
    cluster = with_away(tiny.cluster(slots=8, gpus=2), {"w0": ((1_000, 3_000),)})
    events = events_of(cluster, [tiny.job(work=4, chunks=2)])
    plans = [
        [(bar.start_ms, bar.end_ms) for bar in e.data["bars"] if bar.role == 0]
        for e in events
        if e.kind == "plan_changed"
    ]
    assert plans == [[(0, 1_000)], [], [(3_000, 4_000)]]
    assert [(e.at_ms, e.data["kind"]) for e in events if e.kind == "decided"] == [
        (0, "started"),
        (1_000, "preempted"),
        (3_000, "resumed"),
    ]
    assert [(e.at_ms, e.data) for e in events if e.kind == "server_changed"] == [
        (1_000, {"server": 0, "away": True}), (3_000, {"server": 0, "away": False}),
    ]  # fmt: skip
    assert next(e.at_ms for e in events if e.kind == "job_completed") == 4_000


def test_fifo_waits_for_a_server_that_is_away_from_the_beginning():
    cluster = with_away(tiny.cluster(slots=8), {"w0": ((0, 2_500),)})
    events = events_of(cluster, [tiny.job(work=2, chunks=2)])
    assert next(e.at_ms for e in events if e.kind == "plan_changed") == 3_000


def test_oasis_plans_around_the_absence():
    """1 worker a slot, 3 worker-slots, slot 1 is closed: slots 0, 2 and 3."""
    cluster = with_away(tiny.cluster(slots=6, gpus=1), {"w0": ((1_500, 1_600),)})
    events = events_of(cluster, [tiny.job(work=3, chunks=1)], "oasis", estimate_from="clairvoyant")
    bars = next(e.data["bars"] for e in events if e.kind == "plan_changed")
    assert [(bar.start_ms, bar.end_ms) for bar in bars if bar.role == 0] == [(0, 1_000), (2_000, 4_000)]


@pytest.mark.parametrize(
    "scheduler", [("fifo", {}), ("fifo", {"backfill": True}), ("fifo", {"model": "pd-ors"}), ("oasis", {})]
)
@pytest.mark.parametrize("seed", range(6))
def test_whatever_leaves_the_schedule_is_verified(scheduler, seed):
    """The verifier knows the absences; a run that is cut in two gives the same events."""
    name, parameters = scheduler
    cluster, jobs = generate("oasis", num_jobs=40, num_servers=20, seed=seed, horizon_slots=60)
    cluster = random_away(cluster, np.random.default_rng(seed), 60)
    if parameters.get("model") == "pd-ors":
        jobs = [
            replace(
                job,
                num_samples=20_000,
                global_batch=100,
                sample_ms=1_000.0,
                workers_per_ps=4,
                internal_gbps=30.0,
                external_gbps=3.0,
            )
            for job in jobs
        ]
        cluster = replace(cluster, servers=tuple(replace(s, roles=("worker", "ps")) for s in cluster.servers))
    rows = output_of(cluster, jobs, name, seed, parameters)
    assert verify(**rows) == []
    assert any(row["kind"] == "preempted" for row in rows["decisions"]) or name == "oasis" or seed not in (0, 1, 2)
    whole = events_of(cluster, jobs, name, **parameters)
    first = Simulation(cluster, jobs, build(name, parameters), 0)
    events = first.run_until(max_events=len(whole) // 2)
    second = Simulation(cluster, jobs, build(name, parameters), 0)
    second.restore(first.state())
    assert events + list(second.events()) == whole


def test_the_verifier_sees_a_bar_on_a_server_that_is_away():
    cluster, jobs = generate("oasis", num_jobs=20, num_servers=10, seed=1, horizon_slots=60)
    rows = output_of(cluster, jobs, "fifo", 1, {})
    bar = rows["schedule"][0]
    server = next(s for s in rows["cluster"]["servers"] if s["name"] == bar["server"])
    server["away"] = [[int(bar["start_ms"]), int(bar["start_ms"]) + 1]]
    assert any("is unavailable from" in problem and "but runs job" in problem for problem in verify(**rows))


def test_time_away_is_no_capacity():
    """w0 is there for 2 of the 4 slots to the end of the last bar and is used in both."""
    cluster = with_away(tiny.cluster(slots=8, gpus=2), {"w0": ((1_000, 3_000),)})
    rows = output_of(cluster, [tiny.job(work=4, chunks=2)], "fifo", 0, {})
    assert rows["summary"]["metrics"]["utilization"]["gpu"] == pytest.approx(1.0)
    assert asdict(cluster.servers[0])["away"] == ((1_000, 3_000),)
