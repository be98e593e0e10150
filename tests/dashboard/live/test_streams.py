"""The run's socket: frames in order, gaps repaired from the log, slow clients asked to fetch a snapshot."""

import asyncio

import numpy as np
import pytest
from channels.db import database_sync_to_async

from dashboard.live.hub import hub
from dashboard.live.mailbox import MAX_BYTES, MAX_MESSAGES, Gap, Mailbox
from scheduling.model.values import Event
from tests.dashboard.builders import listening, receive, socket
from tests.dashboard.peer import Peer
from twin.config.asgi import application
from twin.eventlog.batch_codec import decode, encode
from twin.eventlog.fold import snapshot
from twin.eventlog.stored_states import at
from twin.infra import pubsub
from twin.runs import readers

pytestmark = pytest.mark.django_db(transaction=True)


async def test_it_greets_with_the_status_and_repairs_a_gap(viewer, finished_run):
    peer = socket(viewer, finished_run.pk)
    assert await peer.connect()
    status = await receive(peer)
    assert (status["type"], status["status"], status["last_seq"]) == ("status", "finished", finished_run.last_seq)
    await peer.say('{"type":"after","seq":5}')
    seqs = []
    while not seqs or seqs[-1] < finished_run.last_seq:
        frame = await receive(peer)
        assert frame["first"] <= 6 if not seqs else frame["first"] == seqs[-1] + 1
        seqs += range(frame["first"], frame["first"] + len(frame["events"]))
    assert seqs[-1] == finished_run.last_seq
    await peer.leave()


async def test_what_a_worker_publishes_arrives_as_it_is(viewer, finished_run):
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    await listening(finished_run.pk)
    frame = encode([Event(1, 0, "job_arrived", {"job": 0})])
    for message in (frame, b'{"type":"status"}'):
        await database_sync_to_async(pubsub.publish)(pubsub.run_channel(finished_run.pk), message)
    assert (await peer.hear(), await peer.hear()) == (frame, '{"type":"status"}')
    await peer.leave()


async def test_an_open_socket_marks_its_run_as_read(viewer, finished_run, monkeypatch):
    monkeypatch.setattr(readers, "RENEW_S", 0.0)
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    assert readers.unread([finished_run.pk]) == []
    readers.forget(finished_run.pk)
    await peer.say('{"type":"ping"}')
    assert (await receive(peer))["type"] == "pong"
    assert readers.unread([finished_run.pk]) == []
    await peer.leave()


async def test_strangers_are_closed_out(finished_run):
    peer = socket(None, finished_run.pk)
    await peer.connect()
    assert (await peer.receive_output(timeout=5))["code"] == 4401


async def test_another_origin_is_refused(viewer, finished_run):
    connected = await socket(viewer, finished_run.pk, origin=b"http://evil.example").connect()
    assert not connected


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        ("http://localhost", True),
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000", True),
        ("null", False),
        ("", False),
    ],
)
async def test_each_allowed_host_is_an_allowed_origin(viewer, finished_run, origin, welcome):
    peer = socket(viewer, finished_run.pk, origin=origin.encode())
    assert await peer.connect() == welcome
    if welcome:
        await receive(peer)
        await peer.leave()


async def test_an_account_without_a_role_is_closed_out(nobody, finished_run):
    peer = socket(nobody, finished_run.pk)
    await peer.connect()
    assert (await peer.receive_output(timeout=5))["code"] == 4401


async def test_an_unknown_address_is_closed_with_a_code(viewer):
    peer = Peer(application, "/ws/nothing/here", headers=[(b"origin", b"http://localhost"), (b"host", b"localhost")])
    await peer.connect()
    assert (await peer.receive_output(timeout=5))["code"] == 4404


async def test_a_run_that_does_not_exist_is_said(viewer):
    peer = socket(viewer, 999_999)
    await peer.connect()
    assert (await peer.receive_output(timeout=5))["code"] == 4404


async def test_nonsense_is_answered_not_obeyed(viewer, finished_run):
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    for text in ("{", '{"type":"drop"}', '{"type":"after","seq":-1}', '{"type":"after","seq":1,"x":2}', "x" * 5_000):
        await peer.say(text)
        assert (await receive(peer))["type"] == "error"
    await peer.say('{"type":"ping"}')
    assert (await receive(peer))["type"] == "pong"
    await peer.leave()


async def test_a_flood_of_questions_is_cut_off(viewer, finished_run):
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    for _ in range(60):
        await peer.say('{"type":"ping"}')
    kinds = [(await receive(peer))["type"] for _ in range(60)]
    assert "error" in kinds[40:]
    await peer.leave()


async def test_a_slow_client_loses_its_queue_and_is_notified_once():
    """The queue is bounded: what the server holds for one client never grows beyond it."""
    box = Mailbox()
    for _ in range(MAX_MESSAGES + 100):
        box.put(b"x" * 1000)
    assert (list(box.messages), box.size) == ([Gap.OVERFLOWED], 0)
    assert await box.get() is Gap.OVERFLOWED
    box.put(b"after")
    assert await box.get() == b"after"


