"""Events as machines post them: what is accepted, what is refused and how, and what the connector makes of it."""

from copy import deepcopy
from datetime import UTC, datetime

import orjson
import pytest

from dashboard.auth import tokens
from dashboard.http import throttles
from dashboard.ingest.first_event import with_token
from dashboard.models import ApiToken
from tests.dashboard.clusters.builders_ingest import (
    ENDED,
    FIXTURES,
    NODE,
    SINGLE,
    STARTED,
    SUBMITTED,
    seen,
)
from tests.twin.push.builders import T0, cloud_event
from twin.connectors.facts import Attempt, Contact, JobFact, NodeFact, Share
from twin.mirror.differ import Mirror
from twin.mirror.following import Following
from twin.models import PushedEvent, PushSource
from twin.push.vocabulary import EVENT_TYPES

pytestmark = pytest.mark.usefixtures("fresh_allowances")


def test_a_batch_becomes_facts(sender, connector):
    assert sender.summary([NODE, SUBMITTED, STARTED]) == {
        "accepted": 3, "duplicate": 0, "rejected": [], "ignored": 0, "cursor": 3,
    }  # fmt: skip
    job = JobFact(
        "54_1", T0, "running", gpus=2, queue="edge", complete_history=True, suspensions=(),
        attempts=(Attempt(T0 + 500, None, (Share("gpu1", 2, gpu_ids=(0, 3)),)),),
    )  # fmt: skip
    assert seen(connector) == ([job], [NodeFact("gpu1", gpus=4, cpus=64)])


def test_an_event_that_comes_again_is_a_duplicate(sender, connector):
    sender.post([SUBMITTED])
    again = sender.summary([SUBMITTED, STARTED, STARTED])
    assert (again["accepted"], again["duplicate"], again["rejected"]) == (1, 2, [])
    assert PushedEvent.objects.count() == 2
    assert sender.client.get(sender.path + "cursor", headers=sender.headers).json() == {
        "source": "lab",
        "cursor": again["cursor"],
    }


def test_a_single_event_and_plain_json(sender):
    assert sender.summary(NODE, SINGLE)["accepted"] == 1
    assert sender.summary([SUBMITTED], "application/json; charset=utf-8")["accepted"] == 1


def test_changes_follow_the_first_look(sender, connector):
    sender.post([NODE, SUBMITTED])
    connector.snapshot()
    stream = connector.changes()
    sender.post([STARTED])
    change = next(stream)
    assert (change.partial, change.nodes, [job.state for job in change.jobs]) == (True, None, ["running"])
    sender.post([ENDED, cloud_event("node.changed", "gpu2", T0)])
    change = next(stream)
    assert [job.outcome for job in change.jobs] == ["completed"]
    assert [node.name for node in change.nodes] == ["gpu1", "gpu2"], "all nodes: one that is not there is gone"
    stream.close()


def test_the_stream_gives_a_sign_of_life(sender, connector, monkeypatch):
    monkeypatch.setattr("twin.connectors.push.ALIVE_S", 0.0)
    sender.post([NODE])
    connector.snapshot()
    sign = next(connector.changes())
    assert (sign.jobs, sign.nodes, sign.partial) == ((), None, True)


def test_each_post_is_a_contact_and_an_empty_batch_is_a_heartbeat(sender, connector):
    def after(post) -> Contact:
        PushSource.objects.update(contact_ms=0)
        post()
        return connector.contact()

    assert connector.contact() is None
    sender.post([])
    assert not PushSource.objects.exists(), "the first event makes a source known"
    assert sender.post([STARTED, SUBMITTED]).status_code == 200
    assert connector.contact().event_ms == T0 + 500
    heartbeat = sender.summary([])
    assert (heartbeat["accepted"], heartbeat["cursor"]) == (0, 2)
    for post in (lambda: sender.post([]), lambda: sender.post([SUBMITTED])):
        assert after(post).at_ms > T0
    step = {"step": "begin", "id": "s", "time": "2026-05-28T10:00:00Z"}
    assert after(lambda: sender.step(**step)).at_ms > T0
    assert after(lambda: sender.post([{"specversion": "2"}])) == Contact(0, T0 + 500), "nothing of it was understood"


