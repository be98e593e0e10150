"""Pages on which something is missing because its file cannot be used: they work, and say which and why."""

import importlib
import re

import pytest

from dashboard.api.serializers.uploads import ChoiceSerializer
from dashboard.readmodels.left_out import MENUS
from scheduling.kernel.menus import Unavailable
from twin.models import Connection


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """broken(menu): a file of the menu that raises an error when it is imported; gives the reason."""
    used = []

    def made(menu):
        package = importlib.import_module(menu.package)
        path = tmp_path / menu.package / "next_free_broken.py"
        path.parent.mkdir()
        path.write_text("raise RuntimeError('boom')\n")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(path.parent)])
        used.append(menu)
        menu.forget()
        return f"{path} cannot be imported: RuntimeError: boom"

    yield made
    monkeypatch.undo()
    for menu in used:
        menu.forget()


@pytest.fixture
def address(make_scenario):
    """{template: address of a page that shows it}"""
    scenario, connection = make_scenario(), Connection.objects.create(name="lab", connector="replay")
    return {
        "alerts.html": "/alerts/", "connect.html": "/live/connect/", "experiments.html": "/experiments/",
        "fidelity.html": f"/live/{connection.name}/fidelity/", "overview.html": "/",
        "scenario.html": f"/scenarios/{scenario.pk}/", "scenarios.html": "/scenarios/",
        "trace.html": f"/traces/{scenario.trace_id}/",
    }  # fmt: skip


@pytest.mark.parametrize("template", MENUS)
def test_the_page_says_what_is_left_out(operator, address, broken, template):
    assert "left-out" not in operator.get(address[template]).content.decode()
    for menu in MENUS[template]:
        reason = broken(menu)
        page = operator.get(address[template]).content.decode().replace("&#x27;", "'")
        noun = menu.noun[0].upper() + menu.noun[1:]
        assert f"<p class=\"notice left-out\">{noun} 'next_free_broken' is not available: {reason}.</p>" in page


def test_an_upload_in_a_format_that_is_not_available_is_refused_with_the_reason(broken):
    reason = broken(MENUS["trace.html"][0])
    with pytest.raises(Unavailable, match=re.escape(f"format 'next_free_broken' is not available: {reason}")):
        ChoiceSerializer(data={"format": "next_free_broken"}).is_valid()


LISTS = {  # template: addresses of the API, each with the list in its answer, in the order of the menus
    "scenario.html": [("/api/edits/", None, "name")], "alerts.html": [("/api/alert-rules/kinds/", None, "rule")],
    "connect.html": [("/api/connectors/", "connectors", "name"), ("/api/connectors/", "samplers", "name")],
}  # fmt: skip


@pytest.mark.parametrize("template", LISTS)
def test_the_list_of_the_api_has_a_row_with_the_reason(operator, broken, template):
    for menu, (address, part, key) in zip(MENUS[template], LISTS[template], strict=True):
        reason = broken(menu)
        answer = operator.get(address).json()
        rows = {row[key]: row for row in (answer if part is None else answer[part])}
        row = rows.pop("next_free_broken")
        assert (row["title"], row["parameters"], row["unavailable"]) == ("next_free_broken", [], reason)
        assert rows
        assert {one["unavailable"] for one in rows.values()} == {None}
        assert {frozenset(one) for one in rows.values()} == {frozenset(row)}, "all rows have the same fields"
