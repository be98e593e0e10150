"""Tasks for which the database does not answer: one line in the log, and the ticker requests them again."""

import logging
from unittest.mock import Mock

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError

from twin import tasks


@pytest.mark.parametrize("error", [OperationalError("database is locked\n"), InterfaceError("connection closed")])
def test_a_task_without_a_database_is_one_line_of_the_log(monkeypatch, caplog, error):
    monkeypatch.setattr(tasks.drift_task, "work", Mock(side_effect=error))
    with caplog.at_level(logging.WARNING):
        tasks.audit_mirror(7)
    (record,) = caplog.records
    assert record.getMessage() == f"an audit of a live cluster waits: {str(error).strip()}"
    assert record.exc_info is None


def test_other_errors_are_raised(monkeypatch):
    monkeypatch.setattr(tasks.drift_task, "work", Mock(side_effect=IntegrityError("two rows")))
    with pytest.raises(IntegrityError):
        tasks.audit_mirror(7)