def test_following_a_source_keeps_the_time_of_its_contact(sender, connector):
    sender.post([NODE, SUBMITTED])
    following = Following(connector, Mirror(T0), lambda events, ms: None, stopped=lambda seconds: True)
    health = following.current_health()
    assert (health.contact_at, health.event_ms) == (connector.contact().at_ms / 1000, T0)


def test_a_late_event_restates_a_job_that_was_let_go(sender, connector):
    sender.post([NODE, SUBMITTED, ENDED])
    connector.snapshot()
    connector.mirror.forget_ended(2**50)
    assert "j54_1" not in connector.mirror.events
    sender.post([STARTED])
    (job,) = next(connector.changes()).jobs
    assert (job.state, job.attempts[0].started_ms, job.attempts[0].ended_ms) == ("ended", T0 + 500, T0 + 9_000)


def test_a_snapshot_makes_the_state_complete(sender, connector):
    at = T0 + 60_000
    sender.post(
        [NODE, SUBMITTED, STARTED, cloud_event("job.submitted", "kept", T0), cloud_event("node.changed", "old", T0)]
    )
    connector.snapshot()
    stream = connector.changes()
    time = datetime.fromtimestamp(at / 1_000, UTC).isoformat()
    assert sender.step(step="begin", id="s1", time=time).json()["ended"] is False
    kept = {"key": "kept", "submitted_ms": T0, "state": "held"}
    part = {"step": "part", "id": "s1", "part": 0, "jobs": [kept], "nodes": [{"name": "gpu1", "gpus": 8}]}
    assert sender.step(**part).json()["jobs"] == 1
    assert next(stream).partial
    assert sender.step(**part).json() == sender.step(**part).json(), "a step may be repeated"
    refused = sender.step(step="end", id="s1", jobs=2, nodes=1)
    assert refused.status_code == 400
    assert refused.json()["detail"] == (
        "snapshot 's1' ends with 2 jobs and 1 node, but its parts hold 1 and 1; send the missing parts, then end it"
    )
    assert sender.step(step="end", id="s1", jobs=1, nodes=1).json()["ended"] is True
    assert sender.step(step="end", id="s1", jobs=1, nodes=1).status_code == 200
    change = next(stream)
    jobs = {job.key: (job.state, job.outcome, job.ended_ms) for job in change.jobs}
    assert jobs == {"54_1": ("ended", "lost", at), "kept": ("held", "", None)}
    assert ([node.name for node in change.nodes], change.nodes[0].gpus, change.partial) == (["gpu1"], 8, False)
    assert sender.step(**part).json()["detail"] == "snapshot 's1' has ended; begin another one"


def test_a_snapshot_of_nodes_leaves_jobs_alone(sender, connector):
    sender.post([NODE, SUBMITTED])
    time = datetime.fromtimestamp((T0 + 1_000) / 1_000, UTC).isoformat()
    sender.step(step="begin", id="n", time=time, covers=["nodes"])
    wrong = sender.step(step="part", id="n", part=0, jobs=[{"key": "x", "submitted_ms": 1, "state": "waiting"}])
    assert wrong.json()["detail"] == "snapshot 'n' covers nodes, but part 0 has jobs"
    sender.step(step="end", id="n")
    jobs, nodes = seen(connector)
    assert (jobs[0].state, nodes) == ("waiting", [])


def test_history_has_what_ended_in_the_interval(sender, connector):
    other = [cloud_event("job.submitted", "9", T0), cloud_event("job.ended", "9", T0 + 50_000, outcome="failed")]
    sender.post([NODE, SUBMITTED, STARTED, ENDED, *other])
    assert [(job.key, job.outcome) for job in connector.history(T0, T0 + 50_000)] == [("54_1", "completed")]
    assert [job.key for job in connector.history(T0, T0 + 50_001)] == ["54_1", "9"]


