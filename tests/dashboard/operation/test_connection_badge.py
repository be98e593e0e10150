"""The badge of the connection, whose line is kept free on a phone, is only on pages that have live data."""

import pytest

LIVE = ("/", "/wall/", "/live/", "/alerts/", "/traces/", "/experiments/", "/compare/?runs=1,2")
STILL = (
    "/audit/", "/clusters/", "/scenarios/", "/sweeps/", "/compare/", "/live/connect/", "/styleguide/",
    "/settings/tokens/", "/settings/account/", "/runs/987654/", "/nothing/",
)  # fmt: skip


@pytest.mark.parametrize(("path", "there"), [*((path, True) for path in LIVE), *((path, False) for path in STILL)])
def test_a_page_has_the_badge_if_its_data_are_live(operator, path, there):
    page = operator.get(path, headers={"accept": "text/html"}).content.decode()
    assert ('id="connection"' in page) == there
