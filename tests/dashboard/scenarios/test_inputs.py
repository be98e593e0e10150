"""Clusters and scenarios by the API: what is listed and stored, and sentences about input that cannot be used."""

import pytest

from tests.dashboard.builders import post
from twin.models import ClusterSpec, Scenario


def test_wrong_names_are_answered_with_the_right_ones(operator, make_scenario):
    base = make_scenario()
    body = {"name": "x", "cluster": base.cluster_id, "trace": base.trace_id, "scheduler": "fifoo"}
    assert post(operator, "/api/scenarios/", body).json()["detail"].startswith("unknown scheduler 'fifoo'; known: ")
    wrong = post(operator, "/api/scenarios/", {**body, "scheduler": "fifo", "parameters": {"backfil": True}})
    assert wrong.json()["detail"] == "scheduler fifo: unknown parameter 'backfil'; known: model, backfill"
    wrong = post(operator, "/api/scenarios/", {**body, "scheduler": "oasis", "parameters": {"price_mode": "free"}})
    assert wrong.json()["detail"].startswith("parameter price_mode (Price floor) must be one of ")
    assert Scenario.objects.count() == 1


def test_clusters_are_listed_by_their_trace(operator, make_scenario):
    scenario = make_scenario()
    for trace in (scenario.trace, None, scenario.trace):
        ClusterSpec.objects.create(name="c", spec=scenario.cluster.spec, trace=trace)
    found = operator.get(f"/api/clusters/?trace={scenario.trace.pk}&size=500").json()["results"]
    own = ClusterSpec.objects.filter(trace=scenario.trace).order_by("-pk")
    assert [one["id"] for one in found] == list(own.values_list("pk", flat=True))
    assert len(found) >= 2
    assert operator.get("/api/clusters/?trace=999").json()["results"] == []
    refused = operator.get("/api/clusters/?trace=x")
    assert (refused.status_code, refused.json()["detail"]) == (400, "trace must be an integer, got 'x'")


def test_a_horizon_of_its_own_gives_the_scenario_a_cluster_of_its_own(operator, make_scenario):
    base = make_scenario()
    body = {"name": "x", "cluster": base.cluster_id, "trace": base.trace_id, "scheduler": "fifo", "horizon_slots": 30}
    first, second = (post(operator, "/api/scenarios/", body).json() for _ in range(2))
    assert first["cluster"] == second["cluster"] != base.cluster_id
    assert ClusterSpec.objects.get(pk=first["cluster"]).spec["horizon_slots"] == 30
    assert ClusterSpec.objects.get(pk=base.cluster_id).spec["horizon_slots"] == 100
    slots = [
        post(operator, "/api/scenarios/", {**body, "slot_ms": ms}).json()["cluster"] for ms in (3_599_999, 3_600_001)
    ]
    assert slots[0] != slots[1], "clusters whose sources could be displayed alike are not mixed up"
    short = post(operator, "/api/scenarios/", {**body, "slot_ms": 600_000}).json()["cluster"]
    names = [ClusterSpec.objects.get(pk=pk).name for pk in (base.cluster_id, first["cluster"], short)]
    assert names[1:] == [f"{names[0]}_30-slots", f"{names[0]}_slots-of-10-min_30-slots"]


def test_a_cluster_by_form_and_by_file(operator):
    made = post(operator, "/api/clusters/", {"profile": "oasis", "servers": 6, "seed": 1}).json()
    wrong = post(operator, "/api/clusters/", {"profile": "oasis", "seeds": 1}).json()["detail"]
    assert wrong.startswith("unknown field of the body 'seeds'; did you mean 'seed'? known: profile, servers, seed")
    spec = operator.get(f"/api/clusters/{made['id']}/").json()["spec"]
    assert len(spec["servers"]) == 6
    copy = post(operator, "/api/clusters/", {**spec, "name": "copy"})
    assert copy.json()["server_count"] == 6
    spec["servers"][0]["capacity"]["gpu"] = -1
    assert (
        "server w00: capacity.gpu must be at least 0, got -1" in post(operator, "/api/clusters/", spec).json()["detail"]
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"worker_lanes": [1]}, "server w00: worker_lanes must be an object of worker types and their counts, got [1]"),
        ({"speed": "fast"}, "server w00: speed must be a number, got 'fast'"),
        ({"capacity": {"gpu": 1e300}}, "server w00: capacity.gpu must be below 1000000000, got 1e+300"),
        ({"site": []}, "server w00: site must be one of edge, cloud, got []"),
    ],
)
def test_a_cluster_with_a_wrong_field_names_it(operator, change, sentence):
    server = {"name": "w00", "site": "edge", "capacity": {"gpu": 1}, **change}
    answer = post(operator, "/api/clusters/", {"name": "x", "slot_ms": 1000, "servers": [server]})
    assert (answer.status_code, answer.json()["detail"]) == (400, sentence)
    assert ClusterSpec.objects.count() == 0


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 201, "two words", "a,b", "line\nbreak", "\x1b[31m", "\u202e"])
def test_a_name_that_files_cannot_hold_is_refused(operator, name):
    server = {"name": "w00", "site": "edge", "capacity": {"gpu": 1}}
    answer = post(operator, "/api/clusters/", {"name": name, "slot_ms": 1000, "servers": [server]})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(
        "cluster: name must be 1-200 printable characters without spaces or commas"
    )
    assert ClusterSpec.objects.count() == 0


def test_what_the_scheduler_will_refuse_is_refused_when_the_scenario_is_made(operator, make_scenario):
    """1,000,000 slots x 8 servers x 5 resources are 40 million prices, below the limit, 60; 20 servers are over it."""
    small, large = make_scenario(servers=8), make_scenario(servers=20)
    body = {"name": "x", "trace": small.trace_id, "scheduler": "oasis", "horizon_slots": 1_000_000}
    assert post(operator, "/api/scenarios/", {**body, "cluster": small.cluster_id}).status_code == 201
    clusters = ClusterSpec.objects.count()
    answer = post(operator, "/api/scenarios/", {**body, "cluster": large.cluster_id})
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "scheduler oasis: 1,000,000 slots of 20 servers are 100,000,000 prices, more than 60,000,000; set "
        "horizon_slots to at most 600,000, or lengthen the slot of 3,600,000 ms",
    )
    assert ClusterSpec.objects.count() == clusters
    assert (
        post(operator, "/api/scenarios/", {**body, "cluster": large.cluster_id, "scheduler": "fifo"}).status_code == 201
    )
