"""Cards of the form of a new run: the arrivals of a trace, the servers of a cluster, races, and earlier runs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.model.values import Cluster, Job, Server
from tests.dashboard.scenarios.builders_scenarios import without_samples
from tests.twin.builders import scenario_of
from tests.twin.mirror.builders import polled, running
from tests.twin.mirror.builders_stored import following
from twin.models import ClusterSpec, Connection, Run, Scenario, Trace
from twin.runs import earlier
from twin.scenarios.store import store_generated

BIG, SMALL = (8_000, 64_000, 0, 0, 0), (2_000, 8_000, 0, 0, 0)


def test_a_cluster_is_shown_by_site_and_kind(viewer, db):
    servers = (
        Server("a", "edge", SMALL),
        Server("b", "edge", BIG),
        Server("c", "edge", SMALL),
        Server("d", "cloud", BIG),
    )
    spec, trace = store_generated("t", Cluster("c", 60_000, servers), [Job("j", 5), Job("k", 65)], 0)
    edge, cloud = viewer.get(f"/api/clusters/{spec.pk}/card/").json()["sites"]
    assert (edge["site"], edge["servers"], edge["gpus"]) == ("edge", 3, 12)
    assert [(kind["servers"], kind["gpu"]) for kind in edge["kinds"]] == [(1, 8), (2, 2)]
    assert (cloud["site"], cloud["servers"], cloud["gpus"]) == ("cloud", 1, 8)
    card = viewer.get(f"/api/traces/{trace.pk}/card/").json()
    assert (card["jobs"], card["span_ms"]) == (2, 60)
    assert card["picture"]["bars"].count("M") == 2


def test_the_trace_of_a_live_cluster_has_no_arrivals_of_its_own(viewer, db):
    connection = Connection.objects.create(name="lab", connector="slurm")
    following(connection, polled(10, running("1", 5))).apply(polled(10, running("1", 5)))
    card = viewer.get(f"/api/traces/{connection.run.scenario.trace_id}/card/")
    assert (card.status_code, card.json()["jobs"], card.json()["span_ms"]) == (200, 0, 0)


def test_a_trace_that_is_not_ready_has_no_card(viewer, db):
    trace = Trace.objects.create(name="t", format="auto", status=Trace.PARSING)
    assert viewer.get(f"/api/traces/{trace.pk}/card/").status_code == 404


def test_the_form_says_who_cannot_race_with_its_scheduler(viewer, db):
    scenario = without_samples("oasis")
    query = {"trace": scenario.trace_id, "cluster": scenario.cluster_id, "scheduler": "oasis"}
    fit = viewer.get("/api/scenarios/suitability/", query).json()["fit"]
    race = viewer.get(f"/api/scenarios/{scenario.pk}/race/").json()
    assert fit["race"] == {row["scheduler"]: row["reason"] for row in race["left_out"]}
    assert fit["reasons"]["pd_ors"].startswith("8 of 8 jobs lack num_samples")
    assert "oasis" not in fit["reasons"]


@pytest.fixture
def ran(db):
    """A finished batch run of a scenario that took that many seconds."""

    def make(scenario: Scenario, seconds: float, **fields: object) -> Run:
        began = timezone.now()
        given = {"started_at": began, "finished_at": began + timedelta(seconds=seconds), "status": Run.FINISHED}
        return Run.objects.create(scenario=scenario, **{**given, **fields})

    return make


def test_the_time_of_earlier_runs_is_that_of_runs_of_about_the_same_size(ran):
    scenario = scenario_of("oasis", "fifo", jobs=8)
    servers = ClusterSpec.objects.get().server_count
    ran(scenario, 2.0)
    ran(scenario, 5.0)
    ran(scenario, 60.0, mode=Run.LIVE)
    ran(scenario, 70.0, status=Run.CANCELLED)
    ran(scenario, 80.0, edits=[{"verb": "scale_arrivals", "factor": 2.0}])
    assert earlier.of_size(8, servers) == {"fifo": (2, 2.0, 5.0)}
    assert earlier.of_size(16, servers) == {"fifo": (2, 2.0, 5.0)}
    assert earlier.of_size(17, servers) == {}
    assert earlier.of_size(8, servers * 3) == {}
