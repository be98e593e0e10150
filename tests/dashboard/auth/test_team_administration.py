"""Admins make teams and move objects between them; the audit list moves with the object."""

from __future__ import annotations

import pytest

from tests.dashboard.builders import post
from twin.models import (
    AuditEntry,
    Scenario,
)
from twin.runs import commands


def test_admins_make_teams_and_move_objects(of_red, admin, bob, blue, red):
    gold = post(admin, "/api/teams/", {"name": "gold"}).json()
    for verb, members in (("join", ["bob"]), ("leave", [])):
        answer = post(admin, f"/api/teams/{gold['id']}/{verb}/", {"account": bob.user.pk}).json()
        assert [one["name"] for one in answer["members"]] == members
    assert admin.delete(f"/api/teams/{gold['id']}/").status_code == 204
    refused = admin.delete(f"/api/teams/{red.pk}/")
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("team red owns 1 trace, 1 cluster, 1 scenario, ")
    Scenario.objects.filter(pk=of_red["scenarios"]).update(unlisted=True)
    assert "scenario" not in admin.delete(f"/api/teams/{red.pk}/").json()["detail"], "no list shows it"
    Scenario.objects.filter(pk=of_red["scenarios"]).update(unlisted=False)
    first = {"kind": "trace", "key": str(of_red["traces"]), "team": blue.pk}
    assert "of another team or of everybody uses" in post(admin, "/api/teams/move/", first).json()["detail"]
    for kind, key in (("scenario", of_red["scenarios"]), ("trace", of_red["traces"]), ("cluster", of_red["clusters"])):
        answer = post(admin, "/api/teams/move/", {"kind": kind, "key": str(key), "team": None})
        assert answer.status_code in (200, 400), answer.content
    moved = post(admin, "/api/teams/move/", {"kind": "connection", "key": "secret-lab", "team": blue.pk})
    assert moved.status_code == 200, moved.content
    for address in ("/api/connections/secret-lab/", f"/api/runs/{of_red['runs']}/", f"/api/alerts/{of_red['alerts']}/"):
        assert bob.get(address).status_code == 200, address
    assert {entry.action for entry in AuditEntry.objects.filter(user=admin.user)} >= {
        "team.create", "team.join", "team.leave", "team.delete", "team.move",
    }  # fmt: skip
    assert b"team." not in bob.get("/api/audit/").content, "only admins see these"
    assert b"team.join" in admin.get("/api/audit/").content


def test_entries_move_with_their_object_and_the_old_team_keeps_what_its_members_did(
    finished_run, admin, ruth, bob, red, blue
):
    scenario = finished_run.scenario
    Scenario.objects.filter(pk=scenario.pk).update(team=red)
    AuditEntry.objects.all().delete()
    entries = ((ruth, "scenario.edit", f"scenario {scenario.pk}"), (ruth, "run.start", f"run {finished_run.pk}"),
               (admin, "run.pause", f"run {finished_run.pk}"), (ruth, "run.start", "run 999"))  # fmt: skip
    for client, action, subject in entries:
        commands.audit(client.user, action, subject, {})

    def seen(client):
        return sorted((one["action"], one["subject"]) for one in client.get("/api/audit/").json()["results"])

    everything = sorted((action, subject) for _, action, subject in entries)
    assert (seen(ruth), seen(bob)) == (everything, [])

    def move(team):
        body = {"kind": "scenario", "key": str(scenario.pk), "team": None if team is None else team.pk}
        assert post(admin, "/api/teams/move/", body).status_code == 200

    move(blue)
    assert seen(bob) == [one for one in everything if one[1] != "run 999"]
    assert seen(ruth) == [one for one in everything if one[0] != "run.pause"], "an admin is no member"
    move(None)
    assert seen(ruth) == everything
    AuditEntry.objects.filter(team=red).delete()
    refused = admin.delete(f"/api/teams/{red.pk}/")
    assert "has entries in the audit list, which are kept" in refused.json()["detail"]


@pytest.mark.parametrize(("name", "sentence"), [
    ("RED", "name must be new; the team 'RED' already exists"), (" ", "name may not be blank."),
])  # fmt: skip
def test_a_name_that_cannot_be_is_refused(admin, red, name, sentence):
    assert post(admin, "/api/teams/", {"name": name}).json()["detail"] == sentence
