"""Frames on a real Valkey, and what happens without one."""

import orjson
import pytest
from django.db import transaction

from scheduling.model.bars import Placement
from scheduling.model.values import Event
from tests.twin.builders import played_out
from twin.eventlog.batch_codec import encode
from twin.infra import pubsub
from twin.infra.columns import unpack
from twin.models import Run
from twin.runs import commands, runner
from twin.scenarios import forks


def test_a_frame_arrives_as_it_was_sent(layer):
    listener = pubsub.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(pubsub.run_channel(7))
    listener.get_message(timeout=5)
    bars = [Placement(0, 0, 2, 10, 20, 3), Placement(0, 1, 4, 10, 20, 1)]
    plan = {"scope": "job", "keys": [0], "jobs": [[0, 10, 20]], "bars": bars}
    sent = encode([Event(4, 9, "job_arrived", {"job": 0}), Event(5, 10, "plan_changed", plan)])
    assert pubsub.publish(pubsub.run_channel(7), sent)
    got = listener.get_message(timeout=5)["data"]
    listener.close()
    meta, columns = unpack(got)
    assert {name: meta[name] for name in ("type", "first", "last", "sim_ms")} == {
        "type": "frame",
        "first": 4,
        "last": 5,
        "sim_ms": 10,
    }
    assert meta["events"][1] == [10, "plan_changed", ["job", 1, 2, 0]]
    assert [columns[f"bars_{name}"].tolist() for name in ("server", "end_ms", "count", "lane")] == [
        [2, 4],
        [20, 20],
        [3, 1],
        [-1, -1],
    ]


@pytest.mark.parametrize("url", ["", "unix:///nowhere/broker.sock"])
def test_a_bus_that_is_away_fails_nothing(settings, url):
    settings.LAYER_URL = url
    assert pubsub.publish(pubsub.runs_channel(None), {"type": "run"}) is False


def test_the_overview_hears_of_every_status(layer, make_run):
    listener = pubsub.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(pubsub.runs_channel(None))
    listener.get_message(timeout=5)
    run = make_run()
    runner.announce(run)
    got = orjson.loads(listener.get_message(timeout=5)["data"])
    listener.close()
    assert got["type"] == "run"
    assert (got["run"]["id"], got["run"]["status"], got["run"]["last_seq"]) == (run.pk, "queued", 0)


@pytest.mark.django_db(transaction=True)
def test_a_run_is_announced_with_its_parent_once_others_can_read_it(layer, make_run):
    """A page that reads it on the first message must find it."""
    parent = played_out(make_run())
    fork = forks.fork(parent.pk, 1, "")
    listener = pubsub.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(pubsub.runs_channel(None))
    listener.get_message(timeout=5)
    with transaction.atomic():
        run = commands.start_run(fork)
        commands.start_runs([fork])
        assert listener.get_message(timeout=0.05) is None
    announced = [orjson.loads(listener.get_message(timeout=5)["data"])["run"] for _ in range(2)]
    listener.close()
    assert [(row["parent"], row["status"]) for row in announced] == [(parent.pk, Run.QUEUED)] * 2
    assert announced[0]["id"] == run.pk
