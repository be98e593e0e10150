"""Forks: the copied past, the state at its end, what cannot be forked, and the tree of forks."""

from __future__ import annotations

import random
from itertools import chain

import numpy as np
import pytest

from dashboard.readmodels.run_summary import now
from tests.twin.builders import H, from_scratch, played_out, scenario_of
from twin.eventlog import event_log
from twin.infra.columns import pack_state
from twin.infra.errors import Refused
from twin.models import Run, Scenario
from twin.runs import commands, deleted, engine, runner
from twin.scenarios import forks, store
from twin.studies import sweeps

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("profile", "scheduler"),
                         [("oasis", "fifo"), ("oasis", "oasis"), ("pd-ors", "pd_ors"), ("oasis", "drf"),
                                                    ("a-online", "tiresias_l"), ("harmony", "harmony")])  # fmt: skip
@pytest.mark.thorough
def test_a_fork_is_to_the_byte_what_its_edits_make_of_the_beginning(profile, scheduler):
    parent = played_out(commands.start_run(scenario_of(profile, scheduler)))
    draw = random.Random(scheduler)
    server = store.of_run(parent)[0].servers[0].name
    for part in (0.1, 0.4, 0.8):
        at_ms = int(parent.sim_ms * part) + draw.randrange(1000)
        edits = [{"verb": "fail_servers", "servers": server, "for_ms": H, "at_ms": at_ms},
                 {"verb": "drain_servers", "servers": "*", "at_ms": at_ms + 5 * H, "to_ms": at_ms + 6 * H}]  # fmt: skip
        scenario, run = commands.fork_and_start(parent.pk, at_ms, "", edits, True)
        assert (run.parent, run.fork_ms, scenario.parent) == (parent, at_ms, parent)
        copied = list(event_log.canonical(run.pk))
        assert copied == list(event_log.canonical(parent.pk))[: len(copied)]
        assert len(copied) == run.last_seq > 0
        engine.forget()
        played_out(run)
        assert list(event_log.canonical(run.pk)) == from_scratch(run)


