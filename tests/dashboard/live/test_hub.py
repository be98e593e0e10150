"""The hub on a real bus: nobody is left without a subscription, and whoever missed something hears of it."""

import asyncio
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from dashboard.live.hub import Hub
from dashboard.live.mailbox import Gap, Mailbox
from twin.infra import broker


class Bus:
    """A server that can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "bus.sock"
        self.url = f"unix://{self.path}"

    def start(self) -> None:
        self.process = subprocess.Popen(
            broker.command(broker.find_server(), self.path, self.folder), stdout=subprocess.DEVNULL
        )
        broker.wait(self.url)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def publish(self, channel: str, message: bytes) -> int:
        """The number of subscribers that got it."""
        with redis.Redis.from_url(self.url) as client:
            return client.publish(channel, message)


@pytest.fixture
def bus() -> Iterator[Bus]:
    with tempfile.TemporaryDirectory(prefix="twin-hub-") as folder:
        bus = Bus(Path(folder))
        bus.start()
        yield bus
        bus.kill()


async def got(box: Mailbox) -> bytes | Gap:
    async with asyncio.timeout(10):
        return await box.get()


async def test_everybody_who_joins_while_the_hub_connects_is_subscribed(bus):
    """Twenty at once: each gets the first message published after its join, none twice."""
    hub, boxes = Hub(bus.url), [Mailbox() for _ in range(20)]
    await asyncio.gather(*(hub.join(box, f"c{i}") for i, box in enumerate(boxes)))
    for i, box in enumerate(boxes):
        assert bus.publish(f"c{i}", b"hello") == 1
        assert await got(box) == b"hello"
        assert not box.messages


async def test_one_subscription_serves_all_clients_of_a_channel(bus):
    hub, first, second = Hub(bus.url), Mailbox(), Mailbox()
    await hub.join(first, "c")
    await hub.join(second, "c")
    assert bus.publish("c", b"1") == 1
    assert [await got(first), await got(second)] == [b"1", b"1"]
    await hub.leave(first, "c")
    assert bus.publish("c", b"2") == 1
    assert await got(second) == b"2"
    assert not first.messages


async def test_a_channel_that_nobody_listens_to_is_given_up_and_can_be_joined_again(bus):
    hub, box = Hub(bus.url), Mailbox()
    for round_ in (b"1", b"2", b"3"):
        await hub.join(box, "c")
        assert bus.publish("c", round_) == 1
        assert await got(box) == round_
        await hub.leave(box, "c")
    async with asyncio.timeout(10):
        await hub.task
    assert bus.publish("c", b"4") == 0


async def test_who_was_listening_when_the_bus_was_killed_is_notified_once_it_is_back(bus):
    hub, box = Hub(bus.url), Mailbox()
    await hub.join(box, "c")
    bus.kill()
    bus.start()
    assert await got(box) is Gap.RESUMED
    assert bus.publish("c", b"new") == 1
    assert await got(box) == b"new"


async def test_who_comes_while_the_bus_is_away_is_served_and_notified_later(bus, monkeypatch):
    monkeypatch.setattr("dashboard.live.hub.MAX_WAIT_S", 0.1)
    bus.kill()
    hub, box = Hub(bus.url), Mailbox()
    await hub.join(box, "c")  # returns, though nothing stands
    assert not box.messages
    bus.start()
    assert await got(box) is Gap.RESUMED
