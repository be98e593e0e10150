"""Forks: the copied past, the state behind it, what cannot be forked, and what becomes of the family."""

from __future__ import annotations

import random

import numpy as np
import pytest

from twin import control, engine, eventlog, forking, runner, scenarios, sweeps
from twin.formats.outputs import event_line
from twin.models import Run, Scenario
from twin.refused import Refused
from twin.scenarios import store_generated

pytestmark = pytest.mark.django_db(transaction=True)
H = 3_600_000


def scenario_of(profile, scheduler, jobs=40, servers=10, seed=3, **parameters):
    from scheduling.workloads import generate

    spec, trace = store_generated(f"{profile}", *generate(profile, num_jobs=jobs, num_servers=servers, seed=seed), seed)
    return Scenario.objects.create(name="base", cluster=spec, trace=trace, scheduler=scheduler, parameters=parameters, seed=seed)


def played_out(run):
    """The run after a worker has done all of it."""
    for _ in range(200):
        runner.advance(run.pk)
        run.refresh_from_db()
        if run.status not in Run.ACTIVE:
            break
    assert run.status == Run.FINISHED, run.message
    return run


def from_scratch(run):
    return [event_line(event) for event in scenarios.simulation(run).events()]


@pytest.mark.parametrize(("profile", "scheduler"), [("oasis", "fifo"), ("oasis", "oasis"), ("pd-ors", "pd_ors"), ("oasis", "drf"),
                                                    ("a-online", "tiresias_l"), ("harmony", "harmony")])  # fmt: skip
def test_a_fork_is_to_the_byte_what_its_edits_make_of_the_beginning(profile, scheduler):
    parent = played_out(control.start_run(scenario_of(profile, scheduler)))
    draw = random.Random(scheduler)
    server = scenarios.of_run(parent)[0].servers[0].name
    for part in (0.1, 0.4, 0.8):
        at_ms = int(parent.sim_ms * part) + draw.randrange(1000)
        edits = [{"verb": "fail_servers", "servers": server, "for_ms": H, "at_ms": at_ms},
                 {"verb": "scale_arrivals", "factor": 2, "at_ms": at_ms + 5 * H}]  # fmt: skip
        scenario, run = control.fork_and_start(parent.pk, at_ms, "", edits, True)
        assert (run.parent, run.fork_ms, scenario.parent) == (parent, at_ms, parent)
        copied = list(eventlog.canonical(run.pk))
        assert copied == list(eventlog.canonical(parent.pk))[: len(copied)]
        assert len(copied) == run.last_seq > 0
        engine.forget()
        played_out(run)
        assert list(eventlog.canonical(run.pk)) == from_scratch(run)


def test_a_fork_begins_at_the_nearest_state_of_its_parent():
    """Nothing in front of it is computed again."""
    parent = played_out(control.start_run(scenario_of("oasis", "fifo")))
    middle = scenarios.simulation(parent)
    middle.run_until(parent.sim_ms // 2)
    from twin.columns import pack_state

    eventlog.keep(parent.pk, middle.seq, pack_state({"simulation": middle.state(), "decisions": np.zeros(0)}))
    _, run = control.fork_and_start(parent.pk, parent.sim_ms // 2 + 1, "", [], True)
    assert run.checkpoints.get().seq == middle.seq
    played_out(run)
    assert list(eventlog.canonical(run.pk)) == list(eventlog.canonical(parent.pk)), "without an edit it is the same run"


def test_a_finished_run_goes_on_when_jobs_are_added_behind_its_end():
    base = scenario_of("a-online", "srtf", jobs=5)
    parent = played_out(control.start_run(base))
    at_ms = parent.sim_ms + H
    job = scenarios.of_run(parent)[1][0].id
    edits = [{"verb": "add_jobs", "like": job, "arrival_ms": at_ms + H, "count": 2, "at_ms": at_ms}]
    _, run = control.fork_and_start(parent.pk, at_ms, "later", edits, True)
    assert run.last_seq == parent.last_seq - 1, "all but the end"
    played_out(run)
    assert run.metrics["completed"] == parent.metrics["completed"] + 2
    assert list(eventlog.canonical(run.pk)) == from_scratch(run)


def test_a_fork_of_a_fork_and_the_family():
    parent = played_out(control.start_run(scenario_of("oasis", "fifo")))
    server = scenarios.of_run(parent)[0].servers[1].name
    _, first = control.fork_and_start(
        parent.pk, 10 * H, "first", [{"verb": "remove_servers", "servers": server, "at_ms": 10 * H}], True
    )
    played_out(first)
    _, second = control.fork_and_start(
        first.pk, 20 * H, "second", [{"verb": "scale_arrivals", "factor": 3, "at_ms": 21 * H}], True
    )
    played_out(second)
    _, beside = control.fork_and_start(parent.pk, 30 * H, "beside", [], True)
    assert [edit["verb"] for edit in second.edits] == ["remove_servers", "scale_arrivals"]
    assert list(eventlog.canonical(second.pk)) == from_scratch(second)
    assert [(row["id"], row["depth"]) for row in forking.family(second)] == [
        (parent.pk, 0),
        (first.pk, 1),
        (second.pk, 2),
        (beside.pk, 1),
    ]
    assert [row["said"] for row in forking.family(parent)][1:3] == [
        [f"From 10:00:00: remove {server}"], ["From 21:00:00: jobs arrive at 3 times the rate"],
    ]  # fmt: skip
    control.discard(second)
    assert not Run.objects.filter(pk=second.pk).exists()
    assert not Scenario.objects.filter(name="second").exists()
    with pytest.raises(Refused, match="is no fork; delete it where runs are listed"):
        control.discard(parent)


def test_what_cannot_be_forked_is_said():
    base = scenario_of("oasis", "fifo")
    parent = control.start_run(base)
    with pytest.raises(Refused, match="has not begun; wait for its first event"):
        forking.fork(parent.pk, None, "")
    played_out(parent)
    with pytest.raises(Refused, match="a fork begins after the beginning"):
        forking.fork(parent.pk, 0, "")
    made = forking.fork(parent.pk, 50 * H, "")
    with pytest.raises(
        Refused, match=r"edit 1 \(scale the arrival rate\): takes effect at 2 d 01:00:00, before the fork at 2 d 02:00:00"
    ):
        control.edit(made.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2, "at_ms": 49 * H}]})
    edited = control.edit(made.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2, "at_ms": 50 * H}]})
    assert edited.version == 2
    with pytest.raises(control.Conflict, match="it is at version 2, yours began with 1"):
        control.edit(made.pk, 1, {"name": "mine"})
    run = played_out(control.start_run(edited))
    with pytest.raises(Refused, match="is edited at 2 d 02:00:00 itself; fork it 1 ms earlier or later"):
        forking.fork(run.pk, 50 * H, "")
    again = forking.fork(run.pk, 60 * H, "")
    with pytest.raises(Refused, match="edits before the fork at 2 d 12:00:00 are past and stay as they are"):
        control.edit(again.pk, 1, {"edits": []})
    number = run.pk
    control.delete(run)
    with pytest.raises(Refused, match=f"run {number} does not exist any more"):
        forking.fork(number, None, "")
    orphan = played_out(control.start_run(Scenario.objects.get(pk=again.pk)))
    assert orphan.parent is None
    assert list(eventlog.canonical(orphan.pk)) == from_scratch(orphan), "a fork whose parent is gone computes its past again"


