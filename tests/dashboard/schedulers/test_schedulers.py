"""Schedulers that cannot be used on this installation: listed with their reason, and refused with it."""

import sys

import pytest

from scheduling.kernel import registry
from tests.dashboard.builders import post


@pytest.fixture
def no_highspy(monkeypatch):
    """As if the package were not installed; what needs it is imported again."""
    needy = ("scheduling.algorithms.pd_ors", "scheduling.slotted.pd_ors", "scheduling.slotted.solvers.multi_machine_lp")
    for name in [name for name in sys.modules if name.startswith(needy)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "highspy", None)
    registry._imported.cache_clear()
    yield
    registry._imported.cache_clear()


def test_all_are_available_here(viewer):
    assert {row["unavailable"] for row in viewer.get("/api/schedulers/").json()} == {None}


def test_one_that_is_not_available_is_listed_with_its_reason(viewer, no_highspy):
    rows = {row["name"]: row for row in viewer.get("/api/schedulers/").json()}
    assert list(rows) == list(registry.names())
    assert rows["pd_ors"]["unavailable"].startswith("it needs the package highspy, which cannot be imported")
    assert rows["fifo"]["unavailable"] is None


def test_a_scenario_of_it_is_refused_and_a_race_leaves_it_out(operator, make_scenario, no_highspy):
    base = make_scenario(scheduler="oasis")
    body = {"name": "mine", "cluster": base.cluster_id, "trace": base.trace_id, "scheduler": "pd_ors"}
    answer = post(operator, "/api/scenarios/", body)
    assert answer.status_code == 400
    assert "scheduler 'pd_ors' is not available: it needs the package highspy" in str(answer.json())
    race = f"/api/scenarios/{base.pk}/race/"
    left_out = {row["scheduler"]: row["reason"] for row in operator.get(race).json()["left_out"]}
    assert "highspy" in left_out["pd_ors"]
    answer = post(operator, race, {"schedulers": ["oasis", "pd_ors"]})
    assert answer.status_code == 400
    assert "is not available: it needs the package highspy" in str(answer.json())
