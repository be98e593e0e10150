"""The page and the API of shadows: what they say before, while and after a set is computed."""

from __future__ import annotations

import pytest

from tests.twin.studies.builders_shadows import busy_cluster, computed, only
from twin.models import Connection, Run, ShadowSet
from twin.studies.shadows import sets, task

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/api/live/lab/shadows/"


def test_before_the_first_set_there_is_none(viewer):
    busy_cluster()
    answer = viewer.get(ADDRESS).json()
    assert (answer["set"], answer["progress"], answer["failed"], answer["week"]) == (None, None, None, {})
    assert viewer.get("/live/lab/shadows/").status_code == 200


def test_a_set_is_started_watched_and_cancelled(operator):
    busy_cluster()
    answer = operator.post(ADDRESS, {"hours": 0.5}, content_type="application/json")
    assert answer.status_code == 201
    assert answer.json()["progress"]["total"] == 0
    of = ShadowSet.objects.get()
    task.prepare(of.pk)
    task.compute(of.shadows.first().pk)
    progress = operator.get(ADDRESS).json()["progress"]
    assert (progress["done"], progress["total"]) == (1, of.shadows.count())
    again = operator.post(ADDRESS, {}, content_type="application/json")
    assert again.status_code == 400
    assert "are being computed; wait until they are finished, or cancel them" in again.json()["detail"]
    assert operator.post(f"{ADDRESS}cancel/").json()["progress"] is None
    assert not Run.objects.filter(status__in=Run.ACTIVE).exclude(mode=Run.MIRROR).exists()


def test_a_finished_set_says_what_each_scheduler_would_have_changed(viewer):
    of = computed(busy_cluster())
    answer = viewer.get(ADDRESS).json()
    found = answer["set"]
    assert (found["jobs"], found["scored"], found["run"], found["slot_ms"]) == (24, 20, of.run_id, 5_000)
    predicted, group = found["groups"]
    assert predicted["title"] == "Durations predicted at submission"
    assert predicted["predictor"] == "90th percentile of similar jobs"
    assert {row["title"] for row in predicted["cannot"]} >= {"A_online", "Harmony"}
    assert group["title"] == "Actual durations"
    rows = {row["scheduler"]: row for row in group["rows"]}
    cell = rows["fifo"]["cells"]["mean_wait_ms"]
    assert (cell["value"], cell["delta"], cell["verdict"]) == (240_000, -6_000, None)
    assert rows["fifo"]["cells"]["gpu_hours"]["verdict"] is None, "neither direction is better"
    bests = {
        training: [name for name, row in rows.items() if row["training"] == training
                   and row["cells"]["mean_jct_ms"]["best"]]
        for training in {row["training"] for row in rows.values()}
    }  # fmt: skip
    assert all(bests.values()), "a best one of each execution model"
    assert set(bests) == {"pd-ors", "typed_workers", "colocation"}
    compared = viewer.get(f"/api/compare/?runs={of.run_id},{rows['fifo']['run']}").json()
    assert not any(row["values"][1]["ranked"] for row in compared["metrics"] if row["direction"])
    verdicts = {cell["verdict"] for one in found["groups"] for row in one["rows"] for cell in row["cells"].values()}
    assert verdicts <= {None, "same"}, "the same rule as that of the comparison"
    assert found["unranked"] == (
        "The shadows and the real cluster have different execution models: slotted (jobs train by samples), typed "
        "workers, co-location; and a real cluster. The same job has different durations, so differences from the real "
        "cluster are not ranked."
    )
    assert answer["week"]["actual"]["fifo"][0][1] == -6_000
    listed = viewer.get("/api/runs/?size=50").json()["results"]
    assert {row["id"] for row in listed} == {of.run_id}, "lists leave shadows out"
    for noun, cut in (("traces", of.trace_id), ("clusters", of.cluster_id)):
        assert cut not in {row["id"] for row in viewer.get(f"/api/{noun}/?size=50").json()["results"]}
        assert viewer.get(f"/api/{noun}/{cut}/").status_code == 200


def test_a_set_that_cannot_be_says_why(operator):
    Connection.objects.create(name="lab", connector="slurm")
    answer = operator.post(ADDRESS, {}, content_type="application/json")
    assert (answer.status_code, answer.json()["detail"]) == (
        400, "cluster lab has not been polled yet; wait for the first poll of the follower",
    )  # fmt: skip
    for body, words in (
        ({"hours": 0}, "must be from 1 s (1/3600) to 168 h, got 0 h"),
        ({"hours": 1, "days": 1}, "days"),
    ):
        answer = operator.post(ADDRESS, body, content_type="application/json")
        assert answer.status_code == 400
        assert words in answer.content.decode()
    assert operator.get("/api/live/other/shadows/").status_code == 404
    assert operator.get("/live/other/shadows/").status_code == 404


def test_a_failed_set_and_a_cluster_that_is_away_are_said(operator, monkeypatch):
    only(monkeypatch, "fifo")
    connection = busy_cluster()
    Connection.objects.update(wanted=Connection.PAUSED)
    connection.refresh_from_db()
    of = computed(connection)
    assert of.facts["note"].startswith("The cluster is not followed now, so the window ends when it was last observed.")
    sets.end(sets.request(connection), ShadowSet.FAILED, "no node was available")
    answer = operator.get(ADDRESS).json()
    assert (answer["failed"], answer["set"]["id"]) == ("no node was available", of.pk)


def test_shadows_go_with_their_connection(operator, monkeypatch):
    only(monkeypatch, "fifo", "oasis", "srtf")
    computed(busy_cluster())
    assert operator.delete("/api/connections/lab/").status_code == 204
    assert not ShadowSet.objects.exists()
    assert Run.objects.count() == 1
