"""Templates of runs: their workloads, their start, and the scenario that is used again."""

import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from dashboard.readmodels.studies.gallery import picture
from scheduling import algorithms
from scheduling.model.values import Cluster
from scheduling.workloads import generate
from tests.dashboard.builders import post
from twin.models import ClusterSpec, Run, Scenario, Trace
from twin.scenarios import store
from twin.scenarios.edits import parse
from twin.studies.gallery.arrivals import HOUR_MS
from twin.studies.gallery.starting import MENU, templates

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = MENU.names()
HOUR = HOUR_MS


def start(client, name):
    return post(client, f"/api/templates/{name}/start/", {})


@pytest.mark.parametrize("name", NAMES)
def test_two_calls_give_equal_jobs_in_the_order_of_arrival(name):
    cluster, jobs = MENU.named(name).workload()
    assert (cluster, jobs) == MENU.named(name).workload()
    assert [job.arrival_ms for job in jobs] == sorted(job.arrival_ms for job in jobs)
    assert isinstance(cluster, Cluster)


@pytest.mark.parametrize("name", NAMES)
def test_a_start_makes_the_run_or_the_race_that_its_card_names(operator, name):
    made = start(operator, name).json()
    template = MENU.named(name)
    runs = [Run.objects.select_related("scenario").get(pk=pk) for pk in made["runs"]]
    assert [run.scenario.scheduler for run in runs] == [template.scheduler, *template.rivals]
    assert made["page"] == (
        f"/compare/?runs={','.join(map(str, made['runs']))}" if template.rivals else f"/runs/{made['runs'][0]}/"
    )
    scenario = Scenario.objects.get(pk=made["scenario"])
    assert (scenario.name, scenario.seed, scenario.edits) == (template.title, template.seed, list(template.edits))
    assert list(store.jobs_of(scenario.trace_id)) == template.workload()[1]


@pytest.mark.parametrize("name", ["philly_week", "flash_crowd"])
def test_a_second_start_makes_new_runs_of_the_same_scenarios(operator, name):
    first, second = start(operator, name).json(), start(operator, name).json()
    assert first["scenario"] == second["scenario"]
    assert not set(first["runs"]) & set(second["runs"])
    count = len(first["runs"])
    assert (Scenario.objects.count(), Trace.objects.count(), ClusterSpec.objects.count()) == (count, 1, 1)
    assert Run.objects.count() == 2 * count


def test_a_scenario_that_somebody_has_edited_is_left_alone(operator):
    first = start(operator, "edge_failure").json()["scenario"]
    Scenario.objects.filter(pk=first).update(edits=[])
    second = start(operator, "edge_failure").json()["scenario"]
    assert second != first
    assert len(Scenario.objects.get(pk=second).edits) == 1
    assert Trace.objects.count() == 1


def test_the_papers_have_the_settings_of_their_experiments():
    assert MENU.named("oasis_paper").workload() == generate(
        "oasis", num_jobs=100, num_servers=100, seed=1, horizon_slots=300
    )
    assert MENU.named("harmony_paper").workload() == generate(
        "harmony", num_jobs=80, num_servers=100, seed=1, slot_ms=60_000
    )


