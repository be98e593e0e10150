"""Pages and API of experiments: what is claimed, what came out, what is under way, and who may start."""

from __future__ import annotations

import pytest

import experiments
from experiments import Figure, Table
from tests.dashboard.builders import post
from twin.models import Reproduction, ReproductionPart
from twin.studies.experiments import tables

pytestmark = pytest.mark.django_db
NAME = "oasis_fig07_testbed_utility"
ADDRESS = f"/api/experiments/{NAME}/"
TABLE = Table(
    ("", "OASiS", "Dorm"), (("testbed", 3.0, float("nan")),),
    (Figure("kept", 2.0, "x", 1.0, at_least=True), Figure("missed", float("inf"), "x", 1.5), Figure("plain", 1.0, "")),
    ((None, (2.0, 4.0), None),),
)  # fmt: skip


def reproduction(status: str = Reproduction.FINISHED, **fields) -> Reproduction:
    """One with three parts, of which two are done."""
    fields = {"code": experiments.code_digest(NAME), "table": tables.stored(TABLE), "seeds": 2} | fields
    of = Reproduction.objects.create(experiment=NAME, status=status, **fields)
    for number, state in enumerate(("done", "done", "waiting")):
        ReproductionPart.objects.create(reproduction=of, title=f"part {number}", status=state, seconds=1.5)
    return of


def row(client) -> dict:
    return next(one for one in client.get("/api/experiments/").json()["experiments"] if one["name"] == NAME)


def test_every_experiment_is_listed_with_its_claim_and_command(viewer):
    listed = viewer.get("/api/experiments/").json()["experiments"]
    assert [one["name"] for one in listed] == experiments.names()
    first = row(viewer)
    assert (first["paper"], first["figure"], first["verdict"], first["progress"]) == (
        "OASiS", "Fig. 7", "not run", None,
    )  # fmt: skip
    assert first["command"] == f"manage.py reproduce --only {NAME}"
    assert first["default_seeds"] == 10
    assert {one["name"]: one["arrivals"] for one in listed if one["arrivals"]} == {
        "harmony_sec5d_arrivals": "optional", "pd_ors_fig12_trace_by_servers": "required",
        "pd_ors_fig13_trace_by_jobs": "required",
    }  # fmt: skip


def test_a_result_has_its_table_spread_checks_and_origin(viewer):
    reproduction()
    found = viewer.get(ADDRESS).json()
    assert (found["verdict"], found["checks"]) == ("does not hold", {"held": 1, "judged": 2})
    assert found["seconds"] == 4.5
    assert found["outdated"] is False
    result = found["result"]
    assert result["rows"] == [["testbed", 3.0, None]]
    assert result["spread"] == [[None, [2.0, 4.0], None]]
    assert [check["value"] for check in result["checks"]] == [2.0, "infinite", 1.0]
    assert [check["holds"] for check in result["checks"]] == [True, False, None]
    assert (result["seeds"], result["parts"], len(result["code"])) == (2, 3, 12)
    assert found["charts"][0]["y"] == "total utility"


def test_a_result_of_older_code_says_so(viewer):
    reproduction(code="0" * 64)
    assert row(viewer)["outdated"] is True
    assert viewer.get(ADDRESS).json()["outdated"] is True


def test_progress_is_that_of_the_newest_start_beside_the_last_result(viewer):
    reproduction()
    reproduction(Reproduction.COMPUTING, table="")
    found = row(viewer)
    assert found["verdict"] == "does not hold"
    assert (found["progress"]["done"], found["progress"]["total"], found["progress"]["active"]) == (2, 3, True)
    parts = viewer.get(ADDRESS).json()["parts"]
    assert [part["status"] for part in parts] == ["done", "done", "waiting"]


def test_operators_start_and_cancel_and_viewers_do_not(operator, viewer):
    assert post(viewer, f"{ADDRESS}start/", {}).status_code == 403
    answer = post(operator, f"{ADDRESS}start/", {"seeds": 1})
    assert answer.status_code == 201
    assert answer.json()["progress"] | {"by": "", "message": ""} == {
        "status": "queued", "message": "", "done": 0, "total": 5, "active": True, "by": "", "seeds": 1, "trace": None,
    }  # fmt: skip
    again = post(operator, f"{ADDRESS}start/", {})
    assert (again.status_code, "is in progress" in again.json()["detail"]) == (400, True)
    assert post(operator, f"{ADDRESS}cancel/", {}).json() == {"parts": 5}
    assert row(viewer)["progress"]["status"] == "cancelled"


def test_what_has_no_result_is_started_at_once(operator):
    reproduction()
    started = post(operator, "/api/experiments/start-all/", {}).json()["started"]
    assert set(experiments.names()) - set(started) == {
        NAME, "pd_ors_fig12_trace_by_servers", "pd_ors_fig13_trace_by_jobs",
    }  # fmt: skip
    assert post(operator, "/api/experiments/cancel-all/", {}).json()["parts"] > 100


def test_an_unknown_experiment_is_not_found(operator):
    for address in ("/api/experiments/oasis_fig99/", "/experiments/oasis_fig99/"):
        assert operator.get(address).status_code == 404
    assert post(operator, "/api/experiments/start-all/", {"names": ["oasis_fig99"]}).status_code == 404


def test_the_pages_name_the_paper(viewer):
    assert b"Experiments" in viewer.get("/experiments/").content
    assert b"OASiS, Fig. 7" in viewer.get(f"/experiments/{NAME}/").content


def test_an_experiment_is_found_by_its_figure_and_topic(viewer):
    for text in ("OASiS, Fig. 7", "testbed_utility"):
        groups = {group["kind"]: group for group in viewer.get("/api/search/", {"q": text}).json()}
        assert groups["experiment"]["hits"][0]["href"] == f"/experiments/{NAME}/"
