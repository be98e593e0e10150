"""A bus of its own, stored runs, and no rules or states that an earlier test left."""

import pytest

from twin.alerts import evaluation


@pytest.fixture(autouse=True)
def bus(layer, fresh):
    """Rules ask for signs of life there; nothing is kept of an earlier test."""


@pytest.fixture
def at(monkeypatch):
    """Evaluates at a time in s after 2026-11-23."""
    from datetime import UTC, datetime, timedelta

    def evaluate(seconds: float) -> evaluation.Turn:
        now = datetime(2026, 11, 23, tzinfo=UTC) + timedelta(seconds=seconds)
        monkeypatch.setattr("twin.alerts.evaluation.timezone.now", lambda: now)
        try:
            return evaluation.evaluate()
        finally:
            monkeypatch.undo()

    return evaluate
