"""Teams: whoever is not in the team of an object finds it nowhere, by every address there is."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.auth import tokens
from dashboard.auth.visible import PATHS
from tests.dashboard.builders import WRITES, methods_of, post, routes
from twin.models import (
    AuditEntry,
    ClusterSpec,
    Connection,
    Run,
    Scenario,
    Trace,
)


def addresses(ids: dict[str, object]):
    """(address of one of the objects, methods that it declares; empty for a page)"""
    for path, entry in routes():
        noun = path.removeprefix("api/").partition("/")[0]
        if noun not in ids or "<" not in path or (noun == "live" and path.startswith("live/connect")):
            continue
        for pattern in (
            "(?P<pk>[^/.]+)", "(?P<pk>\\d+)", "<int:pk>", "<int:trace_id>", "<int:run_id>", "<int:scenario_id>",
            "<int:sweep_id>", "<slug:name>", r"(?P<name>[\w-]+)", "<str:source>",
        ):  # fmt: skip
            path = path.replace(pattern, str(ids[noun]))
        for pattern in ("(?P<index>\\d+)", "<int:number>", "<int:group>", "<int:index>", "<int:server>"):
            path = path.replace(pattern, "0")
        assert "<" not in path, f"nothing is known for {path}"
        yield f"/{path}", methods_of(entry.callback)


JSON = "application/json"
BODIES = {  # bodies that their addresses accept
    "/approve/": {"digest": "d"}, "/edits/": {"edits": []}, "/forks/": {"at_ms": 40_000_000},
    "/clock/": {"speed": 60}, "/race/": {"schedulers": ["fifo", "oasis"]}, "/import/": {}, "/scan/": {},
}  # fmt: skip


def test_no_address_shows_an_object_of_another_team(of_red, bob):
    """The answer is that for a number that does not exist, and nothing is changed."""
    found = list(addresses(of_red))
    absent = list(addresses({noun: "gone-lab" if isinstance(key, str) else 999 for noun, key in of_red.items()}))
    assert len(found) > 60
    before, wrong = [model.objects.count() for model in PATHS], []
    for (path, methods), (nowhere, _) in zip(found, absent, strict=True):
        if path.startswith("/api/ingest/"):
            continue
        for method in methods & {"get", *WRITES} or {"get"}:
            body = next((body for end, body in BODIES.items() if path.endswith(end)), {})
            body = body | {"version": 1} if method == "patch" and path.endswith("/edits/") else body
            given = {} if method == "get" else {"data": body, "content_type": JSON}
            hidden, nothing = (getattr(bob, method)(address, **given) for address in (path, nowhere))
            told = hidden.content.replace(b"secret-lab", b"")
            if not hidden.status_code == nothing.status_code == 404 or b"secret" in told:
                wrong.append((method, path, hidden.status_code, nothing.status_code, hidden.content[:200]))
    assert wrong == []
    assert [model.objects.count() for model in PATHS] == before


def test_the_refusal_to_delete_does_not_name_what_another_team_uses(of_red, bob, ruth):
    scenario = Scenario.objects.get(pk=of_red["scenarios"])
    Trace.objects.update(team=None)
    answers = [client.delete(f"/api/traces/{scenario.trace_id}/") for client in (bob, ruth)]
    assert [answer.status_code for answer in answers] == [409, 409]
    assert [answer.json()["detail"] for answer in answers] == [
        "Still used by a scenario of another team; delete those first.",
        f"Still used by scenario {scenario.pk} ({scenario.name}); delete those first.",
    ]


def test_its_own_team_and_admins_find_it_at_the_same_addresses(of_red, ruth, admin):
    """Otherwise the test above would show nothing."""
    absent = ("/subtasks/", "/groups.csv", "/mapping/", "/files/0/")  # of a run without groups
    for client in (ruth, admin):
        for path, methods in addresses(of_red):
            if path.startswith("/api/ingest/") or path.endswith(absent) or (methods and "get" not in methods):
                continue
            assert client.get(path).status_code in (200, 400), path


def test_lists_and_pages_name_the_team_of_an_object(of_red, ruth, finished_run):
    for noun in ("traces", "clusters", "scenarios", "runs", "connections"):
        row = ruth.get(f"/api/{noun}/").json()["results"][0]
        assert row["team"] == ruth.get(f"/api/{noun}/{of_red[noun]}/").json()["team"] == "red", noun
    pages = [f"/{noun}/{of_red[noun]}/" for noun in ("traces", "scenarios", "runs", "live")]
    for page in pages:
        assert 'see this">red</span>' in ruth.get(page).content.decode(), page
    Scenario.objects.update(team=None)
    assert ruth.get("/api/runs/").json()["results"][0]["team"] is None
    assert "chip team" not in ruth.get(f"/runs/{finished_run.pk}/").content.decode()


LISTS = (
    "/api/traces/", "/api/clusters/", "/api/scenarios/", "/api/runs/", "/api/sweeps/", "/api/connections/",
    "/api/alerts/", "/api/alert-rules/", "/api/audit/", "/api/search/?q=secret", "/api/search/", "/", "/live/",
    "/metrics", "/healthz/shared", "/api/alerts/status/",
)  # fmt: skip


@pytest.mark.parametrize("address", LISTS)
def test_no_list_names_an_object_of_another_team(of_red, bob, ruth, address):
    hidden = bob.get(address)
    assert hidden.status_code == 200
    assert b"secret" not in hidden.content
    if address.startswith("/api/") and "status" not in address:
        assert b"secret" in ruth.get(address).content, "its own team finds it"


def test_counts_of_alerts_are_those_of_the_team(of_red, bob, ruth):
    assert [c.get("/api/alerts/status/").json()["open"]["serious"] for c in (bob, ruth)] == [0, 1]
    assert [c.get("/healthz/shared").json()["alerts"]["serious"] for c in (bob, ruth)] == [0, 1]


def test_compare_search_and_forms_take_no_object_of_another_team(of_red, bob, finished_run):
    other = Run.objects.create(scenario=finished_run.scenario, edits=[{"verb": "scale_arrivals", "factor": 2.0}])
    runs = f"{finished_run.pk},{other.pk}"
    for part in ("", "jobs/", "kinds/", "metrics.csv", "differences.csv"):
        assert bob.get(f"/api/compare/{part}?runs={runs}").status_code == 404, part
    assert bob.get(f"/api/search/?run={finished_run.pk}").status_code == 404
    asked = f"/api/scenarios/suitability/?trace={of_red['traces']}&scheduler=fifo"
    assert bob.get(asked).status_code == 404
    form = {"name": "x", "cluster": of_red["clusters"], "trace": of_red["traces"], "scheduler": "fifo"}
    for address, body in (
        ("/api/scenarios/", form),
        ("/api/runs/", {"scenario": of_red["scenarios"], "mode": "batch"}),
        ("/api/sweeps/", {"scenario": of_red["scenarios"], "axes": [{"parameter": "model", "values": ["oasis"]}]}),
        ("/api/alert-rules/", {"rule": "drift", "target": "connection secret-lab"}),
        ("/api/connections/", {"name": "mine", "connector": "push", "parameters": {"source": "lab"}}),
        ("/api/tokens/", {"name": "t", "scopes": ["ingest:lab"]}),
    ):
        assert post(bob, address, body).status_code == 400, address
    assert Scenario.objects.count() == 1


def test_events_of_a_source_need_the_team_of_its_cluster(of_red, bob, ruth):
    def answer(client) -> int:
        value = tokens.create("t", ["ingest:lab"], 1, client.user)[1]
        return Client().get("/api/ingest/lab/cursor", headers={"authorization": f"Bearer {value}"}).status_code

    assert (answer(bob), answer(ruth)) == (403, 200)


def test_a_token_sees_what_its_account_sees(of_red, bob, ruth, finished_run):
    for client, status in ((bob, 404), (ruth, 200)):
        value = tokens.create("t", ["read"], 1, client.user)[1]
        bearer = {"headers": {"authorization": f"Bearer {value}"}}
        assert Client().get(f"/api/runs/{finished_run.pk}/", **bearer).status_code == status


def test_a_deleted_run_is_described_to_its_team_alone(of_red, bob, ruth, finished_run):
    Connection.objects.update(run=None)
    number = finished_run.pk
    assert ruth.delete(f"/api/runs/{number}/").status_code == 204
    assert "was deleted by ruth" in ruth.get(f"/runs/{number}/").content.decode()
    for address in (f"/runs/{number}/", f"/api/runs/{number}/"):
        assert b"deleted by" not in bob.get(address).content
    entry = AuditEntry.objects.get(action="run.delete")
    assert entry.team.name == "red"


def test_what_people_make_belongs_to_their_team(bob, ruth, blue, operator):
    made = post(bob, "/api/workloads/", {"profile": "oasis", "jobs": 3, "servers": 2}).json()
    trace, cluster = made["trace"]["id"], made["cluster"]["id"]
    form = {"name": "mine", "cluster": cluster, "trace": trace, "scheduler": "fifo"}
    scenario = post(bob, "/api/scenarios/", form).json()["id"]
    alone = post(bob, "/api/clusters/", {"profile": "oasis", "servers": 2}).json()["id"]
    lab = {"name": "lab", "connector": "replay", "parameters": {"path": "/nowhere"}}
    assert post(bob, "/api/connections/", lab).status_code == 201
    owned = [Trace.objects.get(pk=trace), ClusterSpec.objects.get(pk=cluster), ClusterSpec.objects.get(pk=alone)]
    for one in (*owned, Scenario.objects.get(pk=scenario), Connection.objects.get(), *AuditEntry.objects.all()):
        assert one.team == blue, one
    for other in (ruth, operator):
        assert other.get(f"/api/scenarios/{scenario}/").status_code == 404
    shared = post(operator, "/api/clusters/", {"profile": "oasis", "servers": 2}).json()["id"]
    assert bob.get(f"/api/clusters/{shared}/").status_code == 200
    mixed = post(bob, "/api/scenarios/", form | {"name": "mixed", "cluster": shared}).json()["id"]
    assert Scenario.objects.get(pk=mixed).team == blue


def test_inputs_of_two_teams_make_no_scenario(blue, red, admin):
    made = post(admin, "/api/workloads/", {"profile": "oasis", "jobs": 3, "servers": 2}).json()
    Trace.objects.update(team=red)
    ClusterSpec.objects.update(team=blue)
    form = {"name": "x", "cluster": made["cluster"]["id"], "trace": made["trace"]["id"], "scheduler": "fifo"}
    refused = post(admin, "/api/scenarios/", form)
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "objects of different teams (blue and red) cannot be combined; move one of them first",
    )


def test_a_race_and_a_fork_stay_in_the_team(of_red, ruth, finished_run):
    runs = post(ruth, f"/api/scenarios/{of_red['scenarios']}/race/", {"schedulers": ["fifo", "oasis"]}).json()["runs"]
    fork = post(ruth, f"/api/runs/{finished_run.pk}/forks/", {"at_ms": 40_000_000}).json()["scenario"]["id"]
    scenarios = Scenario.objects.filter(pk__in=[fork, *(run["scenario"] for run in runs)])
    assert {one.team.name for one in scenarios} == {"red"}


def test_a_private_fork_of_a_shared_run_is_no_member_of_its_family_for_others(finished_run, bob, ruth):
    fork = post(bob, f"/api/runs/{finished_run.pk}/forks/", {"at_ms": 40_000_000, "start": True}).json()["run"]["id"]
    family = [[row["id"] for row in c.get(f"/api/runs/{finished_run.pk}/forks/").json()] for c in (bob, ruth)]
    assert family == [[finished_run.pk, fork], [finished_run.pk]]


def test_the_page_of_a_fork_names_its_parent_to_those_who_see_it(finished_run, bob, ruth, red):
    fork = post(bob, f"/api/runs/{finished_run.pk}/forks/", {"at_ms": 40_000_000, "start": True}).json()["run"]["id"]

    def heading(client, run):
        return " ".join(client.get(f"/runs/{run}/").content.decode().split())

    link = f'<a href="/runs/{finished_run.pk}/">run {finished_run.pk}</a>'
    assert f"fork of {link} at 11:06:40</span>" in heading(bob, fork)
    assert 'id="fork-of"' not in heading(bob, finished_run.pk)
    Scenario.objects.filter(pk=finished_run.scenario_id).update(team=red)
    assert "fork of another run at 11:06:40</span>" in heading(bob, fork)