def test_a_fork_takes_the_place_of_a_live_run():
    parent = control.start_run(scenario_of("oasis", "fifo"), mode=Run.LIVE, speed=3_600_000.0)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    assert parent.status == Run.RUNNING
    control.pause(parent)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    edits = [{"verb": "scale_arrivals", "factor": 2, "at_ms": parent.sim_ms}]
    _, run = control.fork_and_start(parent.pk, parent.sim_ms, "", edits, True)
    played_out(run)
    live = control.promote(run)
    parent.refresh_from_db()
    assert (live.mode, live.scenario, parent.wanted) == (Run.LIVE, run.scenario, Run.CANCELLED)
    assert live.clock_sim_ms >= run.fork_ms
    runner.advance(parent.pk)
    with pytest.raises(Refused, match="is no live run that goes on"):
        control.promote(run)


def test_nothing_is_forked_where_nothing_can_change():
    parent = played_out(control.start_run(scenario_of("oasis", "fifo")))
    for at_ms in (100 * H, 100 * H + 1, 2**53):
        with pytest.raises(Refused, match=r"ends at 4 d 04:00:00, and nothing can change at .*; fork it before its end"):
            forking.fork(parent.pk, at_ms, "")
    assert forking.fork(parent.pk, 100 * H - 1, "").fork_ms == 100 * H - 1


def live_with_a_fork():
    parent = control.start_run(scenario_of("oasis", "fifo"), mode=Run.LIVE, speed=1.0)
    Run.objects.filter(pk=parent.pk).update(clock_sim_ms=20 * H)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    at_ms = parent.sim_ms
    _, run = control.fork_and_start(parent.pk, at_ms, "", [{"verb": "scale_arrivals", "factor": 2, "at_ms": at_ms}], True)
    return parent, run


def test_one_parent_has_one_heir():
    parent, run = live_with_a_fork()
    control.promote(run)
    with pytest.raises(Refused, match="is no live run that goes on"):  # though no worker has ended the parent yet
        control.promote(run)
    assert Run.objects.filter(mode=Run.LIVE).exclude(pk=parent.pk).count() == 1


def test_what_is_promoted_is_what_was_computed():
    _, run = live_with_a_fork()
    control.edit(run.scenario_id, run.scenario.version, {"edits": []})
    live = control.promote(Run.objects.get(pk=run.pk))
    assert live.edits == run.edits != []


def test_a_discarded_fork_leaves_a_scenario_that_is_swept():
    _, run = live_with_a_fork()
    sweep = sweeps.start(run.scenario, "", [{"edit": 1, "field": "factor", "values": [1, 2]}], [])
    control.discard(run)
    assert sweep.points.count() == 2
    assert Scenario.objects.filter(pk=sweep.scenario_id).exists()
