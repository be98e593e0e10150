"""Events of Ray's export: a node, a driver job, tasks that succeed, fail and are tried again, and what is left out."""

import base64

import orjson
import pytest

from twin.connectors.facts import Attempt, NodeFact, Share
from twin.push import fold
from twin.push.bodies import read
from twin.push.events import read as stored
from twin.push.vocabulary import EventError

NOW = 1_790_000_000_000
AT = 1_780_000_000_000  # 2026-05-28T20:26:40Z
NODE, JOB, TASK = (bytes([value] * size) for value, size in ((0xA1, 28), (1, 4), (0x7F, 24)))


def b64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def at(ms: int) -> str:
    return f"2026-05-28T20:26:{40 + ms // 1_000}.{ms % 1_000:03}000000Z"


def event(type: str, content: dict, ms: int = 0) -> dict:
    first, *rest = type.lower().split("_")
    field = first + "".join(word.title() for word in rest)
    return {"eventId": b64(f"{type}{ms}{content}".encode()), "sourceType": "GCS", "eventType": type, "severity": "INFO",
            "timestamp": at(ms), "sessionName": "s", "message": "", field: content}  # fmt: skip


def step(state: str, ms: int, **more) -> dict:
    return {"state": state, "timestamp": at(ms), **more}


NODES = [
    event("NODE_DEFINITION_EVENT", {"nodeId": b64(NODE), "nodeIpAddress": "10.0.0.1", "labels": {"zone": "edge"}}),
    event("NODE_LIFECYCLE_EVENT", {"nodeId": b64(NODE), "stateTransitions": [
        step("ALIVE", 1, resources={"CPU": 8.0, "GPU": 4.0, "memory": 2.0**30})]}),
]  # fmt: skip
DEFINITION = event("TASK_DEFINITION_EVENT", {
    "taskId": b64(TASK), "taskAttempt": 0, "taskType": "NORMAL_TASK", "taskName": "train", "jobId": b64(JOB),
    "requiredResources": {"CPU": 1.0, "GPU": 0.5},
}, 100)  # fmt: skip


def lifecycle(*steps: dict, attempt: int = 0, **more) -> dict:
    content = {
        "taskId": b64(TASK),
        "taskAttempt": attempt,
        "nodeId": b64(NODE),
        "jobId": b64(JOB),
        "stateTransitions": list(steps),
    }
    return event("TASK_LIFECYCLE_EVENT", content | more, steps[-1]["timestamp"] and attempt)


def facts(*events: dict) -> dict[str, list]:
    found: dict[str, list] = {}
    for one in read(orjson.dumps(list(events)), "application/json", NOW):
        assert not isinstance(one, EventError), one
        for fact in one:
            found.setdefault(fact.key, []).append(stored(fact.at_ms, fact.digest, fact.payload))
    return found


def test_a_node_with_what_it_has():
    key = "n" + NODE.hex()
    assert fold.node(key[1:], facts(*NODES)[key]) == NodeFact(
        NODE.hex(), gpus=4, cpus=8, memory_mb=1_024, labels={"zone": "edge", "ip": "10.0.0.1"}
    )
    died = event("NODE_LIFECYCLE_EVENT", {"nodeId": b64(NODE), "stateTransitions": [
        step("DEAD", 9_000, deathInfo={"reason": "UNEXPECTED_TERMINATION", "reasonMessage": "health check failed"}),
    ]}, 9_000)  # fmt: skip
    node = fold.node(key[1:], facts(*NODES, died)[key])
    assert (node.state, node.reason) == ("down", "health check failed")


def test_a_task_from_its_definition_to_its_end():
    steps = lifecycle(step("PENDING_NODE_ASSIGNMENT", 110), step("RUNNING", 500), step("FINISHED", 2_500))
    (job,) = fold.jobs(TASK.hex(), facts(DEFINITION, steps)["j" + TASK.hex()])
    assert (job.submitted_ms, job.state, job.outcome, job.ended_ms) == (AT + 100, "ended", "completed", AT + 2_500)
    assert (job.gpus, job.cpus, job.account) == (1, 1, JOB.hex()), "a part of a GPU counts as one"
    assert job.attempts == (Attempt(AT + 500, AT + 2_500, (Share(NODE.hex(), 1, 1),), "completed"),)


def test_a_task_that_fails_and_is_tried_again():
    first = lifecycle(step("RUNNING", 500), step("FAILED", 900), rayErrorInfo={"errorType": "WORKER_DIED"})
    failed = fold.jobs(TASK.hex(), facts(DEFINITION, first)["j" + TASK.hex()])[0]
    assert (failed.outcome, failed.reason) == ("failed", "WORKER_DIED")
    second = lifecycle(step("PENDING_ARGS_AVAIL", 950), step("RUNNING", 1_000), attempt=1)
    (job,) = fold.jobs(TASK.hex(), facts(DEFINITION, first, second)["j" + TASK.hex()])
    assert (job.state, job.restarts, [a.started_ms for a in job.attempts]) == ("running", 1, [AT + 500, AT + 1_000])


def test_calls_of_actors_and_other_types_are_not_shown():
    assert fold.jobs(TASK.hex(), facts(lifecycle(step("RUNNING", 500)))["j" + TASK.hex()]) == []
    assert facts(event("ACTOR_DEFINITION_EVENT", {"actorId": "AA=="})) == {}
    driver = event("TASK_DEFINITION_EVENT", {"taskId": b64(TASK), "taskAttempt": 0, "taskType": "DRIVER_TASK"})
    assert facts(driver) == {}


def test_a_driver_job():
    steps = [step("CREATED", 5), step("FINISHED", 800)]
    events = facts(
        event("DRIVER_JOB_DEFINITION_EVENT", {"jobId": b64(JOB)}),
        event("DRIVER_JOB_LIFECYCLE_EVENT", {"jobId": b64(JOB), "stateTransitions": steps}),
    )
    (job,) = fold.jobs(JOB.hex(), events["j" + JOB.hex()])
    assert (job.submitted_ms, job.ended_ms, job.gpus, job.outcome) == (AT + 5, AT + 800, 0, "completed")


def test_ids_in_hexadecimal_and_fields_in_snake_case():
    event = {
        "event_id": "e",
        "event_type": "NODE_DEFINITION_EVENT",
        "timestamp": at(0),
        "node_definition_event": {"node_id": NODE.hex(), "node_ip_address": "10.0.0.1"},
    }
    assert list(facts(event)) == ["n" + NODE.hex()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"taskLifecycleEvent": None},
            "a Ray event of the type TASK_LIFECYCLE_EVENT must have the field taskLifecycleEvent",
        ),
        ({"timestamp": "now"}, "timestamp must be an RFC 3339 time with a zone"),
        ({"taskLifecycleEvent": {"taskId": "???"}}, "taskId must be in base64 or hexadecimal digits, got '???'"),
        (
            {"taskLifecycleEvent": {"taskId": "ab", "stateTransitions": [1]}},
            "stateTransitions must hold objects, got '1'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(change, message):
    (answer,) = read(orjson.dumps(lifecycle(step("RUNNING", 500)) | change), "application/json", NOW)
    assert isinstance(answer, EventError)
    assert message in str(answer)
