"""Growth changes URLs only: the same run with PostgreSQL, RabbitMQ as the broker and Redis as the frame bus."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psycopg
import pytest
import redis
from kombu import Connection

from tests.twin.builders_stack import START, completes

from .runtime.stack import Stack

pytestmark = [pytest.mark.slow, pytest.mark.services]

POSTGRES = "postgresql://postgres@127.0.0.1:5432"
BROKER, LAYER = "amqp://guest:guest@127.0.0.1:5672//", "redis://127.0.0.1:6379/0"


@pytest.fixture
def urls():
    try:
        with Connection(BROKER, connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, timeout=2)
        redis.Redis.from_url(LAYER, socket_connect_timeout=2).ping()
    except Exception as error:
        pytest.skip(f"no RabbitMQ at 5672 or no Redis at 6379 of this machine: {error}")
    yield {"BROKER_URL": BROKER, "LAYER_URL": LAYER}
    with Connection(BROKER) as connection:
        for name in ("runs", "io", "certificates"):
            connection.default_channel.queue_delete(name)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def database(request):
    """{} or the URL of a database that lives as long as the test."""
    if request.param == "SQLite":
        yield {}
        return
    name = f"twin_test_{os.getpid()}"
    try:
        admin = psycopg.connect(f"{POSTGRES}/postgres", autocommit=True, connect_timeout=2)
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL at 5432 of this machine: {error}")
    with admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield {"DATABASE_URL": f"{POSTGRES}/{name}"}
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_run_over_other_services_writes_the_same_log(urls, database):
    with tempfile.TemporaryDirectory(prefix="twin-services-") as folder:
        stack = Stack(Path(folder))
        stack.env |= urls | database
        try:
            stack.up()
            assert stack.processes("valkey-server") == []
            completes(stack, int(stack.manage(START)))
        finally:
            stack.down()


def test_a_broker_that_does_not_answer_is_named_without_its_password(urls, tmp_path):
    stack = Stack(tmp_path, fresh=True, BROKER_URL="amqp://someone:secret@127.0.0.1:1//", LAYER_URL=LAYER)
    with pytest.raises(AssertionError, match=r"the broker at amqp://127.0.0.1:1// does not answer") as failure:
        stack.up()
    assert "secret" not in str(failure.value)
