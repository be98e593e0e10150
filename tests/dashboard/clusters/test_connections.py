"""Connections to clusters by the API: who may, what a test answers within its limits, what is refused where."""

from __future__ import annotations

import re
import time

import orjson
import pytest

from tests.dashboard.builders import post
from tests.dashboard.clusters.builders_connections import settings_of
from twin.mirror.connecting import trial
from twin.models import AuditEntry, Connection, Run

pytestmark = pytest.mark.django_db


def test_a_connection_is_stored_listed_changed_and_removed(operator, recording, layer):
    made = post(operator, "/api/connections/", settings_of(recording, name="lab"))
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["name"], row["title"], row["wanted"], row["run"]) == ("lab", "Replay", "following", None)
    assert row["condition"]["state"] == "starting"
    assert row["condition"]["message"] == "No follower is running; manage.py up starts one."
    assert row["parameters"] == {"path": str(recording), "speed": 1.0}
    assert [one["name"] for one in operator.get("/api/connections/").json()["results"]] == ["lab"]
    body = orjson.dumps({"parameters": {"speed": 0}})
    changed = operator.patch("/api/connections/lab/", body, content_type="application/json")
    assert changed.json()["parameters"] == {"path": str(recording), "speed": 0.0}
    assert operator.post("/api/connections/lab/pause/").json()["condition"]["state"] == "paused"
    assert operator.post("/api/connections/lab/pause/").status_code == 200, "the second time it does nothing"
    assert operator.post("/api/connections/lab/follow/").json()["wanted"] == "following"
    assert operator.delete("/api/connections/lab/").status_code == 204
    assert operator.get("/api/connections/lab/").status_code == 404
    entries = AuditEntry.objects.filter(subject="connection lab").order_by("id")
    assert [entry.action.partition(".")[2] for entry in entries] == ["create", "change", "pause", "follow", "delete"]
    assert {entry.user for entry in entries} == {operator.user}
    assert entries[1].detail == {"name": "lab", "changed": "speed"}


def test_a_test_shows_findings_and_the_site_of_each_node(operator, recording):
    answer = post(operator, "/api/connections/test/", settings_of(recording))
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["well"], found["error"], found["version"], found["total_nodes"]) == (True, "", "recording", 2)
    assert found["findings"][0]["message"] == "2 polls over 1 s"
    assert [(node["name"], node["site"], node["gpus"]) for node in found["nodes"]] == [
        ("edge1", "edge", 4),
        ("cloud1", "cloud", 4),
    ]
    assert found["jobs"] == {"running": 1}
    nodes = [{key: node[key] for key in ("name", "queues", "labels")} for node in found["nodes"]]
    other = post(
        operator, "/api/connections/sites/", {"sites": {"edge_by": "name", "edge_pattern": ".*1"}, "nodes": nodes}
    )
    assert other.json() == {"sites": ["edge", "edge"]}
    assert not Connection.objects.exists()
    entries = AuditEntry.objects.filter(action__startswith="connection")
    assert [(entry.action, entry.subject) for entry in entries] == [
        ("connection.test", "connection that is not stored")
    ]


def test_a_stored_connection_is_tested(operator, recording):
    post(operator, "/api/connections/", settings_of(recording, name="lab"))
    assert operator.post("/api/connections/lab/test/").json()["well"]
    recording.unlink()
    failed = operator.post("/api/connections/lab/test/").json()
    assert (failed["well"], failed["error"]) == (
        False,
        f"the recording {recording} cannot be read: No such file or directory",
    )


def test_a_command_that_hangs_is_stopped_at_the_limit(tmp_path):
    hangs = tmp_path / "ssh"
    hangs.write_text("#!/bin/sh\nsleep 600\n")
    hangs.chmod(0o755)
    began = time.monotonic()
    found = trial.run("slurm", {"prefix": str(hangs), "timeout_ms": 120_000}, {}, limit_s=1)
    assert found["error"] == "the test did not end within 1 s and was stopped"
    assert time.monotonic() - began < 1 + trial.GRACE_S
    found = trial.run("slurm", {"prefix": str(hangs), "timeout_ms": 300}, {}, limit_s=10)
    assert not found["well"]
    assert "did not answer within 0.3 s" in found["findings"][0]["message"]


def test_a_cluster_that_prints_without_end_is_stopped():
    found = trial.run("replay", {"path": "/dev/zero"}, {}, limit_s=15)
    assert found["error"] == "the test needed more than 1024 MiB of memory and was stopped"


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"name": "my lab"}, "name", "name must have 1 to 60 letters, digits, hyphens and underscores, got 'my lab'"),
        ({"name": "test"}, "name", "name must not be 'test', which is a part of an address; choose another one"),
        (
            {"connector": "pbs"},
            "connector",
            "unknown connector 'pbs'; did you mean 'push'? known: kubernetes, push, replay, slurm",
        ),
        ({"parameters": {"speed": "fast"}}, "parameters.speed", "must be a number, got 'fast'"),
        ({"parameters": {"speed": -1}}, "parameters.speed", "parameter speed must be at least 0, got -1"),
        ({"parameters": {"pace": 1}}, "parameters.pace", "unknown parameter 'pace'; known: path, speed"),
        (
            {"sites": {"edge_pattern": "("}},
            "sites.edge_pattern",
            "edge_pattern must be a regular expression: missing )",
        ),
        ({"sites": {"edge_pattern": "(a+)+b"}}, "sites.edge_pattern", "edge_pattern would take too long on some names"),
        ({"sites": {"edge_by": "rack"}}, "sites.edge_by", "must be one of queue, name, label, got 'rack'"),
        ({"interval_ms": 1}, "interval_ms", "interval_ms must be 200 to 600,000 ms, got 1"),
        (
            {"connector": "push", "parameters": {"source": "A B"}},
            "parameters.source",
            "a source must be named by 1 to 60",
        ),
        (
            {"connector": "slurm", "parameters": {"prefix": "sh -c id"}},
            "parameters.prefix",
            "must not be the command 'sh'",
        ),
    ],
)
def test_what_is_refused_at_which_field(operator, recording, changes, field, message):
    answer = post(operator, "/api/connections/", settings_of(recording, **({"name": "lab"} | changes)))
    assert answer.status_code == 400
    assert list(answer.json()) == [field, "detail"]
    assert message in answer.json()[field][0]
    assert not Connection.objects.exists()


