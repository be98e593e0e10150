"""Races: a run of each scheduler that can, on one scenario."""

from dataclasses import replace

import pytest

from scheduling.kernel.registry import schedulers
from scheduling.workloads import generate
from tests.dashboard.builders import post
from tests.dashboard.compare.builders import address
from tests.twin.runtime.queues import messages, work
from twin.models import AuditEntry, Run, Scenario
from twin.runs import runner
from twin.scenarios import store
from twin.studies import races


def test_a_race_starts_a_run_of_each_scheduler_that_can(operator, make_scenario, layer):
    """The OASiS paper's workload has no samples, so PD-ORS is left out; the rest run side by side and are compared."""
    scenario = make_scenario(scheduler="oasis")
    race = operator.get(f"/api/scenarios/{scenario.pk}/race/").json()
    left_out = {row["scheduler"]: row["reason"] for row in race["left_out"]}
    assert left_out["pd_ors"] == (
        "its execution model is slotted (jobs train by samples), and that of this race is slotted (jobs train by "
        "chunks): the same job has different durations, so its metrics could not be ranked"
    )
    models = {row["scheduler"]: row["model"] for row in race["left_out"]}
    assert models["pd_ors"] == "slotted (jobs train by samples)"
    assert models["gavel"] == models["harmony"]
    assert {row["scheduler"] for row in race["able"]} | set(left_out) == set(schedulers())
    assert {"oasis", "fifo", "drf", "rrh"} <= {row["scheduler"] for row in race["able"]}
    assert all(
        "its metrics could not be ranked" in left_out[name]
        for name, cls in schedulers().items()
        if "oasis" not in cls.model.supports
    )
    answer = post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo", "drf"]})
    assert answer.status_code == 201
    runs = answer.json()["runs"]
    assert [run["scheduler"] for run in runs] == ["oasis", "fifo", "drf"]
    assert runs[0]["scenario"] == scenario.pk
    assert answer.json()["compare"] == f"/compare/?runs={','.join(str(run['id']) for run in runs)}&race={scenario.pk}"
    assert (
        AuditEntry.objects.filter(action="scenario.race", user=operator.user, subject=f"scenario {scenario.pk}").count()
        == 1
    )
    assert AuditEntry.objects.filter(action="run.start", user=operator.user).count() == 3
    assert messages() == [], "the test's transaction never commits, so nobody was asked yet"
    runner.enqueue_all([run["id"] for run in runs])
    assert work() >= 3
    answer = operator.get(address(*(run["id"] for run in runs))).json()
    assert [run["status"] for run in answer["runs"]] == ["finished"] * 3


def test_a_race_uses_scenarios_again_and_keeps_to_one_model(operator, make_scenario, layer):
    scenario = make_scenario(scheduler="oasis")
    for _ in range(2):
        assert (
            post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo"]}).status_code == 201
        )
    assert Scenario.objects.count() == 2
    assert Scenario.objects.get(scheduler="fifo").parameters == {"model": "oasis"}
    assert all(entrant.parameters.get("model") in (None, "oasis") for entrant in races.entrants(scenario))


@pytest.mark.parametrize(("name", "expected"), [("spring race", "spring race, FIFO"), ("edge, OASiS", "edge, FIFO")])
def test_the_runs_of_a_race_have_its_name(operator, make_scenario, layer, name, expected):
    scenario = make_scenario(scheduler="oasis")
    Scenario.objects.filter(pk=scenario.pk).update(name=name)
    assert post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo"]}).status_code == 201
    assert sorted(Scenario.objects.values_list("name", flat=True)) == sorted([name, expected])


def test_a_race_names_what_is_wrong(operator, viewer, make_scenario, layer):
    scenario = make_scenario(scheduler="oasis")
    where = f"/api/scenarios/{scenario.pk}/race/"
    for chosen, message in (
        (["oasis", "fifoo"], "unknown scheduler 'fifoo'; known"),
        (["oasis", "pd_ors"], "PD-ORS cannot run this"),
        (["oasis"], "at least 2"),
    ):
        answer = post(operator, where, {"schedulers": chosen})
        assert answer.status_code == 400
        assert message in str(answer.json())
    assert Run.objects.count() == 0
    assert post(viewer, where, {}).status_code == 403
    assert viewer.get(where).status_code == 200
    assert operator.post("/api/scenarios/999999/race/", {}, content_type="application/json").status_code == 404


def test_a_race_without_utilities_leaves_out_who_decides_by_them(operator, layer):
    """RRH weighs utilities: without them it would reject every job as one whose utility is 0."""
    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=6, num_servers=6, seed=2)
    spec, trace = store.store_generated("without", cluster, [replace(job, utility=None) for job in jobs], 2)
    scenario = Scenario.objects.create(name="fifo", cluster=spec, trace=trace, scheduler="fifo", seed=1)
    race = operator.get(f"/api/scenarios/{scenario.pk}/race/").json()
    left_out = {row["scheduler"]: row["reason"] for row in race["left_out"]}
    for name in ("oasis", "replanning", "rrh"):
        assert left_out[name] == "no job of the trace has utility, which it requires"
