"""What-if edits on a small scenario, with values by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.kernel.registry import schedulers
from scheduling.model.limits import MAX_INT
from scheduling.model.values import ModelError, Utility
from tests.twin.scenarios.builders_edits import CAPACITY, JOBS, WORLD, H, after, last
from twin.moments import moment
from twin.scenarios.edits import parse, plain, verbs
from twin.scenarios.edits.effect import effect
from twin.scenarios.edits.preview import marks


def test_added_servers_are_copies_with_names_of_their_own():
    state = last({"verb": "add_servers", "like": "edge-1", "count": 2, "site": "cloud"})
    assert [s.name for s in state.cluster.servers[4:]] == ["edge-1+1", "edge-1+2"]
    assert {(s.site, s.capacity) for s in state.cluster.servers[4:]} == {("cloud", CAPACITY)}
    assert state.jobs[0].upload_ms == (1, 2, 3, 4, 2, 2)


def test_a_removed_server_is_out_of_the_list_from_the_beginning_and_away_later():
    state = last({"verb": "remove_servers", "servers": "edge-0"})
    assert [s.name for s in state.cluster.servers] == ["edge-1", "cloud-0", "cloud-1"]
    assert state.jobs[0].upload_ms == (2, 3, 4)
    later = last({"verb": "remove_servers", "servers": "edge-0", "at_ms": 2 * H})
    assert [s.away for s in later.cluster.servers] == [((2 * H, MAX_INT),), (), (), ()]


@pytest.mark.parametrize("at_ms", [0, 90 * 60_000])
def test_an_edit_begins_with_moments_that_are_not_refused(at_ms):
    """What a form begins with, in a fork too: only the servers, the job or the factor that it is about are typed in."""
    needed = {
        "servers": "edge-0",
        "jobs": "j3",
        "like": "edge-0",
        "factor": 2.0,
        "on": not WORLD.cluster.unlimited_cloud,
    }
    for name, verb in verbs().items():
        if name == "change_scheduler" and not at_ms:
            continue  # the scenario names the one that begins
        known = {row["name"] for row in verb.form()}
        chosen = {key: value for key, value in needed.items() if key in known}
        after({"verb": name, "at_ms": at_ms, **chosen, **({"like": "j1"} if name == "add_jobs" else {})})


def test_a_moment_that_is_left_out_is_that_of_the_edit():
    drained = {"verb": "drain_servers", "servers": "edge-0", "at_ms": 2 * H}
    assert last(drained).cluster.servers[0].away == ((2 * H, MAX_INT),)
    assert parse([drained])[0].sentence() == "From 02:00:00: drain edge-0 from 02:00:00 permanently"
    added = {"verb": "add_jobs", "like": "j1", "at_ms": 2 * H}
    assert [job.arrival_ms for job in last(added).jobs if job.id == "j1+1"] == [2 * H + 1]
    assert parse([added])[0].sentence() == "From 02:00:00: add a job like j1, arriving at 02:00:00.001"
    assert plain(parse([added])[0])["arrival_ms"] is None, "and it follows the edit when that is moved"


@pytest.mark.parametrize(("at_ms", "arrival_ms"), [(0, 0), (0, H), (2 * H, 2 * H), (2 * H, 2 * H + 1), (2 * H, 3 * H)])
def test_the_sentence_of_added_jobs_states_their_arrival(at_ms, arrival_ms):
    """At the end of the instant of a later edit, its arrivals are over."""
    added = {"verb": "add_jobs", "like": "j1", "at_ms": at_ms, "arrival_ms": arrival_ms}
    (arrives_ms,) = [job.arrival_ms for job in last(added).jobs if job.id == "j1+1"]
    assert parse([added])[0].sentence().endswith(f", arriving at {moment(arrives_ms)}")


def test_the_form_of_another_scheduler_offers_all_of_them_by_their_titles():
    choice = next(row for row in verbs()["change_scheduler"].form() if row["name"] == "scheduler")
    assert choice["choices"] == list(schedulers())
    assert choice["titles"] == {name: cls.title for name, cls in schedulers().items()}


def test_a_server_that_is_gone_cannot_be_named_again():
    with pytest.raises(
        ModelError, match=r"edit 2 \(fail servers\): no server matches 'edge-0' at 03:00:00; servers: edge-1, cloud-0"
    ):
        after(
            {"verb": "remove_servers", "servers": "edge-0", "at_ms": 2 * H},
            {"verb": "fail_servers", "servers": "edge-0", "at_ms": 3 * H},
        )


def test_a_copy_of_a_server_does_not_have_its_outages():
    fails = {"verb": "fail_servers", "servers": "edge-0", "at_ms": H, "for_ms": 9 * H}
    drains = {"verb": "drain_servers", "servers": "edge-0", "at_ms": H, "from_ms": 20 * H, "to_ms": 30 * H}
    added = {"verb": "add_servers", "like": "edge-0", "at_ms": 2 * H}
    original, *_, copy = last(fails, drains, added).cluster.servers
    assert (original.away, copy.away) == (((H, 10 * H), (20 * H, 30 * H)), ((0, 2 * H),))


def test_a_server_must_have_been_added_before_it_fails():
    added, fails = (
        {"verb": "add_servers", "like": "edge-0", "at_ms": 2 * H},
        {"verb": "fail_servers", "servers": "edge-0+1", "for_ms": H},
    )
    assert last(added, {**fails, "at_ms": 2 * H}).cluster.servers[4].away == ((0, 3 * H),), "never there before"
    with pytest.raises(ModelError, match=r"edit 2 \(fail servers\): no server matches 'edge-0\+1' at 01:00:00"):
        after(added, {**fails, "at_ms": H})


def test_a_failure_is_known_when_it_happens_and_a_drain_when_it_is_announced():
    found = after(
        {"verb": "fail_servers", "servers": "edge-*", "at_ms": 2 * H, "for_ms": H},
        {"verb": "drain_servers", "servers": "edge-1", "at_ms": H, "from_ms": 5 * H, "to_ms": 6 * H},
    )
    assert [(ms, [s.away for s in state.cluster.servers[:2]]) for ms, state, _ in found] == [
        (0, [(), ()]),
        (H, [(), ((5 * H, 6 * H),)]),
        (2 * H, [((2 * H, 3 * H),), ((2 * H, 3 * H), (5 * H, 6 * H))]),
    ]


def test_absences_that_touch_become_one():
    state = last(
        {"verb": "fail_servers", "servers": "edge-0", "at_ms": H, "for_ms": H},
        {"verb": "fail_servers", "servers": "edge-0", "at_ms": 2 * H, "for_ms": H},
    )
    assert state.cluster.servers[0].away == ((H, 3 * H),)


def test_resized_servers_and_faster_links():
    state = last(
        {"verb": "resize_servers", "servers": "cloud-*", "resource": "gpu", "amount": 1.5},
        {"verb": "change_bandwidth", "servers": "edge-0", "factor": 0.5},
    )
    assert [s.capacity[0] for s in state.cluster.servers] == [4_000, 4_000, 1_500, 1_500]
    assert (state.cluster.servers[0].capacity[4], state.cluster.servers[0].nic_gbps) == (5_000, 5.0)


def test_jobs_are_added_dropped_delayed_and_changed():
    state = last(
        {"verb": "add_jobs", "like": "j1", "count": 2, "arrival_ms": 30 * 60_000, "every_ms": H},
        {"verb": "drop_jobs", "jobs": "j0"},
        {"verb": "delay_jobs", "jobs": "j2", "by_ms": 2 * H},
        {"verb": "change_jobs", "jobs": "model:vgg", "field": "epochs", "factor": 0.25},
        {"verb": "change_utility", "jobs": "j3", "priority": 2, "target_slots": 0.5},
    )
    assert [(job.id, job.arrival_ms / H, job.epochs) for job in state.jobs] == [
        ("j1+1", 0.5, 2), ("j1", 1, 2), ("j1+2", 1.5, 2), ("j3", 3, 2), ("j2", 4, 10),
    ]  # fmt: skip
    assert state.jobs[3].utility == Utility(20.0, 1.0, 2.5)


def test_the_rate_of_arrivals_scales_what_is_to_come():
    assert [job.arrival_ms / H for job in last({"verb": "scale_arrivals", "factor": 2, "at_ms": H}).jobs] == [
        0,
        1,
        1.5,
        2,
    ]


def test_jobs_that_have_arrived_cannot_be_changed():
    assert [
        job.arrival_ms / H for job in last({"verb": "delay_jobs", "jobs": "*", "by_ms": H, "at_ms": 2 * H}).jobs
    ] == [
        0,
        1,
        2,
        4,
    ]
    with pytest.raises(
        ModelError, match=r"edit 1 \(remove jobs\): no job that matches 'j0' arrives after 01:00:00 \(1 job before\)"
    ):
        after({"verb": "drop_jobs", "jobs": "j0", "at_ms": H})


def test_each_phase_has_the_jobs_that_are_known_in_it():
    found = after(
        {"verb": "delay_jobs", "jobs": "j3", "by_ms": H, "at_ms": 2 * H},
        {"verb": "change_scheduler", "scheduler": "fifo", "at_ms": H},
    )
    assert [(ms, state.scheduler, state.jobs[3].arrival_ms) for ms, state, _ in found] == [
        (0, "oasis", 3 * H),
        (H, "fifo", 3 * H),
        (2 * H, "fifo", 4 * H),
    ]


def test_jobs_that_an_edit_brings_arrive_behind_its_moment():
    added = {"verb": "add_jobs", "like": "j1", "arrival_ms": H, "at_ms": H}
    faster = {"verb": "scale_arrivals", "factor": 1000, "at_ms": 3 * H - 2}
    assert [(job.id, job.arrival_ms) for job in last(added, faster).jobs][1:] == [
        ("j1", H), ("j1+1", H + 1), ("j2", 2 * H), ("j3", 3 * H - 1),
    ]  # fmt: skip


def test_an_edit_that_is_switched_off_changes_nothing():
    assert after({"verb": "drop_jobs", "jobs": "j0", "off": True}) == [(0, WORLD, ())]


def test_the_cloud_and_uploads():
    state = last({"verb": "switch_cloud", "on": True}, {"verb": "change_uploads", "where": "edge", "factor": 2})
    assert (state.cluster.unlimited_cloud, state.jobs[0].upload_ms, state.jobs[0].cloud_upload_ms) == (
        True,
        (2, 4, 6, 8),
        9,
    )
    with pytest.raises(ModelError, match="the unlimited cloud is already off"):
        after({"verb": "switch_cloud", "on": "false"})


def test_sentences():
    sentences = [edit.sentence() for edit in parse([
        {"verb": "fail_servers", "servers": "edge-0", "at_ms": 26 * H, "for_ms": 90 * 60_000},
        {"verb": "scale_arrivals", "factor": 1.5},
        {"verb": "add_jobs", "like": "j1", "count": 3, "arrival_ms": H, "every_ms": 60_000},
    ])]  # fmt: skip
    assert sentences == [
        "From 1d 02:00:00: fail edge-0 for 1h 30m",
        "Scale the arrival rate by 1.5",
        "Add 3 jobs like j1, arriving at 01:00:00, one every 1m",
    ]


def test_a_moment_reads_as_on_pages():
    """tests/js/scenarios/whatif.test.js holds the pages against the same file."""
    rows = json.loads((Path(__file__).parents[2] / "fixtures" / "moments.json").read_text())
    assert [moment(row["ms"]) for row in rows] == [row["text"] for row in rows]


def test_every_verb_says_what_it_is_and_has_a_sentence():
    for name, cls in verbs().items():
        edit = parse([{"verb": name, "at_ms": 5}])[0]
        assert cls.about.endswith(".")
        assert edit.sentence().startswith("From 00:00:00.005: ")
        assert parse([plain(edit)]) == [edit]


def test_the_effect_in_numbers():
    state = last({"verb": "add_servers", "like": "edge-0"}, {"verb": "drop_jobs", "jobs": "j0"},
                 {"verb": "delay_jobs", "jobs": "j1 j2"}, {"verb": "fail_servers", "servers": "cloud-*"},
                 {"verb": "change_scheduler", "scheduler": "fifo", "at_ms": 1})  # fmt: skip
    before = replace(WORLD, jobs=[replace(j, upload_ms=None) for j in JOBS])
    assert effect(before, state.with_jobs([replace(j, upload_ms=None) for j in state.jobs])) == {
        "servers": 1, "capacity": dict.fromkeys(("gpu", "cpu", "memory", "storage", "bandwidth"), 0.25), "away": 2,
        "jobs_dropped": 1, "jobs_touched": 2, "scheduler": "fifo",
    }  # fmt: skip


def test_a_server_that_is_added_later_counts_as_added_and_not_as_unavailable():
    added = {"verb": "add_servers", "like": "edge-0", "count": 2, "at_ms": H}
    assert "away" not in effect(WORLD, last(added))
    assert effect(WORLD, last(added, {"verb": "fail_servers", "servers": "edge-0+1", "at_ms": 2 * H}))["away"] == 1


def test_the_mark_of_a_server_and_the_effect_of_its_edit_agree():
    """A server that is removed before the run counts as removed; one that leaves during the run, as unavailable."""
    for verb in ("fail_servers", "drain_servers", "remove_servers"):
        state = last({"verb": verb, "servers": "edge-0", "at_ms": H})
        assert (marks(WORLD.cluster, state.cluster), effect(WORLD, state)["away"]) == ({"edge-0": "away"}, 1)
    state = last({"verb": "remove_servers", "servers": "edge-0"})
    assert (marks(WORLD.cluster, state.cluster), effect(WORLD, state)["servers"]) == ({"edge-0": "removed"}, -1)


def test_upload_times_to_servers_that_are_added_or_removed_are_no_change_of_a_job():
    assert JOBS[0].upload_ms is not None
    for edit in ({"verb": "add_servers", "like": "edge-0"}, {"verb": "remove_servers", "servers": "edge-0"}):
        assert "jobs_touched" not in effect(WORLD, last(edit))
    slower = last({"verb": "add_servers", "like": "edge-0"}, {"verb": "change_uploads", "factor": 2})
    assert effect(WORLD, slower)["jobs_touched"] == len(JOBS)


def test_a_further_outage_of_a_server_counts_as_one():
    failed = last({"verb": "fail_servers", "servers": "edge-0"})
    again = last(
        {"verb": "fail_servers", "servers": "edge-0"}, {"verb": "fail_servers", "servers": "*", "at_ms": 5 * H}
    )
    assert effect(failed, again)["away"] == len(WORLD.cluster.servers)


@given(st.lists(st.sampled_from([
    {"verb": "add_servers", "like": "edge-1"}, {"verb": "remove_servers", "servers": "edge-0"},
    {"verb": "fail_servers", "servers": "cloud-*"}, {"verb": "delay_jobs", "jobs": "j*"},
    {"verb": "scale_arrivals", "factor": 3}, {"verb": "add_jobs", "like": "j2", "arrival_ms": 9 * H},
    {"verb": "drop_jobs", "jobs": "j3"},
]), max_size=6), st.lists(st.integers(0, 9), min_size=6, max_size=6))  # fmt: skip
def test_whatever_is_edited_the_world_stays_sound(edits, hours):
    given_edits = [{**edit, "at_ms": hour * H} for edit, hour in zip(edits, hours, strict=False)]
    try:
        found = after(*given_edits)
    except ModelError:
        return
    moments = [ms for ms, _, _ in found]
    assert moments == sorted(set(moments))
    for (_, before, _), (_, later, _) in pairwise(found):
        assert [s.name for s in later.cluster.servers[: len(before.cluster.servers)]] == [
            s.name for s in before.cluster.servers
        ]
    arrivals = [job.arrival_ms for job in found[-1][1].jobs]
    assert arrivals == sorted(arrivals)
    assert len({job.id for job in found[-1][1].jobs}) == len(arrivals)
