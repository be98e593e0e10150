"""Replays in the fidelity of a live cluster: before, while and after one is computed, and what is refused."""

from __future__ import annotations

import pytest

from tests.twin.studies.builders_shadows import busy_cluster
from twin.models import Connection, ShadowSet
from twin.studies.shadows import sets, task

pytestmark = pytest.mark.django_db(transaction=True)
FIDELITY, ADDRESS = "/api/live/lab/fidelity/", "/api/live/lab/replay/"


def replay(client):
    return client.get(FIDELITY).json()["replay"]


def test_a_replay_is_started_watched_and_shown(operator):
    busy_cluster()
    assert replay(operator) == {"newest": None, "progress": None, "failed": None, "before": []}
    answer = operator.post(ADDRESS, {"hours": 1}, content_type="application/json")
    assert answer.status_code == 201
    assert answer.json()["progress"]["status"] == "queued"
    again = operator.post(ADDRESS, {}, content_type="application/json")
    assert (again.status_code, "wait until it is finished, or cancel it" in again.json()["detail"]) == (400, True)
    of = ShadowSet.objects.get()
    task.prepare(of.pk)
    assert replay(operator)["progress"]["cut"] is True
    task.compute(of.shadows.get().pk)
    sets.end(of, ShadowSet.FINISHED)
    found = replay(operator)
    assert (found["progress"], found["failed"], found["before"]) == (None, None, [])
    newest = found["newest"]
    assert (newest["jobs"], newest["within"], newest["run"]) == (20, 1.0, of.run_id)
    compared = operator.get(f"/api/compare/?runs={newest['run']},{newest['replay']}")
    assert compared.status_code == 200
    shadows = operator.get("/api/live/lab/shadows/").json()
    assert (shadows["set"], shadows["failed"], shadows["progress"]) == (None, None, None), "it is no set of shadows"


def test_a_replay_is_cancelled_and_one_that_fails_says_why(operator):
    busy_cluster()
    assert operator.post(f"{ADDRESS}cancel/").status_code == 400
    operator.post(ADDRESS, {}, content_type="application/json")
    assert operator.post(f"{ADDRESS}cancel/").json()["progress"] is None
    of = ShadowSet.objects.create(
        connection=Connection.objects.get(), purpose=ShadowSet.REPLAY, length_ms=1, status=ShadowSet.FAILED,
        message="no node was available",
    )  # fmt: skip
    assert replay(operator)["failed"] == "no node was available"
    ShadowSet.objects.filter(pk=of.pk).update(status=ShadowSet.FINISHED, message="")
    assert replay(operator)["failed"] == "its run did not finish"


def test_what_is_refused(operator, viewer):
    busy_cluster()
    answer = operator.post(ADDRESS, {"hours": 25}, content_type="application/json")
    assert "must be from 1 s (1/3600) to 24 h, got 25 h" in answer.content.decode()
    assert operator.post("/api/live/other/replay/", {}, content_type="application/json").status_code == 404
    assert viewer.post(ADDRESS, {}, content_type="application/json").status_code == 403
    assert b'id="start"' not in viewer.get("/live/lab/fidelity/").content
