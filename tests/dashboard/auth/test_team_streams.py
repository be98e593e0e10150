"""Sockets of teams: they refuse strangers, end with the membership, and stream what the team sees."""

from __future__ import annotations

import asyncio

import pytest
from channels.db import database_sync_to_async
from django.test import Client

from dashboard.live.hub import hub
from tests.dashboard.builders import receive, socket
from tests.dashboard.peer import Peer
from twin.config.asgi import application
from twin.infra import pubsub
from twin.models import (
    Membership,
)


@pytest.mark.django_db(transaction=True)
async def test_sockets_refuse_strangers_and_end_with_the_membership(of_red, bob, ruth, finished_run, monkeypatch):
    stranger = socket(bob, finished_run.pk)
    await stranger.connect()
    assert (await stranger.receive_output(timeout=5))["code"] == 4404
    insider = socket(ruth, finished_run.pk)
    await insider.connect()
    assert (await receive(insider))["id"] == finished_run.pk
    monkeypatch.setattr("dashboard.live.consumers.MAX_UNCHECKED_S", 0.0)
    await Membership.objects.filter(user=ruth.user).adelete()
    await insider.say('{"type": "after", "seq": 0}')
    assert (await insider.receive_output(timeout=5))["code"] == 4404


@pytest.mark.django_db(transaction=True)
async def test_the_overview_streams_what_the_team_sees(of_red, bob, ruth, admin, finished_run, monkeypatch):
    peers = [overview(client) for client in (bob, ruth, admin)]
    for peer in peers:
        assert await peer.connect()
    number, team = finished_run.pk, finished_run.scenario.team_id
    listeners = {pubsub.runs_channel(team): 2, pubsub.runs_channel(None): 3}
    for _ in range(500):
        joined = {channel: len(hub().boxes.get(channel, ())) for channel in listeners}
        stands = await database_sync_to_async(lambda: pubsub.client().pubsub_numsub(*listeners))()
        if joined == listeners and all(count for _, count in stands):
            break
        await asyncio.sleep(0.01)
    await database_sync_to_async(pubsub.announce)(finished_run, {"id": number})
    await database_sync_to_async(pubsub.deleted)(77, "Run 77 was deleted.", None)
    heard = []
    for peer, count in zip(peers, (1, 2, 2), strict=True):
        heard.append([(await receive(peer))["type"] for _ in range(count)])
    assert heard == [["deleted"], ["run", "deleted"], ["run", "deleted"]]
    monkeypatch.setattr("dashboard.live.consumers.MAX_UNCHECKED_S", 0.0)
    await Membership.objects.filter(user=ruth.user).adelete()
    await database_sync_to_async(pubsub.deleted)(78, "Run 78 was deleted.", None)
    assert (await peers[1].receive_output(timeout=5))["code"] == 1013, "the client connects again, to other channels"


def overview(client: Client) -> Peer:
    cookie = f"sessionid={client.cookies['sessionid'].value}".encode()
    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookie)]
    return Peer(application, "/ws/overview/", headers=headers)