def test_a_fork_begins_at_the_nearest_state_of_its_parent():
    """Nothing in front of it is computed again."""
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    middle = keep_state(parent, parent.sim_ms // 2)
    _, run = commands.fork_and_start(parent.pk, parent.sim_ms // 2 + 1, "", [], True)
    assert run.checkpoints.get().seq == middle.seq
    played_out(run)
    assert list(event_log.canonical(run.pk)) == list(event_log.canonical(parent.pk)), (
        "without an edit it is the same run"
    )


def test_a_draft_that_nobody_used_takes_the_new_time(django_user_model):
    """A page that opens a scenario at each click keeps one; an edited one, a run one and another user's stay."""
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    ada, bob = (django_user_model.objects.create(username=name) for name in ("ada", "bob"))
    first = commands.fork(parent.pk, H, "", ada, reuse=True)
    moved = commands.fork(parent.pk, 2 * H, "", ada, reuse=True)
    assert (moved.pk, moved.fork_ms, moved.version) == (first.pk, 2 * H, first.version + 1)
    assert commands.fork(parent.pk, 2 * H, "", bob, reuse=True).pk != first.pk
    assert commands.fork(parent.pk, 2 * H, "", ada).pk != first.pk  # another caller asks for one of its own
    fail = {"verb": "fail_servers", "servers": "*", "for_ms": H, "at_ms": 3 * H}
    with pytest.raises(commands.Conflict):  # a window that still shows the former time loses nothing silently
        commands.edit(first.pk, first.version, {"edits": [fail]}, ada)
    drafts = [moved, commands.fork(parent.pk, 2 * H, "", ada, reuse=True)]
    for draft in drafts:
        draft.refresh_from_db()
    commands.edit(drafts[1].pk, drafts[1].version, {"edits": [fail]}, ada)
    commands.edit(moved.pk, Scenario.objects.get(pk=moved.pk).version, {"name": "mine"}, ada)
    assert commands.fork(parent.pk, 2 * H, "", ada, reuse=True).pk not in [draft.pk for draft in drafts]


def keep_state(run, at_ms):
    """A state of the run at that moment, as a worker keeps one now and then."""
    simulation = store.simulation(run)
    simulation.run_until(at_ms, 10**9)
    event_log.keep(run.pk, simulation.seq, pack_state({"simulation": simulation.state(), "decisions": np.zeros(0)}))
    return simulation


def test_edits_behind_a_kept_state_of_the_parent_take_effect():
    """Neither is the fork's edit lost with the parent's state, nor does it get an edit that only the parent has."""
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    at_ms = parent.sim_ms // 2
    keep_state(parent, at_ms)
    edits = [{"verb": "fail_servers", "servers": "*", "for_ms": H, "at_ms": at_ms + 1}]
    _, edited = commands.fork_and_start(parent.pk, at_ms + 1, "", edits, True)
    engine.forget()
    played_out(edited)
    assert [event.at_ms for event in chain.from_iterable(event_log.after(edited.pk, 0)) if event.kind == "edited"] == [
        at_ms + 1
    ]
    assert list(event_log.canonical(edited.pk)) == from_scratch(edited)
    again = at_ms // 2
    keep_state(edited, again)
    _, plain = commands.fork_and_start(edited.pk, again + 1, "", [], True)
    engine.forget()
    played_out(plain)
    assert list(event_log.canonical(plain.pk)) == list(event_log.canonical(parent.pk))


def test_a_finished_run_goes_on_when_jobs_are_added_behind_its_end():
    base = scenario_of("a-online", "srtf", jobs=5)
    parent = played_out(commands.start_run(base))
    at_ms = parent.sim_ms + H
    job = store.of_run(parent)[1][0].id
    edits = [{"verb": "add_jobs", "like": job, "arrival_ms": at_ms + H, "count": 2, "at_ms": at_ms}]
    _, run = commands.fork_and_start(parent.pk, at_ms, "later", edits, True)
    assert run.last_seq == parent.last_seq - 1, "all but the end"
    played_out(run)
    assert run.metrics["completed"] == parent.metrics["completed"] + 2
    assert list(event_log.canonical(run.pk)) == from_scratch(run)


def test_a_fork_of_a_fork_and_the_family():
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    server = store.of_run(parent)[0].servers[1].name
    _, first = commands.fork_and_start(
        parent.pk, 10 * H, "first", [{"verb": "remove_servers", "servers": server, "at_ms": 10 * H}], True
    )
    played_out(first)
    _, second = commands.fork_and_start(
        first.pk, 20 * H, "second", [{"verb": "scale_arrivals", "factor": 3, "at_ms": 21 * H}], True
    )
    played_out(second)
    _, beside = commands.fork_and_start(parent.pk, 30 * H, "beside", [], True)
    assert [edit["verb"] for edit in second.edits] == ["remove_servers", "scale_arrivals"]
    assert list(event_log.canonical(second.pk)) == from_scratch(second)
    assert [(row["id"], row["depth"]) for row in forks.family(second)] == [
        (parent.pk, 0),
        (first.pk, 1),
        (second.pk, 2),
        (beside.pk, 1),
    ]
    assert [row["edits"] for row in forks.family(parent)][1:3] == [
        [f"From 10:00:00: remove {server}"], ["From 21:00:00: scale the arrival rate by 3"],
    ]  # fmt: skip
    commands.discard(second)
    assert not Run.objects.filter(pk=second.pk).exists()
    assert not Scenario.objects.filter(name="second").exists()
    with pytest.raises(Refused, match="is not a fork; delete it after it has ended"):
        commands.discard(parent)


def test_what_cannot_be_forked_is_said():
    base = scenario_of("oasis", "fifo")
    parent = commands.start_run(base)
    with pytest.raises(Refused, match="has not started; wait for its first event"):
        forks.fork(parent.pk, None, "")
    played_out(parent)
    with pytest.raises(Refused, match="a fork must start after 00:00:00, the start of the run; choose a later time"):
        forks.fork(parent.pk, 0, "")
    made = forks.fork(parent.pk, 50 * H, "")
    with pytest.raises(
        Refused, match=r"edit 1 \(scale the arrival rate\): takes effect at 2d 01:00:00, before the fork at 2d 02:00:00"
    ):
        commands.edit(made.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2, "at_ms": 49 * H}]})
    edited = commands.edit(made.pk, 1, {"edits": [{"verb": "fail_servers", "servers": "*", "at_ms": 50 * H}]})
    assert edited.version == 2
    with pytest.raises(commands.Conflict, match="it is at version 2, and your edits are based on version 1"):
        commands.edit(made.pk, 1, {"name": "mine"})
    run = played_out(commands.start_run(edited))
    with pytest.raises(Refused, match="has an edit at 2d 02:00:00; fork it 1 ms earlier or later"):
        forks.fork(run.pk, 50 * H, "")
    again = forks.fork(run.pk, 60 * H, "")
    with pytest.raises(Refused, match="edits before the fork at 2d 12:00:00 cannot be changed"):
        commands.edit(again.pk, 1, {"edits": []})
    number = run.pk
    commands.delete(run)
    with pytest.raises(Refused, match=f"run {number} no longer exists"):
        forks.fork(number, None, "")
    orphan = played_out(commands.start_run(Scenario.objects.get(pk=again.pk)))
    assert orphan.parent is None
    assert list(event_log.canonical(orphan.pk)) == from_scratch(orphan), (
        "a fork whose parent is gone computes its past again"
    )


