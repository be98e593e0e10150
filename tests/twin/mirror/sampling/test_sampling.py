"""Sampling beside following: real answers over HTTP, and a Prometheus that fails, hangs or comes back."""

import threading
import time

import pytest

from tests.twin.mirror.builders import EPOCH, S, Scripted, polled, running
from tests.twin.mirror.builders_stored import following as stored_following
from tests.twin.samplers.fake_prometheus import answer
from twin.connectors.facts import NodeFact
from twin.eventlog import stored_states
from twin.eventlog.samples import SAMPLE_FIELDS
from twin.mirror.differ import Mirror
from twin.mirror.following import Following
from twin.mirror.sampling import FAILING, SAMPLING, Sampling, begin
from twin.models import Connection
from twin.samplers import base

NODES = tuple(NodeFact(name, gpus=4, cpus=8, memory_mb=16_000, queues=("edge",)) for name in ("edge1", "cpu1"))


@pytest.fixture
def sampling(prometheus):
    made = Sampling(base.build("prometheus", {"url": prometheus.url, "timeout_s": 1}))
    yield made
    prometheus.over.set()
    made.close()


def following(sampling, events=None) -> Following:
    def write(batch, log_ms):
        if events is not None:
            events.extend(batch)

    answers = [polled(second, running("1", 600), nodes=NODES) for second in range(3_600, 3_800)]
    return Following(Scripted(*answers), Mirror(EPOCH), write, stopped=lambda seconds: True, sampling=sampling)


def poll_until(one: Following, condition):
    """Looks again until it holds, for 10 s at most."""
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, one.sampling.health
        one.apply(one.connector.snapshot())
        time.sleep(0.01)


def test_an_answer_becomes_an_event_of_the_log(sampling):
    events = []
    one = following(sampling, events)
    poll_until(one, lambda: any(kind == "sampled" for kind, _ in events))
    data = next(data for kind, data in events if kind == "sampled")
    rows = {row[0]: dict(zip(SAMPLE_FIELDS, row[1:], strict=True)) for row in data["rows"]}
    assert (rows[0]["gpu"], rows[0]["gpu_busy"], rows[0]["cpu"]) == (3_000, 300, 2_000)
    assert (rows[1]["gpu"], rows[1]["memory"]) == (-1, 4_192)
    health = one.current_health().samples
    assert (health["sampler"], health["state"], health["nodes"]) == ("prometheus", SAMPLING, 2)


def test_a_server_has_one_sample_an_interval_also_after_a_restart(prometheus, sampling):
    one = following(sampling)
    poll_until(one, lambda: sampling.health.state == SAMPLING)
    asked = len(prometheus.asked)
    for _ in range(20):
        one.apply(one.connector.snapshot())
    after, state = begin("prometheus", {"url": prometheus.url}, one.current_health().samples)
    again = following(after)
    for _ in range(20):
        again.apply(again.connector.snapshot())
    assert len(prometheus.asked) == asked
    assert (after.busy_since, state.state) == (None, "starting")
    after.close()


def test_a_prometheus_that_hangs_holds_up_no_look(prometheus, sampling):
    came = threading.Event()

    def hang(handler):
        came.set()
        prometheus.over.wait()

    prometheus.hostile = hang
    one = following(sampling)
    one.apply(one.connector.snapshot())
    assert came.wait(10)
    polls = one.health.looks
    for _ in range(50):
        one.apply(one.connector.snapshot())
    assert sampling.busy_since is not None, "the question is still open"
    assert one.health.looks == polls + 50
    poll_until(one, lambda: sampling.health.state == FAILING)
    assert "no answer within 1 s" in sampling.health.message
    assert one.health.failing_since is None, "the cluster is followed"


def test_failures_are_said_and_end_with_the_next_answer(prometheus, sampling):
    prometheus.hostile = lambda handler: answer(handler, 401, b"")
    one = following(sampling)
    poll_until(one, lambda: sampling.health.state == FAILING)
    assert sampling.health.message.endswith("it refuses the request (401); give token_from")
    since = sampling.health.since
    sampling.due_at = 0
    poll_until(one, lambda: sampling.busy_since is None and sampling.due_at > 0)
    assert sampling.health.since == since
    prometheus.hostile = None
    sampling.due_at = 0
    poll_until(one, lambda: sampling.health.state == SAMPLING)
    assert (sampling.health.since, sampling.health.message) == (None, "")


def test_a_sampler_with_a_fault_is_a_failure_and_no_more(sampling, monkeypatch):
    monkeypatch.setattr(sampling.sampler, "sample", lambda occupancy: 1 / 0)
    one = following(sampling)
    poll_until(one, lambda: sampling.health.state == FAILING)
    assert sampling.health.message == "the sampler prometheus failed; the log of the follower has the error"


def test_settings_that_no_longer_work_are_said_and_the_cluster_is_followed():
    made, health = begin("prometheus", {"url": ""})
    assert (made, health.state) == (None, FAILING)
    assert health.message.startswith("parameter url is missing")
    assert begin("gone", {})[1].message == "unknown sampler 'gone'; known: prometheus, sstat"
    assert begin("", {})[1].sampler == ""


@pytest.mark.django_db
def test_samples_are_written_to_the_run(sampling):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = stored_following(connection, polled(3_600, running("1", 600), nodes=NODES))
    one.sampling = sampling
    poll_until(one, lambda: sampling.health.state == SAMPLING)
    connection.refresh_from_db()
    state = stored_states.at(connection.run_id)
    at_ms, *amounts = state.samples.rows[0].tolist()
    assert 0 <= state.sim_ms - at_ms < 2 * S, "the age of the scrape"
    assert amounts == [3_000, 2_000, 4_192, 300]
    assert state.use.length == 1
