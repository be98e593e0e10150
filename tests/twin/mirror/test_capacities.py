"""A node of a real cluster that changes its capacity: each time is measured by the capacity of then."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

import msgspec
import orjson
import pytest

from dashboard.readmodels import run_payloads
from scheduling.model.values import GPU
from tests.twin.mirror.builders import NODES, Log, at, ended, polled, running
from tests.twin.mirror.builders_stored import following, log_ms, recorded, write
from twin.analysis import closing_metrics, thumbnail
from twin.analysis.situation import load, past
from twin.eventlog import stored_states
from twin.mirror import stored
from twin.mirror.history import history_of
from twin.mirror.whatif.moments import moment_of
from twin.models import Connection, MirrorRecord, Run
from twin.scenarios import store
from twin.studies.shadows.metrics import history_of as shadow_history
from twin.studies.shadows.metrics import real
from twin.studies.shadows.window import window_of

HOUR = 3_600  # s
ONE = NODES[0]  # 4 GPUs
HALF = replace(ONE, gpus=2)
TWO = NODES[1]
FIRST = running("1", 0, gpus=4)
THEN = running("2", HOUR, gpus=2, submitted_ms=at(HOUR))
DONE = ended(FIRST, HOUR)
POLLS = (
    polled(0, FIRST, nodes=(ONE,)),
    polled(HOUR, DONE, THEN, nodes=(HALF,)),
    polled(2 * HOUR, DONE, ended(THEN, 2 * HOUR), nodes=(HALF,)),
)


@pytest.fixture
def run(db) -> Run:
    """Two hours of a node: in the first one a job holds its 4 GPUs, in the second one a job holds the 2 that are left.

    The follower was restarted after each poll.
    """
    return recorded(*POLLS)


def test_the_clusters_of_the_run_have_the_capacity_of_each_time(run):
    assert [(from_ms, cluster.servers[0].capacity[GPU]) for from_ms, cluster in store.clusters(run)] == [
        (0, 4_000),
        (log_ms(run, HOUR), 2_000),
    ]
    assert moment_of(run, log_ms(run, HOUR - 1)).servers[0].capacity[GPU] == 4_000, "a cut has it as well"


def test_the_page_gets_the_earlier_capacity_with_its_end(run):
    (server,) = orjson.loads(run_payloads.static(run))["cluster"]["servers"]
    ((until_ms, was),) = server["was"]
    assert (until_ms, was[GPU], server["capacity"][GPU]) == (log_ms(run, HOUR), 4_000, 2_000)
    assert "added_ms" not in server


def test_the_past_is_not_measured_by_the_newest_capacity(run):
    for second, held in ((HOUR // 2, [4_000]), (3 * HOUR // 2, [2_000])):
        found = past.loads_at(run, log_ms(run, second))
        assert (found["scale"][0], found["servers"]["shares"][0]) == ("gpu", [1_000])
        assert (found["sites"][0]["used"][:1], found["sites"][0]["capacity"][:1]) == (held, held)
    state, now = stored_states.at(run.pk), store.clusters(run)[-1][1]
    for since_s in (0, 3 * HOUR // 2):  # the newest hours only need the newest capacity
        since_ms = log_ms(run, since_s)
        held = load.held(run, state, now, store.of_run(run)[1], run.sim_ms, since_ms)
        assert len(held.phases) == (1 if since_s else 2)
        assert set(load.curve(held, since_ms, run.sim_ms - 1, 7)["shares"][0]) == {1.0}
    assert set(b64decode(thumbnail.thumbnail(run)["raster"])) == {100}


def test_the_closing_metrics_count_each_capacity_for_its_time(run):
    Run.objects.update(status=Run.FINISHED)
    closing_metrics.measure(run.pk)
    run.refresh_from_db()
    assert run.metrics["utilization"]["gpu"] == 1.0


def test_records_of_older_versions_have_no_earlier_capacity(run):
    record = MirrorRecord.objects.get(kind=MirrorRecord.NODE)
    fields = msgspec.msgpack.decode(bytes(record.payload))
    assert fields.pop("was")
    MirrorRecord.objects.filter(pk=record.pk).update(payload=msgspec.msgpack.encode(fields))
    mirror = stored.load_run(run)
    assert mirror.nodes["edge1"].was == ()
    assert history_of(mirror, "lab")[0].servers[0].capacity[GPU] == 2_000


def test_shadows_begin_with_the_capacity_of_their_window_and_the_real_cluster_has_that_of_each_time(run):
    connection = Connection.objects.get()
    Connection.objects.update(health={"seen_ms": at(2 * HOUR)})
    connection.refresh_from_db()
    window = window_of(connection, 2 * HOUR * 1_000)
    assert window.made.cluster.servers[0].capacity[GPU] == 4_000
    assert "1 node changed capacity in the window: a shadow has the capacity of its beginning." in window.sentences
    assert real(window, shadow_history(window, list(window.made.table.jobs())))["utilization.gpu"] == 1.0
    assert not any("capacity" in sentence for sentence in window_of(connection, HOUR // 2 * 1_000).sentences)


def test_the_files_of_a_mirror_pass_the_verifier_with_each_capacity(tmp_path):
    log = Log()
    for each in POLLS:
        log.apply(each)
    assert write(log.mirror, tmp_path) == []
    assert orjson.loads((tmp_path / "summary.json").read_bytes())["metrics"]["utilization"]["gpu"] == 1.0


def test_a_node_may_lose_what_a_job_still_holds_but_no_job_may_begin_with_it(tmp_path):
    log = Log()
    log.apply(polled(0, FIRST, nodes=(ONE,)))
    log.apply(polled(HOUR, FIRST, nodes=(HALF,)))
    log.apply(polled(2 * HOUR, ended(FIRST, 2 * HOUR), nodes=(HALF,)))
    assert write(log.mirror, tmp_path) == []
    late = running("3", 2 * HOUR, gpus=4, submitted_ms=at(2 * HOUR))
    log.apply(polled(3 * HOUR, ended(FIRST, 2 * HOUR), late, nodes=(HALF,)))
    problem = f"server edge1 holds 4 of 2 gpu from {log.mirror.log_ms - HOUR * 1_000} ms"
    assert problem in write(log.mirror, tmp_path)


def test_a_node_that_is_seen_to_grow_had_grown_when_a_job_began_to_use_it(tmp_path):
    log = Log()
    log.apply(polled(0, nodes=(HALF,)))
    before_ms = log.mirror.log_ms
    log.apply(polled(HOUR, running("1", 60, gpus=4), nodes=(ONE,)))
    log.apply(polled(2 * HOUR, running("1", 60, gpus=4), nodes=(ONE,)))
    assert write(log.mirror, tmp_path) == []
    events = list(history_of(log.mirror, "lab")[2])
    assert [event.at_ms for event in events if event.kind == "server_set"] == [before_ms + 60_000]


def test_a_change_that_is_stated_late_counts_from_its_own_time(db):
    """GPUs of a node: 4, from second 60 on 6 and from second 70 on 4, of which the polls say 25 s later."""
    connection = Connection.objects.create(name="lab", connector="push")
    six, back = replace(ONE, gpus=6, capacity_since_ms=at(60)), replace(ONE, capacity_since_ms=at(70))
    for second, node in ((0, ONE), (85, six), (87, back), (95, back)):
        Run.objects.update(lease_until=None)
        following(connection, each := polled(second, nodes=(node,))).apply(each)
    connection.refresh_from_db()
    run = connection.run
    assert [(from_ms, cluster.servers[0].capacity[GPU]) for from_ms, cluster in store.clusters(run)] == [
        (0, 4_000),
        (log_ms(run, 60), 6_000),
        (log_ms(run, 70), 4_000),
    ]
    assert [until_ms for until_ms, _ in stored.load_run(run).nodes["edge1"].was] == [log_ms(run, 60), log_ms(run, 70)]


def test_a_node_that_comes_later_counts_from_then_on(db):
    connection = Connection.objects.create(name="lab", connector="slurm")
    early = running("2", HOUR - 60, gpus=2, node="cloud1", submitted_ms=at(HOUR - 60))
    for each in (polled(0, FIRST, nodes=(ONE,)), polled(HOUR, FIRST, early, nodes=(ONE, TWO))):
        Run.objects.update(lease_until=None)
        following(connection, each).apply(each)
    connection.refresh_from_db()
    run = connection.run
    came_ms = log_ms(run, HOUR - 60)
    assert [
        (from_ms, [server.capacity[GPU] for server in cluster.servers]) for from_ms, cluster in store.clusters(run)
    ] == [(0, [4_000, 0]), (came_ms, [4_000, 4_000])], "it was there when the job began on it"
    state, now = stored_states.at(run.pk), store.clusters(run)[-1][1]
    held = load.held(run, state, now, store.of_run(run)[1], run.sim_ms, 0)
    gpu = load.curve(held, came_ms - 60_000, came_ms + 59_999, 2)["shares"][0]
    assert gpu == [1.0, 0.75]
    Run.objects.update(status=Run.FINISHED)
    closing_metrics.measure(run.pk)
    run.refresh_from_db()
    assert 0.98 < run.metrics["utilization"]["gpu"] < 1


def test_the_files_of_a_mirror_whose_nodes_come_later_pass_the_verifier(tmp_path):
    log = Log()
    log.apply(polled(0, FIRST, nodes=(ONE,)))
    log.apply(polled(HOUR, DONE, running("2", HOUR - 60, gpus=4, node="cloud1"), nodes=(ONE, TWO)))
    assert write(log.mirror, tmp_path) == []
    changes = [event for event in history_of(log.mirror, "lab")[2] if event.kind == "server_set"]
    assert [(event.data["server"], event.data["was"][GPU]) for event in changes] == [(1, 0)]
