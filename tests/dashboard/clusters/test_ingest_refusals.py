"""Posted events that are refused: who may post, events that do not fit, bodies that cannot be read."""

import base64

import orjson
import pytest
from django.test import Client
from hypothesis import HealthCheck, example, given
from hypothesis import settings as quick
from hypothesis import strategies as st

from tests.cases import cases
from tests.dashboard.clusters.builders_ingest import (
    BATCH,
    ENDED,
    NODE,
    STARTED,
    SUBMITTED,
    Sender,
)
from twin.config import body_limit
from twin.connectors import base
from twin.models import PushedEvent, PushSource

pytestmark = pytest.mark.usefixtures("fresh_allowances")


def test_who_may_post(sender, operator):
    answer = Client().post("/api/ingest/lab/events", b"[]", content_type=BATCH)
    assert (answer.status_code, answer.json()["detail"]) == (
        401, "Events are posted with a token of the scope ingest:lab: Authorization: Bearer TOKEN.",
    )  # fmt: skip
    assert operator.post("/api/ingest/lab/events", b"[]", content_type=BATCH).status_code == 401, (
        "a session is no token"
    )
    foreign = Sender(sender.headers["authorization"].split()[1], "prod").post([NODE])
    assert (foreign.status_code, foreign.json()["detail"]) == (
        403, "The token 'feed' is limited to ingest:lab; this source needs ingest:prod.",
    )  # fmt: skip
    assert not PushSource.objects.exists()
    operator.user.groups.clear()
    assert sender.post([NODE]).status_code == 403


def test_a_sender_that_has_only_an_address_gives_the_token_as_password(sender):
    value = sender.headers["authorization"].split()[1]
    sender.headers = {"authorization": "Basic " + base64.b64encode(f"slurm:{value}".encode()).decode()}
    assert sender.post([NODE]).status_code == 200
    sender.headers = {"authorization": "Basic !"}
    assert sender.post([NODE]).status_code == 401


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "job.start"}, "unknown event type 'job.start'; known: job.submitted, job.changed, "),
        ({"data": {"gpu": 2}},
         "data of job.submitted: Object contains unknown field `gpu`; known: submitted_ms, reason, "),
        ({"data": {"gpus": "2"}}, "job 54_1: data of job.submitted: Expected `int`, got `str` - at `$.gpus`: \"2\""),
        ({"data": {"gpus": -1}}, "job 54_1: data of job.submitted: Expected `int` >= 0 - at `$.gpus`, got -1"),
        ({"data": {"gpus": 10**12}}, "Expected `int` <= 1000000000 - at `$.gpus`, got 1000000000000"),
        ({"type": "job.ended", "data": {"outcome": "won"}},
         "Invalid enum value 'won' - at `$.outcome`; known: completed, failed, "),
        ({"type": "node.changed", "data": {"state": "off"}},
         "node 54_1: data of node.changed: Invalid enum value 'off' - at `$.state`; known: up, draining, drained"),
        ({"data": {"user": "a\nb"}}, "data of job.submitted: Expected `str` matching regex"),
        ({"data": []}, "data of job.submitted: Expected `object`, got `array`"),
        ({"time": "2026-05-28"},
         "time must be an RFC 3339 time with a zone, such as 2026-05-04T10:00:00.250Z; got '2026-05-28'"),
        ({"time": None}, "time must be an RFC 3339 time with a zone, such as 2026-05-04T10:00:00.250Z; it is missing"),
        ({"time": "2126-01-01T00:00:00Z"},
         "h ahead of this server's clock; at most 10 min are accepted, so set the sender's clock"),
        ({"time": "1969-01-01T00:00:00Z"}, "time must be 1970 or later"),
        ({"specversion": "0.3"}, "specversion must be \"1.0\", got '0.3'"),
        ({"id": 7}, "id must be a text of 1 to 200 characters; got '7'"),
        ({"subject": ""}, "subject must be a text of 1 to 200 characters; got ''"),
        ({"subject": "a\x1fb"}, "subject must name the job or node in 1 to 200 printable characters, got 'a\\x1fb'"),
        ({"sequence": [1]}, "sequence must be a number or up to 50 letters and digits, got '[1]'"),
        ({"data_base64": "AA=="}, "data_base64 is not read; send data as JSON"),
    ],
)  # fmt: skip
def test_an_event_that_does_not_fit_is_rejected_alone(sender, change, message):
    answer = sender.summary([NODE, SUBMITTED | change, STARTED])
    assert (answer["accepted"], [row["index"] for row in answer["rejected"]]) == (2, [1])
    assert message in answer["rejected"][0]["error"]
    assert "\n" not in answer["rejected"][0]["error"]


