"""A recording to follow, a connected cluster, a server of Prometheus, and a machine that posts events."""

from __future__ import annotations

import time

import pytest

from dashboard.auth import tokens
from dashboard.http import throttles
from tests.dashboard.clusters.builders_ingest import Sender
from tests.twin.mirror.builders import polled, running
from tests.twin.mirror.builders_stored import POLLS, following
from twin.connectors import base
from twin.connectors.facts_json import dumps
from twin.models import Connection


@pytest.fixture
def recording(tmp_path):
    """Two polls of the small cluster."""
    path = tmp_path / "cluster.jsonl"
    path.write_bytes(b"".join(dumps(each) + b"\n" for each in (polled(1, running("1", 1)), polled(2, running("1", 1)))))
    return path


@pytest.fixture
def lab() -> Connection:
    """A connection with a mirrored run, whose cluster was seen just now."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, *POLLS)
    for each in POLLS:
        one.apply(each)
    connection.refresh_from_db()
    connection.health = {"last_look_at": time.time(), "counts": {"nodes": 2, "running": 1}}
    connection.save()
    return connection


@pytest.fixture
def fresh_allowances(monkeypatch):
    monkeypatch.setattr(throttles, "requests", throttles.Allowance(10_000))
    monkeypatch.setattr(throttles, "events", throttles.Allowance(throttles.MAX_EVENTS))


@pytest.fixture
def sender(operator) -> Sender:
    return Sender(tokens.create("feed", ["ingest:lab"], 30, operator.user)[1])


@pytest.fixture
def connector(db):
    return base.build("push", {"source": "lab"})
