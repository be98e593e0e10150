"""A real cluster for the tests of this folder, and connectors to it."""

import pytest

from tests.live.kubernetes.builders import JOBS, PODS, Watcher
from tests.live.kubernetes.cluster import cluster_for_tests, until
from twin.connectors import base


@pytest.fixture(scope="package")
def cluster(tmp_path_factory):
    yield from cluster_for_tests(tmp_path_factory.mktemp("kubernetes"))


@pytest.fixture(autouse=True)
def _all_pods_and_jobs_go(cluster):
    """Each test leaves the cluster as it found it."""
    yield
    for kind in (JOBS, PODS):
        for obj in cluster.ask(kind)["items"]:
            cluster.delete(f"{kind}/{obj['metadata']['name']}")
        until(lambda kind=kind: not cluster.ask(kind)["items"], "they are gone")


@pytest.fixture
def connect(cluster):
    opened = []

    def connect(**given):
        opened.append(base.build("kubernetes", cluster.parameters(**given)))
        return opened[-1]

    yield connect
    for connector in opened:
        connector.close()


@pytest.fixture
def watcher(connect):
    return Watcher(connect())
