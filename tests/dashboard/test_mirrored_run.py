"""The pages of a run show what a real cluster does, like any other run."""

from __future__ import annotations

import pytest

from tests.twin.mirror.builders_stored import LOOKS, following
from twin.models import Connection

pytestmark = pytest.mark.django_db


def test_the_pages_of_a_run_show_a_mirrored_one(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *LOOKS)
    for each in LOOKS:
        one.look(each)
    run = connection.run.pk
    answer = operator.get(f"/api/runs/{run}/static/")
    assert answer.status_code == 200, answer.content
    static = answer.json()
    assert [server["name"] for server in static["cluster"]["servers"]] == ["edge1", "cloud1"]
    assert static["ids"] == ["1", "2"]
    assert static["scheduler"]["title"] == static["phases"][0]["title"] == "Real cluster"
    for path in (f"/runs/{run}/", f"/api/runs/{run}/", f"/api/runs/{run}/snapshot/", "/", "/api/runs/"):
        assert operator.get(path).status_code == 200, path
    answer = operator.get(f"/api/runs/{run}/jobs/")
    assert answer.status_code == 200, answer.content
    rows = answer.json()["rows"]
    assert {row["id"]: row["state"] for row in rows} == {"1": "completed", "2": "running"}
    events = operator.get(f"/api/runs/{run}/events/table/").json()["rows"]
    assert any("Waits: it is next" in row["text"] for row in events)


def test_a_fork_of_a_mirrored_run_by_the_api(operator):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *LOOKS)
    for each in LOOKS[:2]:
        one.look(each)
    run = connection.run.pk
    wanted = {"scheduler": "drf", "durations": "limit", "assumed_ms": 120_000, "arrivals": True, "start": True}
    answer = operator.post(f"/api/runs/{run}/forks/", wanted, "application/json")
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["scenario"]["scheduler"], made["run"]["parent"], made["run"]["mode"]) == ("drf", run, "batch")
    assert [row["id"] for row in operator.get(f"/api/runs/{run}/forks/").json()] == [run, made["run"]["id"]]
    trace = operator.get(f"/api/traces/{made['scenario']['trace']}/").json()
    assert trace["report"]["notes"][-1] == "Durations: assumed for 2 jobs (2m)."
    for path in (f"/traces/{trace['id']}/", f"/scenarios/{made['scenario']['id']}/", f"/runs/{made['run']['id']}/"):
        assert operator.get(path).status_code == 200, path
    for wrong, words in (
        ({"durations": "guess"}, "as_it_turned_out"),
        ({"scheduler": "observed"}, "cannot be simulated"),
        ({"at_ms": 1}, "shows the cluster from"),
    ):
        answer = operator.post(f"/api/runs/{run}/forks/", wrong, "application/json")
        assert answer.status_code in (400, 409), answer.content
        assert words in answer.content.decode()
