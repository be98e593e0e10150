"""Runs are rechecked by the execution that the files state; names decide nothing, what has no rules is a problem."""

import copy

import pytest

from scheduling.kernel.registry import build, scheduler_class, schedulers
from scheduling.verification.by_model import RULES, files_of
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.scheduling.builders import output, output_of
from tests.scheduling.colocation import grouped

PROFILES = {"pd_ors": "pd-ors", "srtf": "a-online", "tiresias_l": "a-online", "batch_sche": "a-online",
            "a_online": "a-online", "a_online_edge": "a-online", "harmony": "harmony", "oracle": "harmony",
            "isolated": "harmony", "naive_colocation": "harmony", "gavel": "harmony"}  # fmt: skip


def renamed(rows, name):
    """The same run under a scheduler of another name."""
    rows = copy.deepcopy(rows)
    rows["summary"]["scheduler"] = rows["events"][0]["data"]["scheduler"] = name
    return rows


def shrunk(rows):
    """A thousandth of every server, no workers and no cloud."""
    rows = copy.deepcopy(rows)
    rows["cluster"]["cloud"] = None
    for server in rows["cluster"]["servers"]:
        server["capacity"] = {resource: amount / 1000 for resource, amount in server["capacity"].items()}
        server |= {"worker_lanes": {}, "ps_lanes": {}}
    return rows


def without(rows):
    """As an older version wrote them: nothing states the execution."""
    rows = copy.deepcopy(rows)
    del rows["summary"]["execution"], rows["events"][0]["data"]["execution"]
    return rows


def run_of(name):
    profile = PROFILES.get(name, "oasis")
    cluster, jobs = generate(profile, num_jobs=10, num_servers=6, seed=3)
    return grouped.rows_of(cluster, jobs, name) if profile == "harmony" else output_of(cluster, jobs, name, 3, {})


@pytest.mark.parametrize("name", list(schedulers()))
def test_a_copy_under_another_name_gets_the_same_problems(name):
    rows = run_of(name)
    assert verify(**rows) == verify(**renamed(rows, "copy")) == []
    found = verify(**shrunk(rows))
    assert len(found) > 1
    assert verify(**shrunk(renamed(rows, "copy"))) == found


def test_work_that_is_not_done_is_noticed_under_any_name():
    rows = renamed(output("fifo"), "copy")
    for job in rows["jobs"]:
        job["epochs"] *= 3
    assert any("its workers finish its work never, but it completes" in problem for problem in verify(**rows))


def test_files_that_state_nothing_are_rechecked_by_the_scheduler_that_is_installed():
    rows = without(output("fifo"))
    cluster, _ = generate("oasis", num_jobs=40, num_servers=20, seed=3, horizon_slots=60)
    installed = build("fifo").execution_on(cluster)
    assert verify(**rows, installed=installed) == []
    assert any(" holds " in problem for problem in verify(**shrunk(rows), installed=installed))
    [problem] = verify(**rows)
    assert problem.startswith(
        "summary.json does not state the execution of scheduler 'fifo', and no scheduler of this name is installed"
    )


@pytest.mark.parametrize(("change", "sentence"), [
    ({"training": None}, "it states no known training model (oasis, pd-ors), so its work cannot be verified"),
    ({"packs": []}, "packs must be gpu, cpu, memory, storage, bandwidth with training oasis, got none"),
    ({"model": "magic"}, "an object whose model is one of slotted, typed_workers, colocation"),
    ({"training": "magic"}, "an object whose training is null or one of oasis, pd-ors"),
])  # fmt: skip
def test_what_states_no_rules_is_a_problem(change, sentence):
    rows = output("fifo", num_jobs=5)
    rows["summary"]["execution"] |= change
    rows["events"][0]["data"]["execution"] |= change
    assert any(sentence in problem for problem in verify(**rows))


def test_every_model_of_a_scheduler_has_rules():
    assert {cls.model.name for cls in [*schedulers().values(), scheduler_class("observed")]} == set(RULES)
    assert [files_of({"model": model}) for model in ("slotted", "colocation", "magic", None, [])] == [
        (), ("groups.csv",), (), (), (),
    ]  # fmt: skip


def test_a_log_of_a_model_without_rules_is_a_problem_of_that_line():
    rows = output("fifo", num_jobs=5)
    rows["events"][0]["data"]["execution"]["model"] = "magic"
    assert verify(**rows) == [
        "events.jsonl: line 1: run_started with an execution that must be an object whose model is one of slotted, "
        "typed_workers, colocation, observed, not 'magic'"
    ]


@pytest.mark.parametrize(("part", "of"), [("lanes", "srtf"), ("groups", "harmony")])
def test_metrics_of_another_model_are_a_problem(part, of):
    rows = output("fifo", num_jobs=5)
    rows["summary"]["metrics"][part] = run_of(of)["summary"]["metrics"][part]
    model = schedulers()[of].model.name
    assert verify(**rows) == [f"summary.json: {part} must not be there: no phase of events.jsonl has the model {model}"]


def test_the_installed_scheduler_the_log_and_the_summary_must_state_the_same():
    rows = output("fifo", num_jobs=5)
    installed = rows["summary"]["execution"] | {"final": True}
    assert "summary.json: execution.final is False, but scheduler 'fifo' has True on this cluster" in verify(
        **rows, installed=installed
    )
    rows["events"][0]["data"]["execution"] |= {"final": True}
    assert any(problem.startswith("summary.json: execution is {") for problem in verify(**rows))


def test_a_slotted_run_stands_on_servers():
    rows = output("fifo", num_jobs=5)
    for row in rows["schedule"]:
        row |= {"server": "", "group": "0"}
    assert any("is on no server, which the slotted model does not allow" in problem for problem in verify(**rows))


@pytest.mark.parametrize("column", ["lane", "chunk", "group"])
def test_a_slotted_run_names_no_part_of_a_server_or_job(column):
    rows = output("fifo", num_jobs=5)
    rows["schedule"][0][column] = "0"
    assert any(
        problem.endswith("names a worker, a chunk or a group, which the slotted model does not have")
        for problem in verify(**rows)
    )


def test_a_run_of_groups_that_tells_none_is_a_problem():
    rows = output("fifo", num_jobs=5)
    groups = {"model": "colocation", "packs": [], "final": False, "fills": False}
    rows["summary"]["execution"] = rows["events"][0]["data"]["execution"] = groups
    rows["summary"]["metrics"]["utilization"] = dict.fromkeys(rows["summary"]["metrics"]["utilization"])
    assert any("its bar is in group -1, which does not contain it" in problem for problem in verify(**rows))
