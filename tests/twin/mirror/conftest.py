"""Row numbers are used again by the next test, so nothing that is kept by number may stay."""

import pytest

from twin.infra.kept import KEPT


@pytest.fixture(autouse=True)
def nothing_kept():
    KEPT.clear()
    yield
    KEPT.clear()
