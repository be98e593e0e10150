"""The outbox of a channel: nothing waits for few listeners; for many, frames are joined and nothing is lost."""

import asyncio
import time

import pytest

from dashboard.live.mailbox import Mailbox
from dashboard.live.outbox import MAX_HELD, MAX_UNPACED, REST, Outbox
from scheduling.model.bars import Placement
from scheduling.model.values import Event
from twin.eventlog.batch_codec import decode, encode, joined

STATUS = b'{"type":"status"}'


def events(first: int, count: int) -> list[Event]:
    made = []
    for seq in range(first, first + count):
        bars = [Placement(seq, 0, k, seq, seq + 9, 1) for k in range(seq % 3)]
        plan = {"scope": "job", "keys": [seq], "jobs": [[seq, seq, seq + 9]], "bars": bars}
        sample = {"use": [[1, 2, 3, 4]], "rows": [[0, seq, 1, 2, 3, 4]]}
        made.append(
            Event(seq, seq, *(("job_arrived", {"job": seq}), ("plan_changed", plan), ("sampled", sample))[seq % 3])
        )
    return made


def hold(outbox: Outbox) -> None:
    """Messages wait from now on, as behind a delivery to many listeners that has not been sent."""
    outbox.busy = True
    outbox.listeners = [*outbox.listeners, *(Mailbox() for _ in range(MAX_UNPACED))]


def got(box: Mailbox) -> list[bytes]:
    return list(box.messages)


async def test_for_few_listeners_every_message_passes_at_once_and_as_it_is():
    boxes = {Mailbox() for _ in range(3)}
    outbox = Outbox(boxes)
    messages = [encode(events(1, 2)), encode(events(3, 1)), STATUS]
    for message in messages:
        outbox.put(message)
    assert all(got(box) == messages for box in boxes)


async def test_for_many_listeners_neighbouring_frames_are_joined_in_order():
    boxes = {Mailbox() for _ in range(100)}
    outbox = Outbox(boxes)
    frames = [encode(events(seq, 1)) for seq in range(1, 9)]
    for message in (*frames[:4], STATUS, *frames[4:]):
        outbox.put(message)
    assert all(got(box) == [frames[0]] for box in boxes), "the first passes at once, the others wait"
    async with asyncio.timeout(10):
        while outbox.held:
            await asyncio.sleep(0)
    for box in boxes:
        first, second, status, third = got(box)
        assert status == STATUS
        assert [decode(frame) for frame in (first, second, third)] == [events(1, 1), events(2, 3), events(5, 4)]
        assert second is got(next(iter(boxes)))[1], "all share one message"


async def test_the_next_delivery_begins_after_the_last_one_was_sent_and_a_rest():
    one_s, outbox, times = 0.001, Outbox({Mailbox() for _ in range(MAX_UNPACED + 10)}), []

    async def send(box: Mailbox) -> None:
        while True:
            await box.get()
            times.append(time.monotonic())
            time.sleep(one_s)  # the processor is busy with this listener

    async with asyncio.timeout(30):
        tasks = [asyncio.create_task(send(box)) for box in outbox.listeners]
        await asyncio.sleep(0)
        for seq in range(1, 6):
            outbox.put(encode(events(seq, 1)))
            await asyncio.sleep(0)
        while len(times) < 2 * len(tasks):
            await asyncio.sleep(one_s)
    for task in tasks:
        task.cancel()
    assert len(times) == 2 * len(tasks), "the four that waited are one message"
    assert times[len(tasks)] - times[0] >= len(tasks) * one_s * (1 + REST)


async def test_numbers_that_are_missing_stay_missing():
    outbox = Outbox({box := Mailbox()})
    hold(outbox)
    for first in (1, 3, 10):
        outbox.put(encode(events(first, 2)))
    outbox.flush()
    assert [[event.seq for event in decode(frame)] for frame in got(box)] == [[1, 2, 3, 4], [10, 11]]


async def test_no_more_than_a_limit_waits():
    outbox = Outbox({box := Mailbox()})
    hold(outbox)
    outbox.put(b"x" * MAX_HELD)
    assert got(box) == []
    outbox.put(b"y")
    assert got(box) == [b"x" * MAX_HELD, b"y"]
    assert (outbox.held, outbox.size) == ([], 0)


@pytest.mark.parametrize("cuts", [[1], [1, 2, 3], [3, 7], list(range(1, 12))])
def test_joined_batches_have_the_same_events(cuts):
    whole = events(1, 12)
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert joined([encode(part) for part in parts]) == [encode(whole)]


def test_a_batch_alone_is_not_read():
    assert joined([b"as it is"]) == [b"as it is"]
    assert joined([]) == []
