"""Fixtures of stored runs: a Valkey server of the tests' own, signs of life of processes, scenarios and runs."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scheduling.workloads import generate
from tests.twin.runtime.queues import drop_messages
from twin.infra import broker, pubsub
from twin.models import Run, Scenario
from twin.processes import heartbeat, shutdown
from twin.runs import engine
from twin.scenarios import store


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


@pytest.fixture
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
