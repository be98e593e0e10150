"""Metrics of ended runs of live clusters: computed by a worker, from the log's own records."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from scheduling.reporting.metrics import summarize
from tests.twin.mirror.builders import polled, running
from tests.twin.mirror.builders_stored import POLLS, following
from twin.analysis import closing_metrics
from twin.mirror import borders, stored
from twin.mirror.connecting import connections
from twin.mirror.history import history_of, with_all_outages
from twin.models import Connection, Run
from twin.runs import lease


@pytest.fixture
def old(db) -> Run:
    """The earlier of two runs of a cluster."""
    return crossed(POLLS[:3])


def crossed(polls) -> Run:
    connection = Connection.objects.create(name="lab", connector="slurm", sites={"edge_pattern": "edge.*"})
    one = following(connection, *polls)
    for each in polls:
        one.apply(each)
    connection.refresh_from_db()
    run = connection.run
    Run.objects.filter(pk=run.pk).update(lease_until=None)
    borders.cross(connection, lease.take(run.pk, simulated=False), stored.load(connection))
    run.refresh_from_db()
    return run


def test_the_run_is_requested_once_and_gets_the_metrics_of_its_mirror(old, monkeypatch):
    sent = Mock()
    monkeypatch.setattr("twin.processes.requests.send", sent)
    requests = closing_metrics.Requests()
    assert [requests.refresh(), requests.refresh()] == [[old.pk], []]
    sent.assert_called_once_with("measure_mirror", old.pk, queue="io", expires=closing_metrics.ASKED_S)
    connection = Connection.objects.select_related("run").get()
    cluster, jobs, events = history_of(stored.load_run(old, stored.sites_of(connection)), "lab")
    closing_metrics.measure(old.pk)
    old.refresh_from_db()
    wanted = summarize(events, with_all_outages(cluster, stored.load_run(old)), jobs)
    assert {server.site for server in cluster.servers} == {"edge", "cloud"}
    assert wanted["suspensions"] == 0
    unknown = ("admitted", "suspensions", "preemptions")
    assert old.metrics == {name: value for name, value in wanted.items() if name not in unknown}
    assert (old.metrics["jobs"], old.metrics["completed"]) == (2, 1)
    assert requests.refresh() == []


def test_a_failed_computation_is_not_repeated(old, monkeypatch):
    monkeypatch.setattr(closing_metrics.bounded_process, "run", Mock(return_value="late"))
    closing_metrics.work(old.pk)
    old.refresh_from_db()
    assert old.metrics == {"jobs": 2}
    assert closing_metrics.due() is None


def test_the_run_of_a_removed_connection_is_due(db):
    connection = Connection.objects.create(name="lab", connector="slurm")
    following(connection, POLLS[0]).apply(POLLS[0])
    connection.refresh_from_db()
    assert closing_metrics.due() is None
    connections.remove(connection)
    assert closing_metrics.due() == connection.run_id


def test_a_cluster_that_has_shown_no_nodes_has_no_metrics(db):
    crossed([polled(1, running("1", 1), nodes=()), polled(2, running("1", 1), nodes=())])
    assert closing_metrics.due() is None
