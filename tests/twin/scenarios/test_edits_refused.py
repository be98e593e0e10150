"""Edits that are refused: impossible ones, and those without an effect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from tests.twin.scenarios.builders_edits import WORLD, H, after, last
from twin.scenarios.edits import MAX_EDITS, parse, verbs
from twin.scenarios.edits.preview import preview


@pytest.mark.parametrize(("edits", "sentence"), [
    ([{"verb": "explode"}], "edit 1: unknown verb 'explode'; known: add_jobs, add_servers, change_bandwidth"),
    (["drop"], "edit 1: must be an object with a verb, got 'drop'"),
    ([{"verb": "drop_jobs", "at_ms": -1}], r"edit 1: at_ms must be an integer from 0 to 2\^53 ms, got -1$"),
    ([{"verb": "drop_jobs", "job": "j1"}], r"edit 1 \(remove jobs\): unknown parameter 'job'; known: jobs"),
    ([{"verb": "drop_jobs", "jobs": "x*"}], r"edit 1 \(remove jobs\): no job matches 'x\*'; jobs: j0, j1, j2, j3"),
    ([{"verb": "drop_jobs", "jobs": "*"}],
     r"edit 1 \(remove jobs\): at least one job must remain, and '\*' selects all 4; select fewer$"),
    ([{"verb": "drop_jobs", "jobs": " "}], r"edit 1 \(remove jobs\): jobs must be selected; \* selects all"),
    ([{"verb": "remove_servers", "servers": "*"}],
     r"edit 1 \(remove servers\): at least one server must remain, and '\*' selects all 4; select fewer$"),
    ([{"verb": "remove_servers", "servers": "*", "at_ms": 1}],
     r"edit 1 \(remove servers\): at least one server must remain, and '\*' selects all 4; select fewer$"),
    ([{"verb": "add_servers", "like": "edge-0", "count": 0}],
     r"edit 1 \(add servers\): parameter count \(Number of servers\) must be at least 1, got 0"),
    ([{"verb": "add_servers", "like": "edge-0", "count": 100_000}],
     "a cluster has at most 100,000 servers, got 100,004"),
    ([{"verb": "scale_arrivals", "factor": "fast"}],
     r"edit 1 \(scale the arrival rate\): parameter factor must be a number, got 'fast'"),
    ([{"verb": "resize_servers", "servers": "edge-0", "amount": 0.0001}], "amount must have at most three decimals"),
    ([{"verb": "drain_servers", "servers": "edge-0", "at_ms": H, "from_ms": 0}], "cannot be announced at 01:00:00"),
    ([{"verb": "drain_servers", "servers": "edge-0", "from_ms": H, "to_ms": H}], "a drain must end after its start"),
    ([{"verb": "add_jobs", "like": "j9"}], "no job has the id 'j9'"),
    ([{"verb": "add_jobs"}], r"parameter like \(Job to copy\) is empty; give the id of a job; jobs: j0, j1, "),
    ([{"verb": "add_servers"}],
     r"edit 1 \(add servers\): parameter like \(Server to copy\) is empty; name the server to copy; servers: edge-0, "),
    ([{"verb": "change_jobs", "jobs": "*", "field": "iterations", "factor": 2}],
     r"none of the jobs '\*' has the field iterations; fields that they have: epochs$"),
    ([{"verb": "change_scheduler", "scheduler": "fifo"}], "the initial scheduler is part of the scenario"),
    ([{"verb": "change_scheduler", "at_ms": 1, "scheduler": "best"}], "unknown scheduler 'best'; known: "),
    ([{"verb": "change_scheduler", "at_ms": 1, "scheduler": "fifo", "parameters": "fast"}],
     "parameters must be name=value pairs separated by spaces, got 'fast'"),
    ([{"verb": "drop_jobs"}] * (MAX_EDITS + 1), "a scenario has at most 200 edits, got 201"),
])  # fmt: skip
def test_what_cannot_be_done_is_said(edits, sentence):
    with pytest.raises((ModelError, UnknownName), match=sentence):
        after(*edits)


def test_a_cluster_as_large_as_an_import_may_grow():
    servers = tuple(replace(WORLD.cluster.servers[0], name=f"m{i}") for i in range(50_000))
    (edit,) = parse([{"verb": "add_servers", "like": "m0", "count": 1}])
    assert len(edit.apply(replace(WORLD, cluster=replace(WORLD.cluster, servers=servers))).cluster.servers) == 50_001


@pytest.mark.parametrize(("edit", "sentence"), [
    ({"verb": "fail_servers", "servers": None},
     "edit 1 (fail servers): parameter servers must be text, got None"),
    ({"verb": "fail_servers", "servers": "*", "for_ms": None},
     "edit 1 (fail servers): parameter for_ms (Duration) must be a whole number, got None"),
    ({"verb": "resize_servers", "servers": "*", "amount": None},
     "edit 1 (resize servers): parameter amount must be a number, got None"),
    ({"verb": "switch_cloud", "on": None},
     "edit 1 (switch the unlimited cloud on or off): parameter on (Unlimited cloud) must be true or false, got None"),
    ({"verb": "drop_jobs", "jobs": None}, "edit 1 (remove jobs): parameter jobs must be text, got None"),
    ({"verb": "scale_arrivals", "factor": 2, "off": "no"}, "edit 1: off must be true or false, got 'no'"),
    ({"verb": "add_servers", "like": "edge-*"},
     "edit 1 (add servers): parameter like (Server to copy) must select one server, got 2 with 'edge-*'"),
    ({"verb": "add_jobs", "like": "nobody" * 100}, "; jobs: j0, j1"),
    ({"verb": "change_scheduler", "scheduler": "zz", "at_ms": 5},
     "edit 1 (change the scheduler): unknown scheduler 'zz'; known: a_online"),
])  # fmt: skip
def test_what_is_nothing_or_means_several_is_refused_by_its_edit(edit, sentence):
    with pytest.raises(ValueError, match=r"\w") as caught:
        after(edit)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("edit", "sentence"), [
    ({"verb": "scale_arrivals"},
     "edit 1 (scale the arrival rate): changes nothing (“Scale the arrival rate by 1”); choose"),
    ({"verb": "scale_arrivals", "factor": 2, "at_ms": 9 * H}, "changes nothing (“From 09:00:00"),
    ({"verb": "change_jobs", "jobs": "*"}, "edit 1 (change jobs): changes nothing"),
    ({"verb": "change_jobs", "jobs": "*", "factor": 1.04}, "edit 1 (change jobs): changes nothing"),
    ({"verb": "change_utility", "jobs": "*"},
     "edit 1 (change utility): changes nothing (“Multiply nothing for jobs *”)"),
    ({"verb": "change_bandwidth", "servers": "*"}, "edit 1 (change bandwidth): changes nothing"),
    ({"verb": "change_uploads"}, "edit 1 (change upload times): changes nothing"),
    ({"verb": "resize_servers", "servers": "*", "amount": 4},
     "edit 1 (resize servers): changes nothing (“Set GPU of * to 4 GPU per server”)"),
    ({"verb": "change_scheduler", "scheduler": "oasis", "at_ms": H}, "edit 1 (change the scheduler): changes nothing"),
    ({"verb": "change_scheduler", "scheduler": "oasis", "parameters": "model=oasis", "at_ms": H},
     "(change the scheduler): changes nothing"),
    ({"verb": "switch_cloud", "on": False}, "the unlimited cloud is already off"),
])  # fmt: skip
def test_an_edit_without_effect_is_refused_when_it_is_made(edit, sentence):
    (made,) = parse([edit])
    with pytest.raises(ModelError) as caught:
        made.effective(WORLD)
    assert sentence in str(caught.value)
    rows, _ = preview(WORLD, [edit])
    assert rows[0]["error"]


def test_a_form_begins_with_an_edit_that_changes_something():
    needed = {
        "servers": "edge-0",
        "jobs": "j3",
        "like": "edge-0",
        "on": not WORLD.cluster.unlimited_cloud,
        "amount": 2.0,
    }
    for name, verb in verbs().items():
        begun = {row["name"]: row["default"] for row in verb.form() if row["default"] is not None}
        chosen = (
            begun
            | {key: value for key, value in needed.items() if key in begun}
            | ({"like": "j1"} if name == "add_jobs" else {})
        )
        (edit,) = parse([{"verb": name, "at_ms": 60_000, **chosen}])
        assert not edit.effective(WORLD).same(WORLD), name


def test_a_drain_of_a_time_in_which_nothing_is_there_changes_nothing():
    away = last({"verb": "fail_servers", "servers": "edge-0", "at_ms": H, "for_ms": 2 * H})
    (drain,) = parse([{"verb": "drain_servers", "servers": "edge-0", "at_ms": H, "to_ms": 2 * H}])
    with pytest.raises(ModelError, match="changes nothing"):
        drain.effective(away)


def test_an_edit_without_effect_that_was_kept_before_still_counts():
    """Runs and scenarios of older versions go on; only new edits are refused."""
    old = {"verb": "scale_arrivals", "factor": 1.0}
    assert after(old)[-1].state.same(WORLD)
    assert [row["error"] for row in preview(WORLD, [old], [old])[0]] == [""]


@pytest.mark.thorough
def test_all_edits_together_add_so_many_jobs():
    edit = {"verb": "add_jobs", "like": "j1", "count": 60_000, "arrival_ms": H}
    with pytest.raises(
        ModelError, match=r"edit 2 \(add jobs\): .* at most 100,000 jobs, got 120,000 with this one; add fewer"
    ):
        after(edit, edit)