def test_a_week_is_busy_by_day_and_quiet_at_the_weekend():
    jobs = MENU.named("philly_week").workload()[1]
    hours = [job.arrival_ms // HOUR for job in jobs]
    weekdays = [hour for hour in hours if hour < 5 * 24]
    afternoon = [hour for hour in weekdays if 9 <= hour % 24 < 21]
    assert len(weekdays) > 5 * (len(hours) - len(weekdays))
    assert len(afternoon) > 1.8 * (len(weekdays) - len(afternoon))


def test_most_of_a_crowd_comes_within_two_hours():
    jobs = MENU.named("flash_crowd").workload()[1]
    crowd = [job for job in jobs if 20 * HOUR <= job.arrival_ms < 22 * HOUR]
    assert len(crowd) > 0.5 * len(jobs) == 75


def test_the_failure_takes_every_server_of_the_edge():
    template = MENU.named("edge_failure")
    cluster, jobs = template.workload()
    (edit,) = parse(template.edits)
    state = edit.apply(store.ScenarioState(cluster, jobs, "oasis", {}))
    changed = {new.site for new, old in zip(state.cluster.servers, cluster.servers, strict=True) if new != old}
    same = {new.site for new, old in zip(state.cluster.servers, cluster.servers, strict=True) if new == old}
    assert (changed, same) == ({"edge"}, {"cloud"})


def test_jobs_of_the_generated_periods_complete():
    for name, least in (("philly_week", 400), ("google_day", 590), ("edge_failure", 15)):
        template = MENU.named(name)
        cluster, jobs = template.workload()
        spec, trace = store.store_generated(name, cluster, jobs, 1)
        scenario = Scenario.objects.create(
            name=name, cluster=spec, trace=trace, scheduler=template.scheduler, edits=list(template.edits)
        )
        events = list(store.played(store.stages_of(scenario, scenario.edits), 1).events())
        assert sum(event.kind == "job_completed" for event in events) >= least, name


def test_the_list_names_all_with_their_schedulers(viewer):
    rows = viewer.get("/api/templates/").json()
    assert [row["name"] for row in rows] == [template.name for template in templates()]
    assert sorted(row["name"] for row in rows) == list(NAMES)
    crowd = next(row for row in rows if row["name"] == "flash_crowd")
    assert (crowd["jobs"], crowd["servers"], crowd["schedulers"]) == (150, 80, ["OASiS", "FIFO", "DRF"])


@pytest.mark.parametrize(("how", "reason"), [
    ("removed", "scheduler 'oasis' is not available: no file oasis.py is installed with the schedulers"),
    ("defined twice", "scheduler 'oasis' is not available: this name is defined more than once: "),
])  # fmt: skip
def test_a_missing_scheduler_disables_only_its_templates(operator, more_schedulers, monkeypatch, how, reason):
    folder, forget = more_schedulers
    own = Path(algorithms.__path__[0])
    if how == "removed":
        for file in own.glob("*.py"):
            if file.stem not in ("oasis", "__init__"):
                shutil.copy(file, folder)
        monkeypatch.setattr(algorithms, "__path__", [str(folder)])
    else:
        shutil.copy(own / "oasis.py", folder)
    forget()
    cards = {row["name"]: row for row in operator.get("/api/templates/").json()}
    assert set(cards) == set(NAMES)
    needy = {name for name in NAMES if "oasis" in (MENU.named(name).scheduler, *MENU.named(name).rivals)}
    assert {name for name, card in cards.items() if card["unavailable"]} == needy
    assert "flash_crowd" in needy < set(NAMES)
    assert cards["flash_crowd"]["unavailable"].startswith(reason)
    assert cards["flash_crowd"]["schedulers"] == ["oasis", "FIFO", "DRF"]
    for address in ("/", "/scenarios/"):
        page = unescape(operator.get(address).content.decode())
        assert set(re.findall(r'data-template="(\w+)"\s+disabled', page)) == needy
        assert f'id="missing-flash_crowd">Cannot start: {reason}' in page
    for name in needy:
        answer = start(operator, name)
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith(reason)
    assert not Scenario.objects.exists()
    assert start(operator, "philly_week").status_code == 201


def test_viewers_start_nothing_and_unknown_names_are_said(viewer, operator):
    assert start(viewer, "philly_week").status_code == 403
    answer = start(operator, "philly")
    assert (answer.status_code, Run.objects.count()) == (404, 0)
    assert "philly_week" in answer.json()["detail"]


def test_cards_are_on_the_page_of_operators_and_on_an_empty_overview(operator, viewer):
    cards = re.compile(r'data-template="(\w+)"')
    shown = [template.name for template in templates()]
    assert cards.findall(operator.get("/scenarios/").content.decode()) == shown
    assert cards.findall(operator.get("/").content.decode()) == shown
    assert not cards.findall(viewer.get("/scenarios/").content.decode() + viewer.get("/").content.decode())
    start(operator, "philly_week")
    assert not cards.findall(operator.get("/").content.decode())


def test_a_picture_has_a_bar_per_busy_part_and_its_outages():
    drawn = picture([0, 0, 50, 99], [(50, 50)])
    assert drawn["outages"] == [(84, 84)]
    assert drawn["bars"] == "M0 36v-32h3v32zM84 36v-16h3v16zM164 36v-16h3v16z"
