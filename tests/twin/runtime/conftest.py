"""Real parts for the runtime's tests: their own Valkey server, stored scenarios, a worker for what was enqueued."""

import queue
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scheduling.workloads import generate
from twin import tasks
from twin.analysis import certificate_task, state_task
from twin.config.celery import app
from twin.infra import broker, pubsub
from twin.models import Run, Scenario
from twin.processes import heartbeat, shutdown
from twin.runs import engine
from twin.scenarios import store
from twin.traces import import_task


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    """The URL of a server that lives as long as the tests."""
    with tempfile.TemporaryDirectory(prefix="twin-test-") as folder:
        path = Path(folder) / "broker.sock"
        process = subprocess.Popen(broker.command(broker.find_server(), path, Path(folder)), stdout=subprocess.DEVNULL)
        broker.wait(f"unix://{path}")
        yield f"unix://{path}"
        process.kill()
        process.wait()


@pytest.fixture
def layer(valkey, settings) -> str:
    settings.LAYER_URL = valkey
    pubsub.client().flushall()
    return valkey


@pytest.fixture
def heartbeats(layer, settings, tmp_path) -> dict[str, heartbeat.Pulse]:
    """One process of each kind has just given a sign of life."""
    settings.VAR_DIR = tmp_path
    found = {}
    workers = heartbeat.WORKERS.values()
    for kind in (*workers, *map(heartbeat.dispatcher, workers), heartbeat.TICKER):
        found[kind] = heartbeat.Pulse(kind)
        found[kind].name += f".{kind}"
        found[kind].beat()
    return found


@pytest.fixture(autouse=True)
def fresh():
    """Row ids are used again by the next test, so nothing that is kept by id may stay."""
    drop_messages()
    yield
    engine.forget()
    store.forget()
    shutdown._flag[0] = 0
    drop_messages()


@pytest.fixture
def make_scenario(db) -> Callable[..., Scenario]:
    """Stores a scenario of the OASiS paper's workload."""

    def make(scheduler: str = "fifo", jobs: int = 12, servers: int = 8, seed: int = 3) -> Scenario:
        cluster, rows = generate("oasis", variant="calibrated", num_jobs=jobs, num_servers=servers, seed=seed)
        spec, trace = store.store_generated(f"{jobs} jobs", cluster, rows, seed)
        return Scenario.objects.create(name="test", cluster=spec, trace=trace, scheduler=scheduler, seed=seed)

    return make


@pytest.fixture
def make_run(make_scenario) -> Callable[..., Run]:
    def make(mode: str = Run.BATCH, **scenario) -> Run:
        return Run.objects.create(scenario=make_scenario(**scenario), mode=mode)

    return make


def messages(name: str = "runs") -> list[tuple[str, int]]:
    """Takes what was enqueued: [(task, id)]."""
    found = []
    with app.connection_for_read() as connection:
        waiting = connection.SimpleQueue(name)
        while True:
            try:
                message = waiting.get(block=False)
            except queue.Empty:
                return found
            message.ack()
            found.append((message.headers["task"], message.payload[0][0]))


# What workers do in a process of its own happens in this one, which has the tests' database.
IN_PROCESS = {"certify_run": certificate_task.run, "store_state": state_task.run, "import_trace": import_task.run}


def work(name: str = "runs") -> int:
    """Does what was enqueued, and what that enqueues, as a worker would; returns the number of tasks."""
    done = 0
    while waiting := messages(name):
        for task, key in waiting:
            verb = task.rpartition(".")[2]
            IN_PROCESS.get(verb, getattr(tasks, verb))(key)
            done += 1
    return done


def drop_messages() -> None:
    with app.connection_for_read() as connection:
        for name in ("runs", "long", "io", certificate_task.QUEUE):
            connection.SimpleQueue(name).clear()
