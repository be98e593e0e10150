"""Every address that changes something leaves its entry, and refuses viewers: found by walking the routes."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.dashboard.builders import WRITES, methods_of, routes
from tests.dashboard.builders_audit import CASES, JOBS, JSON, send
from tests.dashboard.conftest import person
from twin.models import AuditEntry
from twin.runs import runner

# POSTs that only ask, report what failed in a browser, or arrange the own pages: nothing is audited.
ASKS = {("run-ask", "post"), ("scenario-edits", "post"), ("client-errors", "post"), ("arrangement", "post")}

# Operators alone may ask, and nothing is kept.
PREVIEWS = {("connection-sites", "post")}
MACHINES = {("ingest-events", "post"), ("ingest-snapshot", "post")}  # take a token of their source, and no session
# pages that take a POST, or nothing without a provider
FORMS = ("login", "login-link", "password-set", "account", "logout", "oidc-login", "oidc-callback")
HIGHER = {"proposal-approve": "approver", "connection-acting": "approver"}  # roles; of accounts: admin


def mutating() -> list[tuple[str, str]]:
    """(route's name, method) of every address of the API that takes another method than GET."""
    found = {
        (entry.name, method)
        for path, entry in routes()
        if path.startswith("api/")
        for method in WRITES
        if method in methods_of(entry.callback)
    }
    return sorted(found)


@pytest.fixture
def world(make_scenario, operator, viewer) -> SimpleNamespace:
    """A scenario, a cluster that nothing uses, an operator and a viewer."""
    scenario = make_scenario()
    spare = operator.post("/api/clusters/", {"profile": "oasis", "servers": 3}, content_type=JSON).json()["id"]
    form = {"name": "mine", "cluster": scenario.cluster_id, "trace": scenario.trace_id, "scheduler": "fifo"}
    AuditEntry.objects.all().delete()
    return SimpleNamespace(scenario=scenario, spare_cluster=spare, form=form, operator=operator, viewer=viewer)


def test_every_address_that_changes_something_is_among_the_cases():
    assert mutating() == sorted({*CASES, *ASKS, *PREVIEWS, *MACHINES}), (
        "a new address that takes POST, PUT, PATCH or DELETE needs its case here"
    )


def test_what_viewers_may_post_is_what_the_views_say():
    found = {
        (e.name, method) for _, e in routes() for method in getattr(getattr(e.callback, "cls", None), "read_only", ())
    }
    assert found == ASKS


def test_pages_change_nothing(operator, finished_run):
    for path, entry in routes():
        if not path.startswith("api/") and entry.name not in FORMS:
            ids = {"scenario": finished_run.scenario_id, "run": finished_run.pk, "trace": 1, "sweep": 1}
            for noun, pk in ids.items():
                path = path.replace(f"<int:{noun}_id>", str(pk))
            address = "/" + path.replace("<int:server>", "0").replace("<slug:name>", "lab")
            address = address.replace("<slug:experiment>", "oasis_fig07_testbed_utility")
            assert operator.post(address).status_code == 405, address


@pytest.mark.parametrize(("route", "method"), sorted(CASES))
def test_it_leaves_its_entry_and_refuses_viewers(world, route, method, monkeypatch):
    monkeypatch.setattr(runner, "enqueue_step", lambda run_id: True)
    expected, prepare = CASES[route, method]
    address, body = prepare(world)
    refused = send(world.viewer, method, address, body)
    needed = "admin" if route.startswith(("account-", "team-", "retention-")) else HIGHER.get(route, "operator")
    assert refused.status_code == 403
    asked_first = "operator" if route == "connection-acting" else needed  # whoever may act may stop
    assert f"{asked_first} role" in refused.json()["detail"]
    assert AuditEntry.objects.count() == 0
    for value in body.values() if isinstance(body, dict) else ():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    if needed != "operator":
        assert send(world.operator, method, address, body).status_code == 403
        assert AuditEntry.objects.count() == 0
        world.operator.user.groups.add(Group.objects.get(name=needed))
    answer = send(world.operator, method, address, body)
    assert answer.status_code in (200, 201, 202, 204), answer.content
    entries = AuditEntry.objects.select_related("user")
    assert sorted(entry.action for entry in entries) == expected
    assert {entry.user for entry in entries} == {world.operator.user}
    nouns = {"account", "run", "trace", "cluster", "scenario", "sweep", "token", "connection", "plan", "alert", "rule"}
    assert {entry.subject.split()[0] for entry in entries} <= nouns | {"experiment", "team", "retention"}


def test_an_upload_in_pieces_is_recorded_when_announced_and_when_whole(world):
    trace = world.operator.post(
        "/api/traces/", {"files": [{"name": "a.csv", "size": len(JOBS)}]}, content_type=JSON
    ).json()["id"]
    for i in (0, 40):
        piece = JOBS[:40] if i == 0 else JOBS[40:]
        send(world.operator, "put", f"/api/traces/{trace}/files/0/?offset={i}", piece)
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == [
        "trace.announce",
        "trace.upload",
    ]


@pytest.fixture
def five(world) -> None:
    """Five entries of two people: four clusters of Olga's, one of Otto's."""
    otto = person("otto", "operator")
    for servers in (2, 3, 4, 5):
        world.operator.post("/api/clusters/", {"profile": "oasis", "servers": servers}, content_type=JSON)
    otto.post("/api/scenarios/", world.form, content_type=JSON)


def test_the_list_is_the_newest_first_in_pages(five, viewer):
    first = viewer.get("/api/audit/?size=2").json()
    assert (first["count"], len(first["results"])) == (5, 2)
    assert first["results"][0]["action"] == "scenario.create"
    assert first["results"][0]["user"] == "otto"
    assert first["results"][0]["detail"] == {"name": "mine"}
    assert (first["users"], first["actions"]) == (["olga", "otto"], ["cluster.create", "scenario.create"])
    last = viewer.get("/api/audit/?size=2&page=3").json()["results"]
    assert [row["user"] for row in last] == ["olga"]


@pytest.mark.parametrize(
    ("query", "count"),
    [("user=otto", 1), ("action=cluster.create", 4), ("action=cluster", 4), ("action=clus", 0), ("q=mine", 1),
     ("q=SCENARIO", 1),
     ("since=2020-01-01&until=2020-01-02", 0), ("since=2020-01-01", 5), ("user=olga&action=scenario", 0)],
)  # fmt: skip
def test_its_filters(five, viewer, query, count):
    assert viewer.get(f"/api/audit/?{query}").json()["count"] == count


def test_a_day_that_is_none_is_refused(viewer):
    for text in ("yesterday", "2026-02-30"):
        answer = viewer.get(f"/api/audit/?since={text}")
        assert answer.status_code == 400
        assert answer.json()["detail"] == f"since must be a day as YYYY-MM-DD, got '{text}'"
