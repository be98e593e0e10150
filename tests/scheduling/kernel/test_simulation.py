"""The kernel: what happens in which order, and that cutting, saving and restoring a run changes nothing."""

import json

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.scheduler import BaseScheduler
from scheduling.kernel.simulation import Simulation, simulate
from scheduling.model.bars import Placement
from scheduling.model.decision import Decision, Reason, Verdict
from scheduling.model.values import ModelError
from scheduling.slotted.execution import SLOTTED
from scheduling.slotted.ledger import Overbooked
from scheduling.workloads import generate
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from twin.infra.columns import pack_state, unpack_state

MACHINES = cluster(worker_server("w0"), ps_server("s0"))


class Scripted(BaseScheduler):
    """Plays a script {(hook, argument): Decision} and notes every call."""

    model = SLOTTED
    name = "scripted"

    def __init__(self, script=None):
        super().__init__()
        self.script, self.calls = script or {}, []

    def _play(self, hook, now_ms, argument):
        self.calls.append((now_ms, hook, argument))
        return self.script.get((hook, argument), Decision())

    def on_arrival(self, now_ms, job):
        return self._play("arrival", now_ms, job)

    def on_completion(self, now_ms, job):
        return self._play("completion", now_ms, job)

    def on_slot(self, now_ms, slot):
        return self._play("slot", now_ms, slot)


def run(script, jobs, machines=MACHINES):
    scheduler = Scripted(script)
    return list(simulate(machines, jobs, scheduler, 0)), scheduler.calls


def plan(index, start_ms, end_ms, server=0):
    return Decision({index: [Placement(index, 0, server, start_ms, end_ms, 1)]}, {index: end_ms})


def test_at_one_instant_completions_come_before_arrivals_and_arrivals_before_the_slot():
    _, calls = run({("arrival", 0): plan(0, 0, 2_000)}, [job("a", 0), job("b", 2_000), job("c", 2_000)])
    assert calls == [
        (0, "arrival", 0), (0, "slot", 0),
        (2_000, "completion", 0), (2_000, "arrival", 1), (2_000, "arrival", 2), (2_000, "slot", 2),
    ]  # fmt: skip


def test_completions_of_one_instant_come_in_the_order_of_the_jobs():
    script = {("arrival", 0): plan(0, 500, 1_000), ("arrival", 1): plan(1, 0, 1_000)}
    _, calls = run(script, [job("a", 0), job("b", 0)])
    assert [c for c in calls if c[1] == "completion"] == [(1_000, "completion", 0), (1_000, "completion", 1)]


def test_on_slot_is_called_only_when_something_happened_or_a_wake_was_asked_for():
    _, calls = run({("slot", 1): Decision(wake_ms=4_500)}, [job("a", 300)])
    assert [c for c in calls if c[1] == "slot"] == [(1_000, "slot", 1), (5_000, "slot", 5)]


def test_two_wakes_are_both_kept_and_none_lies_behind_the_horizon():
    script = {
        ("arrival", 0): Decision(wake_ms=7_000),
        ("slot", 0): Decision(wake_ms=3_000),
        ("slot", 7): Decision(wake_ms=10_000),
    }
    _, calls = run(script, [job("a", 0)])
    assert [now for now, hook, _ in calls if hook == "slot"] == [0, 3_000, 7_000]


def test_a_wake_must_lie_in_the_future():
    with pytest.raises(ModelError, match=r"after the current time \(1000 ms\), got 1000 ms"):
        run({("slot", 1): Decision(wake_ms=1_000)}, [job("a", 300)])


def test_a_replaced_plan_does_not_complete_at_its_old_time():
    """a would finish at 2 s; the arrival of b at 1 s moves it to the time from 3 s to 4 s."""
    events, _ = run(
        {("arrival", 0): plan(0, 0, 2_000), ("arrival", 1): plan(0, 3_000, 4_000)}, [job("a", 0), job("b", 1_000)]
    )
    assert [(e.at_ms, e.data["job"]) for e in events if e.kind == "job_completed"] == [(4_000, 0)]


def test_a_job_that_loses_its_finish_stays_unfinished():
    lost = Decision({0: []}, verdicts=(Verdict(0, "preempted", Reason("in_order", {})),))
    events, _ = run({("arrival", 0): plan(0, 0, 2_000), ("arrival", 1): lost}, [job("a", 0), job("b", 1_000)])
    assert [(e.at_ms, e.data["job"], e.data["kind"]) for e in events if e.kind == "decided"] == [
        (1_000, 0, "preempted"), (10_000, 0, "unfinished"), (10_000, 1, "unfinished"),
    ]  # fmt: skip


