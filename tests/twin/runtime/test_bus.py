"""Frames on a real Valkey, and what happens without one."""

import orjson
import pytest

from scheduling.model import Event, Placement
from twin import bus, runner, wire


def test_a_frame_arrives_as_it_was_sent(layer):
    listener = bus.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(bus.run_channel(7))
    listener.get_message(timeout=5)
    bars = [Placement(0, 0, 2, 10, 20, 3), Placement(0, 1, 4, 10, 20, 1)]
    sent = wire.frame(
        [Event(4, 9, "job_arrived", {"job": 0}), Event(5, 10, "planned", {"job": 0, "finish_ms": 20, "bars": bars})]
    )
    assert bus.publish(bus.run_channel(7), sent)
    got = orjson.loads(listener.get_message(timeout=5)["data"])
    listener.close()
    assert (got["type"], got["first"], got["last"], got["sim_ms"]) == ("frame", 4, 5, 10)
    assert got["events"][1] == [
        5, 10, "planned", {"job": 0, "finish_ms": 20, "bars": [0, 0, 2, 10, 20, 3, -1, -1, -1, 0, 1, 4, 10, 20, 1, -1, -1, -1]},
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["", "unix:///nowhere/broker.sock"])
def test_a_bus_that_is_away_fails_nothing(settings, url):
    settings.LAYER_URL = url
    assert bus.publish(bus.RUNS, {"type": "run"}) is False


def test_the_overview_hears_of_every_status(layer, make_run):
    listener = bus.client().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(bus.RUNS)
    listener.get_message(timeout=5)
    run = make_run()
    runner.announce(run)
    got = orjson.loads(listener.get_message(timeout=5)["data"])
    listener.close()
    assert got["type"] == "run"
    assert (got["run"]["id"], got["run"]["status"], got["run"]["last_seq"]) == (run.pk, "queued", 0)