def test_bodies_that_cannot_be_read_as_a_whole(sender):
    def refused(body, media_type=BATCH):
        answer = sender.post(body, media_type)
        return answer.status_code, answer.json()["detail"]

    assert refused(b"{")[0] == 400
    assert "the body is not JSON" in refused(b"{")[1]
    assert refused([NODE] * 1_001) == (413, "The request has 1,001 events; send at most 1,000 in one request.")
    assert refused(b" " * 10_000_000) == (
        413, "The request is larger than the limit of 1 MiB; send fewer events in one request.",
    )  # fmt: skip
    assert refused([NODE], "text/plain")[0] == 415
    assert refused([NODE], "text/plain")[1].startswith("Content-Type must be one of application/cloudevents-batch+json")
    assert sender.summary([7, {"a": 1}], "application/json")["rejected"] == [
        {"index": 0, "error": "an event must be a JSON object, got int"},
        {"index": 1, "error": "the fields a fit no known event format; known: CloudEvents 1.0, "
                              "Ray event export, Slurm jobcomp/elasticsearch"},
    ]  # fmt: skip
    assert not PushedEvent.objects.exists()
    answer = Sender(sender.headers["authorization"].split()[1], "Lab!").post([NODE])
    assert answer.status_code == 403


FIELDS = ["specversion", "id", "source", "type", "subject", "time", "data", "sequence", "eventType",
          "taskLifecycleEvent", "timestamp", "jobid", "state", "@submit", "@end", "@start", "nodes", "tres_alloc",
          "time_limit", "array_task_id", "het_job_id"]  # fmt: skip
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
strange = st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=6)
nearly = st.builds(
    lambda base, changes: base | changes,
    st.sampled_from([
        SUBMITTED, NODE, ENDED,
        {"jobid": 1, "state": "FAILED", "@submit": "2026-01-01T00:00:00", "@start": "2026-01-01T00:00:00",
         "@end": "2026-01-01T00:00:01", "nodes": "a[1-2]"},
        {"eventId": "x", "eventType": "TASK_LIFECYCLE_EVENT", "timestamp": "2026-01-01T00:00:00Z",
         "taskLifecycleEvent": {"taskId": "ab"}},
        {"eventId": "x", "eventType": "NODE_LIFECYCLE_EVENT", "timestamp": "2026-01-01T00:00:00Z",
         "nodeLifecycleEvent": {"nodeId": "ab", "stateTransitions": []}},
    ]),
    strange,
)  # fmt: skip


@quick(max_examples=cases(25, 5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(strange | nearly, max_size=20), st.sampled_from([BATCH, "application/json"]))
@example([SUBMITTED | {"data": {"\n": None}}], BATCH)
def test_any_json_is_answered_event_by_event(sender, items, media_type):
    answer = sender.post(items, media_type)
    assert answer.status_code == 200, answer.content
    summary = answer.json()
    rejected = {row["index"] for row in summary["rejected"]}
    assert all("\n" not in row["error"] and row["error"] for row in summary["rejected"])
    assert rejected <= set(range(len(items)))
    base.build("push", {"source": "lab"}).snapshot()


@quick(max_examples=cases(25, 5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=1, max_size=40) | json_values.map(orjson.dumps), st.sampled_from(["events", "snapshot"]))
def test_any_bytes_are_answered(sender, body, to):
    answer = sender.post(body, "application/json", to)
    assert answer.status_code in (200, 400)
    assert answer.status_code == 200 or answer.json()["detail"]


def test_the_limit_stands_before_the_body_is_received(settings):
    assert body_limit.limit_of("/api/ingest/lab/events") == 2**20
    assert body_limit.limit_of("/api/clusters/") == settings.MAX_BODY_BYTES