def test_without_a_horizon_the_run_ends_with_its_last_event():
    events, _ = run({("arrival", 0): plan(0, 0, 2_000)}, [job("a")], cluster(worker_server("w0"), horizon=None))
    assert (events[-1].at_ms, events[-1].kind) == (2_000, "run_finished")


def test_a_job_that_arrives_behind_the_horizon_is_reported_and_stays_unfinished():
    events = list(simulate(MACHINES, [job("a", 12_345)], build("fifo"), 0))
    assert [(e.at_ms, e.kind) for e in events[1:]] == [
        (12_345, "job_arrived"),
        (12_345, "decided"),
        (12_345, "run_finished"),
    ]


def test_no_jobs_make_an_empty_run():
    assert [e.kind for e in simulate(MACHINES, [], build("fifo"), 0)] == ["run_started", "run_finished"]


@pytest.mark.parametrize("finish_ms", [1_500, 2_500])
def test_a_job_finishes_when_its_last_worker_stops(finish_ms):
    decision = Decision({0: [Placement(0, 0, 0, 0, 2_000, 1)]}, {0: finish_ms})
    with pytest.raises(Overbooked, match=r"job a must finish when its last worker stops \(2000 ms\)"):
        run({("arrival", 0): decision}, [job("a")])


def test_jobs_must_come_in_the_order_of_arrival():
    with pytest.raises(ModelError, match="job b arrives at 1 ms, before the previous job"):
        Simulation(MACHINES, [job("a", 2), job("b", 1)], build("fifo"), 0)


class Priced(Scripted):
    """Every GPU costs the slot's number plus one; what has no price is NaN."""

    def prices(self, slots):
        out = np.full((len(slots), len(self.cluster.servers), 5), np.nan)
        out[:, 0, 0] = slots / 3 + 1
        return out


def test_prices_are_logged_once_for_all_slots_and_then_for_those_that_a_plan_touches():
    scheduler = Priced({("arrival", 0): plan(0, 3_000, 5_000), ("arrival", 1): plan(0, 5_000, 6_000)})
    events = list(simulate(MACHINES, [job("a", 0), job("b", 1_000)], scheduler, 0))
    first, planned, replaced = [e.data for e in events if e.kind == "priced"]
    assert first["slots"] == list(range(10))
    assert planned["slots"] == [3, 4]
    assert planned["low"] == planned["mean"] == planned["high"] == [2.0, *[None] * 9, 2.33333, *[None] * 9]
    assert replaced["slots"] == [3, 4, 5]  # what the old plan leaves and the new one takes


def scenario(name):
    if name == "oasis":
        machines, jobs = generate("oasis", num_jobs=12, num_servers=6, seed=3, horizon_slots=30)
        return machines, jobs, lambda: build("oasis")
    jobs = [job(f"j{i}", 137 * i, workers=1 + i % 3, slots=1 + i % 4) for i in range(24)]
    machines = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=40)
    return machines, jobs, lambda: build("fifo", {"backfill": name == "backfill"})


def encoded(events):
    return [json.dumps(event) for event in events]


@pytest.mark.parametrize("name", ["fifo", "backfill", "oasis"])
def test_a_run_continues_to_the_byte_from_every_step(name):
    """Saved as bytes and restored after each step, the rest of the run is the same."""
    machines, jobs, scheduler = scenario(name)
    whole = encoded(simulate(machines, jobs, scheduler(), 5))
    simulation = Simulation(machines, jobs, scheduler(), 5)
    while simulation.next_ms is not None:
        simulation.run_until(max_events=1)
        saved = pack_state(simulation.state())
        again = Simulation(machines, jobs, scheduler(), 5)
        again.restore(unpack_state(saved))
        assert again.next_ms == simulation.next_ms
        assert pack_state(again.state()) == saved
        assert encoded(again.events()) == whole[simulation.seq :]


@pytest.mark.parametrize("name", ["fifo", "oasis"])
def test_the_events_do_not_depend_on_how_the_run_is_cut(name):
    machines, jobs, scheduler = scenario(name)
    whole = encoded(simulate(machines, jobs, scheduler(), 5))
    simulation, cut = Simulation(machines, jobs, scheduler(), 5), []
    for limit_ms in (0, 1, 500, 500, 3_600_000, None):
        cut += simulation.run_until(limit_ms, 7)
        cut += simulation.run_until(limit_ms, 10_000)
        assert limit_ms is None or all(e.at_ms <= limit_ms for e in cut)
    assert encoded(cut) == whole
    assert [e.seq for e in cut] == list(range(1, len(whole) + 1))
