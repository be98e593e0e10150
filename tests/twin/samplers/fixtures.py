"""A Prometheus of the tests."""

import pytest

from tests.twin.samplers.fake_prometheus import FakePrometheus


@pytest.fixture
def prometheus():
    server = FakePrometheus()
    yield server
    server.close()