def test_a_name_is_given_once(operator, recording):
    post(operator, "/api/connections/", settings_of(recording, name="lab"))
    again = post(operator, "/api/connections/", settings_of(recording, name="lab"))
    assert again.json()["name"] == ["lab is the name of another connection; choose another one"]
    assert again.json()["detail"] == "lab is the name of another connection; choose another one"


def test_parameters_that_a_shell_set_stay_and_cannot_be_made_from_a_page(operator):
    Connection.objects.create(name="lab", connector="slurm", parameters={"prefix": "sudo -n -u twin"})
    address = "/api/connections/lab/"
    kept = operator.patch(
        address, orjson.dumps({"parameters": {"interval_ms": 9_000}}), content_type="application/json"
    )
    assert kept.status_code == 200, kept.content
    assert kept.json()["parameters"]["prefix"] == "sudo -n -u twin"
    body = orjson.dumps({"parameters": {"prefix": "sudo -n -u root"}})
    refused = operator.patch(address, body, content_type="application/json")
    assert "must not be the command 'sudo'" in refused.json()["parameters.prefix"][0]


def test_the_rule_of_sites_is_changed_and_previewed(operator, viewer, lab):
    address = "/api/connections/lab/"

    def patch(sites):
        return operator.patch(address, orjson.dumps({"sites": sites}), content_type="application/json")

    found = viewer.get(f"{address}nodes/").json()
    assert found["total_nodes"] == 2
    assert [(node["name"], node["site"], node["gpus"], node["queues"]) for node in found["nodes"]] == [
        ("edge1", "edge", 4, ["edge"]),
        ("cloud1", "cloud", 4, ["cloud"]),
    ]
    changed = patch({"edge_pattern": "cloud"})
    assert changed.status_code == 200, changed.content
    assert (changed.json()["sites"], changed.json()["run"]) == (
        {"edge_by": "queue", "edge_pattern": "cloud"},
        lab.run.pk,
    )
    assert [node["site"] for node in operator.get(f"{address}nodes/").json()["nodes"]] == ["cloud", "edge"]
    (entry,) = AuditEntry.objects.filter(action="connection.change")
    assert (entry.user, entry.detail) == (operator.user, {"name": "lab", "changed": "edge_pattern"})
    refused = patch({"edge_pattern": "("})
    assert list(refused.json()) == ["sites.edge_pattern", "detail"]
    assert patch({"edge_pattern": "cloud"}).status_code == 200
    assert AuditEntry.objects.filter(action="connection.change").count() == 1, "nothing was changed"
    body = orjson.dumps({"sites": {"edge_pattern": "x"}})
    assert viewer.patch(address, body, content_type="application/json").status_code == 403


def test_a_cluster_without_a_run_has_no_nodes_yet(viewer):
    Connection.objects.create(name="new", connector="slurm")
    assert viewer.get("/api/connections/new/nodes/").json() == {"nodes": [], "total_nodes": 0}


def test_viewers_look_and_do_not_connect(viewer, lab, recording):
    assert viewer.get("/api/connections/lab/").json()["condition"]["counts"] == {"nodes": 2, "running": 1}
    assert viewer.get("/api/connectors/").status_code == 200
    for path in ("", "test/", "sites/", "lab/test/", "lab/pause/", "lab/follow/"):
        assert post(viewer, f"/api/connections/{path}", settings_of(recording, name="x")).status_code == 403, path
    assert viewer.delete("/api/connections/lab/").status_code == 403


def test_the_run_of_a_cluster_cannot_be_cancelled_and_ends_with_its_connection(operator, lab):
    run = lab.run.pk
    for verb in ("pause", "resume", "cancel"):
        answer = operator.post(f"/api/runs/{run}/{verb}/")
        assert answer.status_code == 400
        message = f"cannot {verb} run {run}: it mirrors the cluster lab; pause following on /live/lab/"
        assert answer.json()["detail"] == message
    operator.delete("/api/connections/lab/")
    ended = Run.objects.get(pk=run)
    assert (ended.status, ended.wanted) == (Run.FINISHED, "running")
    sentence = (
        r"Following ended at 2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d UTC, when the connection lab was removed; "
        r"jobs that were open then are unfinished\."
    )
    assert re.fullmatch(sentence, ended.message)
    assert operator.get(f"/runs/{run}/").status_code == 200
    rows = operator.get(f"/api/runs/{run}/jobs/").json()["rows"]
    assert {row["id"]: row["state"] for row in rows} == {"1": "completed", "2": "unfinished"}
    job = operator.get(f"/api/runs/{run}/jobs/1/").json()
    assert "when following ended, after 1 attempt" in str(job)


def test_the_schema_describes_connections(viewer):
    schema = orjson.loads(viewer.get("/api/schema/?format=json").content)
    for path in ("", "{name}/", "test/", "{name}/test/", "{name}/pause/", "{name}/follow/", "sites/"):
        assert f"/api/connections/{path}" in schema["paths"]
    assert "findings" in schema["components"]["schemas"]["Trial"]["properties"]
