"""Refusals have one shape: a sentence in `detail`, and beside it the sentences about single fields."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.exceptions import Throttled
from rest_framework.throttling import UserRateThrottle

from dashboard.api.errors import handler
from dashboard.http.throttles import SessionThrottle
from tests.dashboard.builders import post


@pytest.fixture
def empty_file():
    return SimpleUploadedFile("empty.csv", b"")


def test_a_field_and_a_part_of_a_list_are_named_in_the_sentence(operator, empty_file):
    missing = operator.post("/api/traces/", {"name": "x"})
    assert missing.json() == {"file": ["This field is required."], "detail": "file is required."}
    empty = operator.post("/api/traces/", {"file": empty_file}).json()
    assert empty["detail"] == "The submitted file is empty."


def test_a_misspelt_field_of_a_body_is_in_the_sentence(operator, finished_run):
    answer = post(operator, f"/api/runs/{finished_run.pk}/forks/", {"at": 1}).json()
    assert answer["detail"].startswith("at: unknown field of the body 'at'; did you mean 'at_ms'?")


@pytest.mark.parametrize(("path", "sentence"), [
    ("/api/runs/{run}/events/table/?q=x", "unknown query parameter 'q'; known: kind, decision, code, job, before"),
    ("/api/runs/{run}/jobs/?stat=waiting", "unknown query parameter 'stat'; did you mean 'state'? known: q, state"),
    ("/api/runs/?sise=3", "unknown query parameter 'sise'; did you mean 'size'?"),
    ("/api/compare/?run=1,2", "unknown query parameter 'run'; did you mean 'runs'? known: runs"),
    ("/api/metrics/?q=x", "unknown query parameter 'q'; this address has none"),
    ("/api/runs/{run}/certificate/?x=1", "unknown query parameter 'x'; this address has none"),
    ("/api/runs/{run}/situation/?x=1", "unknown query parameter 'x'; this address has none"),
    ("/api/runs/{run}/now/?x=1", "unknown query parameter 'x'; this address has none"),
    ("/api/scenarios/suitability/?clust=1", "unknown query parameter 'clust'; did you mean 'cluster'?"),
    ("/api/connections/?x=1", "unknown query parameter 'x'"),
    ("/api/alerts/?stat=open", "unknown query parameter 'stat'; did you mean 'state'?"),
    ("/api/alerts/?state=closed", "state must be open or ended, got 'closed'"),
    ("/api/alerts/status/?x=1", "unknown query parameter 'x'; this address has none"),
    ("/api/alert-rules/?x=1", "unknown query parameter 'x'"),
    ("/api/alert-rules/kinds/?x=1", "unknown query parameter 'x'; this address has none"),
    ("/api/tokens/?x=1", "unknown query parameter 'x'"),
])  # fmt: skip
def test_an_unknown_query_parameter_is_refused(operator, finished_run, path, sentence):
    answer = operator.get(path.format(run=finished_run.pk))
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(sentence)


@pytest.mark.parametrize(("path", "status", "sentence"), [
    ("runs/?page=99", 404, "page must be from 1 to 1, got 99: the list has 1 row, 50 on a page."),
    ("runs/?page=first", 400, "page must be an integer, got 'first'"),
    ("runs/?page=0", 400, "page must be at least 1, got 0"),
    ("runs/?size=many", 400, "size must be an integer, got 'many'"),
    ("runs/?size=501", 400, "size must be at most 500, got 501"),
    ("runs/{run}/jobs/?page=99", 400, "page must be from 1 to 1, got 99: the filters leave "),
    ("runs/{run}/jobs/?size=501", 400, "size must be at most 500, got 501"),
    ("runs/{run}/jobs/?sort=--id", 400, "sort must be one of index, id, model, "),
    ("runs/{run}/events/?limit=5001", 400, "limit must be at most 5,000, got 5,001"),
    ("runs/{run}/events/table/?job=99999", 400, "job must be at most "),
    ("runs/{run}/events/table/?decision=refused", 400, "decision must be one of admitted, rejected, "),
    ("audit/?since=2027-01-01&until=2026-01-01", 400,
     "since must not be after until, got 2027-01-01 and 2026-01-01"),
])  # fmt: skip
def test_a_value_of_the_query_is_refused_and_not_replaced(operator, finished_run, path, status, sentence):
    answer = operator.get(f"/api/{path.format(run=finished_run.pk)}")
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(sentence)


def test_a_stranger_learns_no_parameters(client):
    assert client.get("/api/runs/?sise=3").status_code in (401, 403)


def test_the_limit_of_sessions_is_of_one_account_and_says_when_it_ends(operator, viewer, monkeypatch):
    """Each account has its own limit, whatever the number of its sessions."""
    monkeypatch.setattr(SessionThrottle, "rate", "3/min", raising=False)
    monkeypatch.setattr(SessionThrottle, "get_ident", lambda *_: "one address")
    UserRateThrottle.cache.clear()
    codes = [operator.get("/api/metrics/").status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]
    refused = operator.get("/api/metrics/")
    wait_s = int(refused.headers["Retry-After"])
    assert 0 < wait_s <= 60
    assert refused.json()["detail"] == f"This account sent too many requests; try again in {wait_s} s."
    assert viewer.get("/api/metrics/").status_code == 200
    UserRateThrottle.cache.clear()


def test_a_limit_with_its_own_sentence_keeps_it():
    error = Throttled(3, "The token sends more than 5,000 events in a second.")
    answer = handler(error, {})
    assert answer.data["detail"].startswith("The token sends more than 5,000 events in a second.")


@pytest.mark.parametrize(
    ("path", "what"),
    [("/api/live/nope/fidelity/", "connection nope"), ("/api/clusters/99999/", "cluster 99999"),
     ("/api/alerts/99999/", "alert 99999"), ("/api/alert-rules/99999/", "rule 99999"),
     ("/api/scenarios/suitability/?trace=99999&scheduler=oasis", "trace 99999"),
     ("/api/scenarios/99999/", "scenario 99999"), ("/api/sweeps/99999/points/", "sweep 99999")],
)  # fmt: skip
def test_what_does_not_exist_is_named(viewer, path, what):
    answer = viewer.get(path)
    assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no {what}; it may have been deleted.")


@pytest.mark.parametrize(("path", "body", "sentence"), [
    ("/api/runs/", {"scenario": 999_999}, "scenario must be the id of an existing object, got 999999, "
     "which may have been deleted."),
    ("/api/runs/", {"scenario": {}}, "scenario must be an id, a whole number, got {}."),
    ("/api/runs/", {"scenario": "{scenario}", "mode": "fast"}, "mode must be one of batch, live, got 'fast'."),
    ("/api/runs/{run}/clock/", {"speed": "much"}, "speed must be a number, got 'much'."),
    ("/api/runs/{run}/forks/", {"at_ms": "soon"}, "at_ms must be a whole number, got 'soon'."),
    ("/api/runs/", {"scenario": 1.5}, "scenario must be an id, a whole number, got 1.5."),
    ("/api/runs/", {"scenario": "{scenario}", "sped": 5},
     "sped: unknown field of the body 'sped'; did you mean 'speed'? known: scenario, mode, speed."),
    ("/api/runs/", {"scenario": "{scenario}", "speed": 5},
     "speed is only for live runs; omit it, or set mode to live."),
    ("/api/runs/", {"scenario": "{scenario}", "mode": "live", "speed": "nan"}, "speed must be a number, got 'nan'."),
    ("/api/runs/", {"scenario": "{scenario}", "mode": "live", "speed": True}, "speed must be a number, got True."),
    ("/api/runs/", {"scenario": "{scenario}", "mode": "live", "speed": -1}, "speed must be at least 1e-06, got -1."),
    ("/api/sweeps/", {"scenario": "{scenario}", "axes": [{"parameter": "floor_scale", "values": [1]}], "seeds": [1, 1]},
     "seeds: values must be distinct, got [1, 1]"),
    ("/api/sweeps/", {"scenario": "{scenario}", "axes": [{}], "seeds": [1, 1.5]},
     "seeds must be a whole number, got 1.5."),
    ("/api/sweeps/", {"scenario": 1, "axes": [{"parameter": "seed", "values": [1]}], "seeds": [1e20]},
     "seeds must be a whole number of at most 19 digits, got 1e+20."),
    ("/api/sweeps/", {"scenario": "{scenario}", "axes": [{}], "seed": [1]}, "seed: unknown field of the body 'seed'; "
     "did you mean 'seeds'? known: name, scenario, axes, seeds."),
    ("/api/experiments/oasis_fig03_utility_by_jobs/start/", {"seed": 2}, "seed: unknown field of the body 'seed'; "
     "did you mean 'seeds'? known: seeds, trace."),
    ("/api/experiments/oasis_fig03_utility_by_jobs/start/", {"trace": 1.5},
     "trace must be an id, a whole number, got 1.5."),
    ("/api/sweeps/", {"scenario": "{scenario}", "axes": []}, "axes must have at least one element."),
    ("/api/scenarios/1/race/", {"schedulers": ["fifo"]}, "schedulers must have at least 2 elements."),
    ("/api/scenarios/", ["oasis"], "The body must be a JSON object."),
])  # fmt: skip
def test_sentences_of_the_framework_are_in_the_words_of_the_api(operator, finished_run, path, body, sentence):
    if isinstance(body, dict) and body.get("scenario") == "{scenario}":
        body = {**body, "scenario": finished_run.scenario_id}
    answer = post(operator, path.format(run=finished_run.pk), body)
    assert (answer.status_code, answer.json()["detail"]) == (400, sentence)