def test_the_test_of_the_connection(sender, connector):
    empty = connector.check()
    assert not empty.well
    assert empty.findings[0].message == "the source lab has posted no event yet"
    assert empty.findings[0].remedy.startswith("Create a token with `manage.py token create --name lab --scope ingest:")
    sender.post([NODE, SUBMITTED, cloud_event("job.started", "55", T0)])
    found = connector.check()
    assert found.well
    assert [finding.message for finding in found.findings[1:]] == [
        "1 node", "1 job, open or ended in the last hour", "1 job not shown: no event gives the time of submission",
    ]  # fmt: skip


def test_a_source_with_a_token_is_not_told_to_create_one(sender, operator):
    remedy = "Create a token with"
    found = {"findings": [{"subject": "events", "well": False, "remedy": remedy}]}

    def remedy_for(source: str) -> str:
        return with_token("push", {"source": source}, deepcopy(found))["findings"][0]["remedy"]

    token = ApiToken.objects.get(scopes=["ingest:lab"])
    assert remedy_for("lab").startswith(f"The token {token.name} can post events of lab: post one")
    assert remedy_for("other") == remedy
    tokens.revoke(token, token.created_by)
    assert remedy_for("lab") == remedy


def test_five_thousand_events_a_second(sender, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(throttles, "events", throttles.Allowance(5, now=lambda: clock[0]))
    assert sender.post([NODE, SUBMITTED, STARTED]).status_code == 200
    answer = sender.post([ENDED, NODE, SUBMITTED])
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
    assert PushedEvent.objects.count() == 3, "nothing is half done"
    clock[0] = 0.2
    assert sender.summary([ENDED, NODE, SUBMITTED])["accepted"] == 1


def test_documents_of_slurms_jobcomp(sender, connector):
    """As Slurm 22.05 posted them: an array, a heterogeneous job, a cancelled and a timed-out one.

    Nothing private is stored.
    """
    documents = [orjson.loads(line) for line in (FIXTURES / "slurm-22.05-jobcomp.jsonl").read_bytes().splitlines()]
    answers = [sender.summary(document, "application/json") for document in documents]
    assert [answer["accepted"] for answer in answers] == [1] * len(documents)
    assert sender.summary(documents, "application/json")["duplicate"] == len(documents), (
        "it sends again what it is unsure of"
    )
    jobs = {job.key: job for job in connector.snapshot().jobs}
    outcomes = {key: job.outcome for key, job in jobs.items()}
    assert outcomes == {
        "1": "completed", "2": "failed", "3_0": "completed", "3_1": "completed", "4": "cancelled",
        "5+0": "completed", "5+1": "completed", "7": "timeout",
    }  # fmt: skip
    two, submitted = jobs["2"], int(datetime(2026, 11, 22, 9, 16, 58, tzinfo=UTC).timestamp() * 1_000)
    assert (two.submitted_ms, two.nodes, two.cpus, two.memory_mb, two.limit_ms) == (submitted, 2, 2, 4_000, None)
    shares = (Share("edge1", 0, 1, 2_000), Share("edge2", 0, 1, 2_000))
    assert two.attempts == (Attempt(submitted + 3_000, submitted + 4_000, shares, "failed"),)
    assert (jobs["1"].limit_ms, jobs["1"].user, jobs["1"].queue) == (300_000, "root", "edge")
    assert (jobs["4"].attempts, jobs["4"].ended_ms) == ((), submitted)
    assert (jobs["5+1"].gang, jobs["5+0"].gang) == ("5+0", "5+0")
    stored = b"".join(bytes(payload) for payload in PushedEvent.objects.values_list("payload", flat=True))
    for secret in (b"secret", b"#!/bin/sh", b"/home", b"sleep"):
        assert secret not in stored


def test_openapi_has_a_schema_for_every_event_type(operator):
    schema = orjson.loads(operator.get("/api/schema/?format=json").content)
    named = {one["title"]: one for one in schema["components"]["schemas"]["PushedEvent"]["oneOf"]}
    assert set(named) == set(EVENT_TYPES)
    reference = named["job.ended"]["properties"]["data"]["$ref"].rpartition("/")[2]
    assert schema["components"]["schemas"][reference]["required"] == ["outcome"]
    assert "/api/ingest/{source}/events" in schema["paths"]
