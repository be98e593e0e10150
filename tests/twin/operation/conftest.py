"""What every test of operation starts with."""

import pytest


@pytest.fixture(autouse=True)
def nothing_kept(fresh):
    """Nothing that an earlier test enqueued or kept."""