async def test_a_queue_is_bounded_in_bytes_too():
    box = Mailbox()
    for _ in range(20):
        box.put(b"x" * (MAX_BYTES // 10))
    assert box.size <= MAX_BYTES
    assert await box.get() is Gap.OVERFLOWED


async def test_a_snapshot_and_the_frames_after_it_are_the_fold_of_the_whole_log(viewer, finished_run):
    """A page that takes the state after a third of the log and hears the rest holds what one that heard all holds."""
    third = finished_run.last_seq // 3
    late = await database_sync_to_async(at)(finished_run.pk, third)
    assert late.last_seq == third
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    await peer.say(f'{{"type":"after","seq":{third}}}')
    while late.last_seq < finished_run.last_seq:
        late.feed(decode(await peer.hear()))
    await peer.leave()
    whole = await database_sync_to_async(at)(finished_run.pk)
    (meta, columns), (whole_meta, whole_columns) = snapshot(late), snapshot(whole)
    assert meta == whole_meta
    assert columns.keys() == whole_columns.keys()
    for name, column in columns.items():
        np.testing.assert_array_equal(column, whole_columns[name], err_msg=name)


async def test_who_is_far_behind_is_asked_to_fetch_a_snapshot(viewer, finished_run, monkeypatch):
    monkeypatch.setattr("dashboard.live.consumers.MAX_EVENTS_BEHIND", finished_run.last_seq - 3)
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    await peer.say('{"type":"after","seq":2}')
    assert await receive(peer) == {"type": "snapshot_needed", "last_seq": finished_run.last_seq}
    await peer.say('{"type":"after","seq":3}')
    answer = await receive(peer)
    assert answer["type"] == "frame"
    assert answer["first"] <= 4 <= answer["last"]
    await peer.leave()


async def test_a_client_that_does_not_read_costs_a_bounded_queue_and_ends_with_a_snapshot(viewer, finished_run):
    """40 MB are published to a client whose connection is stuck: the server holds at most one queue, 4 MB, for it."""
    stuck, delivered = asyncio.Event(), []
    reading = asyncio.Event()
    reading.set()

    async def slow(send, message):
        if message["type"] == "websocket.send":
            if not reading.is_set():
                stuck.set()
            await reading.wait()
            delivered.append(message["text"])
        await send(message)

    async def application_behind_a_slow_line(scope, receive, send):
        await application(scope, receive, lambda message: slow(send, message))

    peer = socket(viewer, finished_run.pk, through=application_behind_a_slow_line)
    await peer.connect()
    await receive(peer)
    await listening(finished_run.pk)
    reading.clear()
    channel, frame = pubsub.run_channel(finished_run.pk), b'{"type":"frame","x":"' + b"x" * 100_000 + b'"}'
    box = next(iter(hub().boxes[channel]))
    await database_sync_to_async(pubsub.publish)(channel, frame)
    await asyncio.wait_for(stuck.wait(), 5)
    for _ in range(400):
        await database_sync_to_async(pubsub.publish)(channel, frame)
        assert box.size <= MAX_BYTES
    await until(lambda: Gap.OVERFLOWED in box.messages)
    reading.set()
    assert await peer.hear() == frame.decode()  # the one that was on its way
    assert await receive(peer) == {"type": "snapshot_needed", "last_seq": finished_run.last_seq}
    await database_sync_to_async(pubsub.publish)(channel, b'{"type":"frame","first":1}')
    late = await receive(peer)
    while "x" in late:  # still on the bus when the client read again
        late = await receive(peer)
    assert late == {"type": "frame", "first": 1}
    await peer.leave()


async def test_a_gap_of_the_bus_is_repaired_by_a_status(viewer, finished_run):
    """The status holds last_seq, by which the page sees what it lacks."""
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    next(iter(hub().boxes[pubsub.run_channel(finished_run.pk)])).put(Gap.RESUMED)
    status = await receive(peer)
    assert (status["type"], status["last_seq"]) == ("status", finished_run.last_seq)
    await peer.leave()


async def test_a_run_that_is_deleted_meanwhile_is_said(viewer, finished_run):
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    await database_sync_to_async(finished_run.delete)()
    await peer.say('{"type":"after","seq":0}')
    assert (await peer.receive_output(timeout=5))["code"] == 4404


@pytest.mark.parametrize("how", ["logout", "role", "account"])
async def test_a_socket_does_not_outlive_its_session(viewer, finished_run, monkeypatch, how):
    monkeypatch.setattr("dashboard.live.consumers.MAX_UNCHECKED_S", 0)
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    await listening(finished_run.pk)
    if how == "logout":
        await database_sync_to_async(viewer.logout)()
    elif how == "role":
        await database_sync_to_async(viewer.user.groups.clear)()
    else:
        viewer.user.is_active = False
        await viewer.user.asave()
    await database_sync_to_async(pubsub.publish)(pubsub.run_channel(finished_run.pk), b'{"type":"frame"}')
    assert (await peer.receive_output(timeout=5))["code"] == 4401


async def test_a_socket_without_messages_ends_with_its_session_too(viewer, finished_run, monkeypatch):
    monkeypatch.setattr("dashboard.live.consumers.MAX_UNCHECKED_S", 0.02)
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    await database_sync_to_async(viewer.logout)()
    assert (await peer.receive_output(timeout=5))["code"] == 4401


async def test_a_client_that_left_leaves_nothing_behind(viewer, finished_run):
    peer = socket(viewer, finished_run.pk)
    await peer.connect()
    await receive(peer)
    assert hub().boxes
    await peer.leave()
    assert not hub().boxes


async def until(true) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to pass")
