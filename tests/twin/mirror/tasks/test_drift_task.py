"""The hourly audit of a connection: when it is due, what it stores, and what it reports only at the second poll."""

from __future__ import annotations

import pytest

from tests.twin.mirror.builders import Scripted, polled
from tests.twin.mirror.builders_stored import POLLS, following
from twin.connectors.facts import ConnectorError, NoAccounting, Snapshot
from twin.mirror import drift_task
from twin.models import Connection

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection() -> Connection:
    """A connection whose log has the first two polls."""
    made = Connection.objects.create(name="lab", connector="slurm")
    one = following(made, *POLLS)
    for seen in POLLS[:2]:
        one.apply(seen)
    return Connection.objects.select_related("run").get(pk=made.pk)


def audited(connection: Connection, monkeypatch: pytest.MonkeyPatch, *answers: Snapshot | ConnectorError) -> dict:
    """The stored result after an audit of a cluster that answers so."""
    for answer in answers:
        monkeypatch.setattr(drift_task, "build", lambda name, given, answer=answer: Scripted(answer))
        drift_task.audit(connection.pk)
    connection.refresh_from_db()
    return connection.drift


def test_an_equal_log_has_no_difference_and_is_audited_again_after_an_hour(connection, monkeypatch):
    drift = audited(connection, monkeypatch, POLLS[1])
    assert (drift["compared"], drift["count"], drift["differences"], drift["error"]) == (4, 0, [], "")
    assert drift["checked_at"] == drift["at"]
    assert not drift_task.due(connection, drift["at"] + drift_task.EVERY_S - 1)
    assert drift_task.due(connection, drift["at"] + drift_task.EVERY_S + 1)


def test_a_difference_is_reported_once_the_second_look_has_it_too(connection, monkeypatch):
    gone = polled(3_620, nodes=POLLS[1].nodes)
    drift = audited(connection, monkeypatch, gone)
    assert (drift["count"], len(drift["suspected"])) == (None, 2)
    assert not drift_task.due(connection, drift["at"] + drift_task.MIN_AGAIN_S - 1)
    assert drift_task.due(connection, drift["at"] + drift_task.MIN_AGAIN_S + 1)
    drift = audited(connection, monkeypatch, gone)
    assert (drift["count"], drift["suspected"]) == (2, [])
    assert drift["differences"][0] == {"subject": "job 1", "field": "presence", "log": "running", "cluster": "absent"}


def test_the_second_comparison_comes_after_the_next_poll_of_nodes(connection, monkeypatch):
    monkeypatch.setattr(Scripted, "longest_poll_ms", lambda self: 600_000)
    drift = audited(connection, monkeypatch, polled(3_620, nodes=POLLS[1].nodes))
    assert not drift_task.due(connection, drift["at"] + 600)
    assert drift_task.due(connection, drift["at"] + 600 + drift_task.POLL_S + 1)


def test_what_changed_while_it_was_read_is_no_difference(connection, monkeypatch):
    drift = audited(connection, monkeypatch, polled(3_620, nodes=POLLS[1].nodes), POLLS[1])
    assert (drift["count"], drift["differences"], drift["suspected"]) == (0, [], [])


def test_a_cluster_that_does_not_answer_leaves_the_result_of_the_audit_before(connection, monkeypatch):
    before = audited(connection, monkeypatch, POLLS[1])
    drift = audited(connection, monkeypatch, ConnectorError("squeue does not answer"))
    assert (drift["error"], drift["count"], drift["checked_at"]) == ("squeue does not answer", 0, before["checked_at"])


def test_a_cluster_without_accounting_is_compared_with_its_queue(connection, monkeypatch):
    def history(self, since_ms, until_ms):
        raise NoAccounting("sacct failed: Slurm accounting storage is disabled")

    monkeypatch.setattr(Scripted, "history", history)
    drift = audited(connection, monkeypatch, POLLS[1])
    assert (drift["compared"], drift["count"], drift["error"], drift["accounted"]) == (4, 0, "", False)


def test_only_clusters_that_can_be_asked_a_second_time_are_audited(connection):
    began = connection.run.created_at.timestamp()
    assert not drift_task.due(connection, began + 1)
    assert drift_task.due(connection, began + drift_task.FIRST_S + 1)
    assert [c.pk for c in drift_task._followed()] == [connection.pk]
    Connection.objects.update(connector="replay")
    assert list(drift_task._followed()) == []
    Connection.objects.update(connector="slurm", wanted=Connection.PAUSED)
    assert list(drift_task._followed()) == []
