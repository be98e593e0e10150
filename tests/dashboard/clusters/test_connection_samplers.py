"""Samplers of connections by the API: what is refused where, what is stored, and the age of samples."""

from __future__ import annotations

import time

import orjson
import pytest

from tests.dashboard.builders import post
from tests.dashboard.clusters.builders_connections import settings_of
from twin.models import AuditEntry, Connection

pytestmark = pytest.mark.django_db


SAMPLER = {"sampler": "prometheus", "sampler_parameters": {"url": "http://prometheus:9090"}}


@pytest.mark.parametrize(
    ("sampler", "field", "message"),
    [
        ({"sampler": "influx"}, "sampler", "unknown sampler 'influx'; known: prometheus, sstat"),
        ({"sampler_parameters": {"url": "http://x"}}, "sampler", "sampler is missing"),
        ({"sampler": "prometheus"}, "sampler_parameters.url", "parameter url is missing"),
        (
            SAMPLER | {"sampler_parameters": {"url": "http://x", "interval_s": 5}},
            "sampler_parameters.interval_s",
            "must be at least 60 s, got 5",
        ),
        (
            SAMPLER | {"sampler_parameters": {"url": "http://x", "cpu": "a b"}},
            "sampler_parameters.cpu",
            "must be the name of a metric",
        ),
        (
            {"sampler": "sstat", "sampler_parameters": {"prefix": "sh -c id"}},
            "sampler_parameters.prefix",
            "prefix must not be the command 'sh'",
        ),
    ],
)
def test_a_sampler_that_cannot_work_is_refused_at_its_field(operator, recording, sampler, field, message):
    for address in ("/api/connections/", "/api/connections/test/"):
        name = {} if "test" in address else {"name": "lab"}
        answer = post(operator, address, settings_of(recording, **name, **sampler))
        assert answer.status_code == 400
        assert list(answer.json()) == [field, "detail"]
        assert message in answer.json()[field][0]


def test_a_sampler_is_stored_changed_and_taken_away(operator, recording, layer):
    row = post(operator, "/api/connections/", settings_of(recording, name="lab", **SAMPLER)).json()
    assert (row["sampler"], row["sampler_parameters"]["url"]) == ("prometheus", "http://prometheus:9090")
    assert row["condition"]["samples"]["state"] == "starting"

    def change(body):
        answer = operator.patch("/api/connections/lab/", orjson.dumps(body), content_type="application/json")
        assert answer.status_code == 200, answer.content
        return answer.json()

    changed = change({"sampler_parameters": {"interval_s": 90}})["sampler_parameters"]
    assert (changed["interval_s"], changed["url"]) == (90, "http://prometheus:9090")
    assert change({"interval_ms": 2_000})["sampler"] == "prometheus"
    gone = change({"sampler": ""})
    assert (gone["sampler"], gone["sampler_parameters"], gone["condition"]["samples"]) == ("", {}, {})
    details = [entry.detail.get("changed") for entry in AuditEntry.objects.filter(action="connection.change")]
    assert sorted(details) == ["interval_ms", "sampler, sampler_parameters", "sampler_parameters"]


def test_a_test_says_of_how_many_nodes_there_are_samples(operator, recording, prometheus):
    sampler = {"sampler": "prometheus", "sampler_parameters": {"url": prometheus.url}}
    found = post(operator, "/api/connections/test/", settings_of(recording, **sampler)).json()
    findings = {finding["subject"]: finding["message"] for finding in found["findings"]}
    assert (found["well"], findings["use of GPUs busy"]) == (True, "samples of 1 of 2 nodes")
    prometheus.close()
    found = post(operator, "/api/connections/test/", settings_of(recording, **sampler)).json()
    assert (found["well"], found["findings"][-1]["well"]) == (True, False), "a cluster is followed without samples"
    assert "nothing listens on port" in found["findings"][-1]["message"]


def test_the_state_of_samples_has_their_age(viewer, lab):
    lab.sampler = "prometheus"
    lab.health |= {"samples": {"sampler": "prometheus", "state": "failing", "message": "no", "at": time.time() - 60}}
    lab.save()
    samples = viewer.get("/api/connections/lab/").json()["condition"]["samples"]
    assert (samples["state"], samples["message"], samples["nodes"]) == ("failing", "no", 0)
    assert 60_000 <= samples["age_ms"] < 90_000
    Connection.objects.update(sampler="sstat")
    assert viewer.get("/api/connections/lab/").json()["condition"]["samples"]["state"] == "starting"


def test_the_samplers_are_declared_for_the_form(viewer):
    found = viewer.get("/api/connectors/").json()["samplers"]
    assert [one["name"] for one in found] == ["prometheus", "sstat"]
    assert all(parameter["title"] for one in found for parameter in one["parameters"])