def test_a_fork_takes_the_place_of_a_live_run():
    parent = commands.start_run(scenario_of("oasis", "fifo"), mode=Run.LIVE, speed=1.0)
    Run.objects.filter(pk=parent.pk).update(clock_sim_ms=20 * H)  # of 100; it does not end while the test runs
    runner.advance(parent.pk)
    parent.refresh_from_db()
    assert parent.status == Run.RUNNING
    commands.pause(parent)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    edits = [{"verb": "fail_servers", "servers": "*", "at_ms": parent.sim_ms}]
    _, run = commands.fork_and_start(parent.pk, parent.sim_ms, "", edits, True)
    played_out(run)
    live = commands.promote(run)
    parent.refresh_from_db()
    assert (live.mode, live.scenario, parent.wanted) == (Run.LIVE, run.scenario, Run.CANCELLED)
    assert live.clock_sim_ms >= run.fork_ms
    runner.advance(parent.pk)
    with pytest.raises(Refused, match="is not an active live run"):
        commands.promote(run)


def test_nothing_is_forked_where_nothing_can_change():
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    for at_ms in (100 * H, 100 * H + 1, 2**53):
        with pytest.raises(
            Refused,
            match=r"the horizon of run \d+ is 4d 04:00:00, so a fork at .* has no effect; choose a time before the ",
        ):
            forks.fork(parent.pk, at_ms, "")
    assert forks.fork(parent.pk, 100 * H - 1, "").fork_ms == 100 * H - 1


def live_with_a_fork():
    parent = commands.start_run(scenario_of("oasis", "fifo"), mode=Run.LIVE, speed=1.0)
    Run.objects.filter(pk=parent.pk).update(clock_sim_ms=20 * H)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    at_ms = parent.sim_ms
    _, run = commands.fork_and_start(
        parent.pk, at_ms, "", [{"verb": "scale_arrivals", "factor": 2, "at_ms": at_ms}], True
    )
    return parent, run


def test_a_live_run_is_forked_at_the_moment_that_its_page_shows_between_two_events():
    parent = commands.start_run(scenario_of("oasis", "fifo"), mode=Run.LIVE, speed=1.0)
    Run.objects.filter(pk=parent.pk).update(clock_sim_ms=20 * H)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    between = parent.next_event_ms - 1
    assert between > parent.sim_ms
    edits = [{"verb": "scale_arrivals", "factor": 2, "at_ms": between}]
    scenario, run = commands.fork_and_start(parent.pk, between, "", edits, True)
    assert scenario.fork_ms == between
    assert list(event_log.canonical(played_out(run).pk)) == from_scratch(run)
    with pytest.raises(Refused, match=rf"run {parent.pk} has reached .*; choose a time up to that"):
        forks.fork(parent.pk, between + 1, "")


def test_one_parent_has_one_heir():
    parent, run = live_with_a_fork()
    commands.promote(run)
    with pytest.raises(Refused, match="is not an active live run"):  # though no worker has ended the parent yet
        commands.promote(run)
    assert Run.objects.filter(mode=Run.LIVE).exclude(pk=parent.pk).count() == 1
    assert forks.family(run)[0]["wanted"] == Run.CANCELLED


def test_a_fork_promoted_in_place_of_a_paused_run_has_played_its_edits():
    parent = commands.start_run(scenario_of("oasis", "fifo"), mode=Run.LIVE, speed=1.0)
    Run.objects.filter(pk=parent.pk).update(clock_sim_ms=20 * H)
    runner.advance(parent.pk)
    parent.refresh_from_db()
    at_ms = parent.sim_ms
    edits = [{"verb": "fail_servers", "servers": "*", "for_ms": 50 * H, "at_ms": at_ms}]
    _, run = commands.fork_and_start(parent.pk, at_ms, "", edits, True)
    commands.pause(parent)
    runner.advance(parent.pk)
    live = commands.promote(run)
    for _ in range(100):
        runner.advance(live.pk)
        live.refresh_from_db()
        if live.status == Run.PAUSED:
            break
    assert (live.status, live.wanted, live.clock_sim_ms >= at_ms) == (Run.PAUSED, Run.PAUSED, True)
    assert live.next_event_ms is None or live.next_event_ms > live.clock_sim_ms, "nothing due is left"
    lost = [event for event in chain.from_iterable(event_log.after(live.pk, 0)) if event.kind == "server_changed"]
    assert {event.at_ms for event in lost} == {at_ms}
    assert not any(site["allocated"] or any(site["capacity"].values()) for site in now(live)["sites"])


def test_what_is_promoted_is_what_was_computed():
    _, run = live_with_a_fork()
    commands.edit(run.scenario_id, run.scenario.version, {"edits": []})
    live = commands.promote(Run.objects.get(pk=run.pk))
    assert live.edits == run.edits != []


def test_a_scenario_that_is_discarded_with_its_fork_says_what_it_was():
    _, run = live_with_a_fork()
    number, name = run.scenario_id, run.scenario.name
    commands.discard(run)
    assert str(deleted.what_was("scenario", number)).startswith(
        f"Scenario {number} (“{name}”) was deleted by the system on "
    )


def test_a_discarded_fork_leaves_a_scenario_that_is_swept():
    _, run = live_with_a_fork()
    sweep = sweeps.start(run.scenario, "", [{"edit": 1, "field": "factor", "values": [1, 2]}], [])
    commands.discard(run)
    assert sweep.points.count() == 2
    assert Scenario.objects.filter(pk=sweep.scenario_id).exists()
