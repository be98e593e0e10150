"""Schedulers of a run over time: every answer, list and search names who is and who was in charge."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.dashboard.builders import downloaded, post
from tests.dashboard.schedulers.builders_handovers import H, change, handed
from twin.models import Run, Scenario
from twin.runs import scheduler_history
from twin.scenarios import store


def test_schedulers_in_charge_are_those_of_the_edited_scenario_states(make_scenario):
    edits = [change("srtf", 5 * H), change("drf", 2 * H), change("oasis", 7 * H, off=True), change("harmony", 5 * H),
             change("harmony", 6 * H, parameters="profiling=online")]  # fmt: skip
    scenario = make_scenario(scheduler="fifo")
    found = scheduler_history.in_order(scenario.scheduler, edits)
    assert [(one.from_ms, one.name) for one in found] == [(0, "fifo"), (2 * H, "drf"), (5 * H, "harmony")]
    stages_of = [(stage.at_ms, stage.state.scheduler) for stage in store.stages_of(scenario, edits)]
    assert stages_of == [*((one.from_ms, one.name) for one in found), (6 * H, "harmony")]
    assert scheduler_history.words(found) == "FIFO → DRF at 02:00:00 → Harmony at 05:00:00"


def test_every_answer_about_a_run_names_who_is_and_who_was_in_charge(viewer, make_scenario):
    run, other = handed(make_scenario, "fifo", change("srtf", 26 * H)), handed(make_scenario, "fifo")
    schedulers = [{"from_ms": 0, "name": "fifo", "title": "FIFO"}, {"from_ms": 26 * H, "name": "srtf", "title": "SRTF"}]
    row = viewer.get(f"/api/runs/{run.pk}/").json()
    assert (row["scheduler"], row["schedulers"]) == ("srtf", schedulers)
    assert viewer.get("/api/runs/").json()["results"][1]["schedulers"] == schedulers
    compared = viewer.get("/api/compare/", {"runs": f"{run.pk},{other.pk}"}).json()["runs"]
    assert [(one["scheduler"], one["title"]) for one in compared] == [
        ("srtf", "FIFO → SRTF at 1d 02:00:00"),
        ("fifo", "FIFO"),
    ]
    head = downloaded(viewer.get("/api/compare/metrics.csv", {"runs": f"{run.pk},{other.pk}"})).decode().splitlines()[0]
    assert f"run {run.pk} fifo → srtf at 1d 02:00:00" in head
    assert f"run {other.pk} fifo," in head
    summary = viewer.get(f"/api/runs/{run.pk}/summary.json").json()
    assert (summary["scheduler"], summary["schedulers"]) == ("fifo", schedulers), "what it began with, and who followed"
    assert "schedulers" not in viewer.get(f"/api/runs/{other.pk}/summary.json").json()


def test_parameters_are_those_of_the_scheduler_that_they_stand_beside(viewer, make_scenario):
    scenario = make_scenario(scheduler="fifo")
    Scenario.objects.filter(pk=scenario.pk).update(parameters={"backfill": True})
    edits = [change("oasis", 3 * H, parameters="floor_scale=2"), change("oasis", 5 * H, parameters="floor_scale=4")]
    run, other = (Run.objects.create(scenario=scenario, edits=given, status=Run.RUNNING) for given in (edits, []))
    for sim_ms, name, parameters in (
        (2 * H, "fifo", {"backfill": True}),
        (3 * H, "oasis", {"floor_scale": "2"}),
        (5 * H, "oasis", {"floor_scale": "4"}),
    ):
        Run.objects.update(sim_ms=sim_ms)
        compared = viewer.get("/api/compare/", {"runs": f"{run.pk},{other.pk}"}).json()["runs"][0]
        static = viewer.get(f"/api/runs/{run.pk}/static/").json()
        assert (compared["scheduler"], compared["parameters"]) == (name, parameters)
        assert (static["scheduler"]["name"], static["run"]["parameters"]) == (name, parameters)


def test_runs_are_found_by_each_of_their_schedulers(viewer, make_scenario):
    handed_over, plain = handed(make_scenario, "fifo", change("srtf", 26 * H)), handed(make_scenario, "fifo")
    switched_off = handed(make_scenario, "fifo", change("tiresias_l", 26 * H, off=True))
    for asked, found in (
        ("srt", [handed_over]), ("SRTF", [handed_over]), ("fifo", [switched_off, plain, handed_over]), ("tiresias", []),
    ):  # fmt: skip
        rows = viewer.get("/api/runs/", {"q": asked}).json()["results"]
        assert [row["id"] for row in rows] == [run.pk for run in found], asked
    Run.objects.filter(pk=handed_over.pk).update(status=Run.CANCELLED, sim_ms=25 * H)
    assert viewer.get("/api/runs/", {"q": "srtf"}).json()["results"] == [], "its turn never came"


def test_a_scheduler_is_found_by_its_title(viewer, make_scenario):
    run = handed(make_scenario, "fifo", change("tiresias_l", 26 * H))
    assert [row["id"] for row in viewer.get("/api/runs/", {"q": "Tiresias-L"}).json()["results"]] == [run.pk]


def test_scenarios_and_races_name_all_schedulers(operator, make_scenario, layer):
    scenario = make_scenario(scheduler="fifo")
    Scenario.objects.filter(pk=scenario.pk).update(edits=[change("drf", 26 * H)])
    row = operator.get(f"/api/scenarios/{scenario.pk}/").json()
    assert [(one["from_ms"], one["name"]) for one in row["schedulers"]] == [(0, "fifo"), (26 * H, "drf")]
    assert operator.get("/api/scenarios/").json()["results"][0]["schedulers"] == row["schedulers"]
    runs = post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["fifo", "rrh"]}).json()["runs"]
    raced = operator.get(f"/api/runs/{runs[1]['id']}/").json()
    assert raced["scenario_name"] == f"{row['name']}, RRH → DRF at 1d 02:00:00"
    assert [one["name"] for one in raced["schedulers"]] == ["rrh", "drf"]


def test_a_scheduler_whose_turn_has_not_come_is_not_the_present_one(make_scenario):
    run = Run(
        scenario=make_scenario(), edits=[change("srtf", 26 * H)], status=Run.RUNNING, mode=Run.LIVE, sim_ms=25 * H
    )
    assert (scheduler_history.current(run).name, len(scheduler_history.of_run(run))) == ("fifo", 2)
    run.sim_ms = 26 * H
    assert scheduler_history.current(run).name == "srtf"
    run.sim_ms, run.status = 25 * H, Run.CANCELLED
    assert [one.name for one in scheduler_history.of_run(run)] == ["fifo"], "it never will be"


def listed(viewer, **query) -> tuple[list[int], dict[str, int], dict[str, int]]:
    """Numbers of the listed runs, number of runs by status, and by scheduler."""
    page = viewer.get("/api/runs/", {"size": 500, **query}).json()
    assert page["count"] == len(page["results"])
    assert page["scheduler_titles"].keys() == page["by_scheduler"].keys()
    by_status = {status: count for status, count in page["by_status"].items() if count}
    return sorted(run["id"] for run in page["results"]), by_status, page["by_scheduler"]


def test_a_run_is_found_under_each_scheduler_that_has_been_in_charge_of_it(viewer, make_scenario):
    scenario = make_scenario(scheduler="fifo")
    edits = {
        "plain": [{"verb": "fail_servers", "servers": ["a"], "at_ms": 0}],
        "handed": [change("srtf", 3 * H), change("drf", 9 * H), change("oasis", 4 * H, off=True)],
        "back": [change("srtf", 3 * H), change("fifo", 4 * H)],
        "at once": [change("srtf", 0)],
        "ahead": [change("srtf", 6 * H)],
    }
    of = {
        name: Run.objects.create(scenario=scenario, edits=given, status=Run.FINISHED, sim_ms=5 * H).pk
        for name, given in edits.items()
    }
    Run.objects.filter(pk=of["ahead"]).update(status=Run.RUNNING)
    fifo = [of[name] for name in ("plain", "handed", "back", "ahead")]
    srtf = [of[name] for name in ("handed", "back", "at once")]
    counts = {"fifo": 4, "srtf": 3}
    assert listed(viewer) == (sorted(of.values()), {"finished": 4, "running": 1}, counts)
    assert listed(viewer, scheduler="fifo") == (fifo, {"finished": 3, "running": 1}, counts)
    assert listed(viewer, scheduler="srtf") == (srtf, {"finished": 3}, counts)
    assert listed(viewer, scheduler="drf") == ([], {}, counts), "these runs ended before, or it is turned off"
    assert listed(viewer, scheduler="fifo", status="running") == (
        [of["ahead"]],
        {"finished": 3, "running": 1},
        {"fifo": 1},
    )


def test_a_list_of_runs_takes_as_many_queries_for_many_runs_as_for_few(viewer, make_scenario):
    scenario = make_scenario(scheduler="fifo")

    def queries(runs: int) -> list[str]:
        made = [
            Run(scenario=scenario, edits=[change("srtf")] * (n % 2), status=Run.FINISHED, sim_ms=5 * H, last_seq=9)
            for n in range(runs)
        ]
        Run.objects.bulk_create(made)
        with CaptureQueriesContext(connection) as found:
            assert viewer.get("/api/runs/", {"size": 500, "scheduler": "srtf"}).status_code == 200
        return [query["sql"] for query in found]

    few, many = queries(10), queries(490)
    assert len(few) == len(many)
    assert not any("twin_event" in sql for sql in many), "no log is read"


def test_a_search_names_all_schedulers_of_a_scenario(viewer, make_scenario):
    scenario = make_scenario(scheduler="fifo")
    scenario.name, scenario.edits = "night shift", [change("srtf"), change("drf", 4 * H, off=True)]
    scenario.save()
    (group,) = viewer.get("/api/search/?q=night").json()
    assert [hit["detail"] for hit in group["hits"]] == ["FIFO → SRTF at 03:00:00"]
