"""History of a mirrored cluster: its files pass the verifier and record what the cluster did."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduling.model.values import ModelError
from scheduling.reporting.metrics import summarize
from tests.cases import cases
from tests.twin.mirror.builders import EPOCH, NODES, Log, S, ended, job, polled, running
from tests.twin.mirror.builders_moves import MOVES, polls_of
from tests.twin.mirror.builders_stored import write
from twin.mirror.differ import Mirror
from twin.mirror.history import history_of, with_all_outages


def test_the_files_of_a_small_cluster(tmp_path):
    log = Log()
    log.apply(polled(1, running("7", 1, gpu_ids=(0, 1)), job("8", reason="Resources"), job("9")))
    log.apply(
        polled(
            5,
            ended(running("7", 1, gpu_ids=(0, 1)), 4),
            running("8", 5),
            replace(job("9"), state="ended", outcome="cancelled"),
        )
    )
    assert write(log.mirror, tmp_path) == []
    assert (tmp_path / "schedule.csv").read_text().splitlines() == [
        "job,chunk,role,server,lane,count,group,start_ms,end_ms",
        "7,,worker,edge1,0,1,,1000,4000",
        "7,,worker,edge1,1,1,,1000,4000",
    ]
    kinds = [
        (row["job"], row["kind"]) for row in map(orjson.loads, (tmp_path / "decisions.jsonl").read_text().splitlines())
    ]
    assert kinds == [("7", "started"), ("7", "ended"), ("9", "rejected"), ("8", "unfinished")]
    log.apply(polled(9, running("8", 5)))
    assert write(log.mirror, tmp_path) == []
    assert "8,,worker,edge1,,2,,5000,9000" in (tmp_path / "schedule.csv").read_text(), (
        "it has run until the newest poll"
    )


def test_a_job_that_is_suspended_until_its_end_passes_the_verifier(tmp_path):
    log = Log()
    log.apply(polled(2, running("1", 1)))
    log.apply(polled(3, replace(running("1", 1), state="suspended", frees_cpus=True)))
    log.apply(polled(4, replace(ended(running("1", 1), 4), frees_cpus=True)))
    assert write(log.mirror, tmp_path) == []
    assert "1,,suspended,edge1,,2,,3000,4000" in (tmp_path / "schedule.csv").read_text()


def test_a_job_that_ends_later_than_its_last_attempt_passes_the_verifier(tmp_path):
    """It was requeued, and cancelled while it waited."""
    log = Log()
    log.apply(polled(2, running("1", 1)))
    log.apply(polled(4, job("1", restarts=1)))
    log.apply(polled(9, replace(job("1", restarts=1), state="ended", outcome="cancelled", ended_ms=EPOCH + 8 * S)))
    assert write(log.mirror, tmp_path) == []
    ends = orjson.loads((tmp_path / "decisions.jsonl").read_text().splitlines()[-1])
    assert (ends["kind"], ends["at_ms"]) == ("ended", 8_000)


def test_a_gpu_that_two_jobs_hold_is_found(tmp_path):
    log = Log()
    log.apply(polled(5, running("1", 1, gpu_ids=(0, 1)), running("2", 2, gpu_ids=(1, 2))))
    log.apply(polled(9, running("1", 1), running("2", 2)))
    assert "server edge1: GPU 1 is held by job 1 until 9000 ms and by job 2 from 2000 ms" in write(log.mirror, tmp_path)


def test_a_node_that_holds_more_than_it_has_is_found(tmp_path):
    log = Log()
    log.apply(polled(5, running("1", 1), running("2", 2), running("3", 3)))
    log.apply(polled(9, running("1", 1), running("2", 2), running("3", 3)))
    assert "server edge1 holds 6 of 4 gpu from 3000 ms" in write(log.mirror, tmp_path)


def test_a_cluster_without_nodes_is_refused():
    mirror = Mirror(EPOCH)
    mirror.apply(polled(1, nodes=()))
    with pytest.raises(ModelError, match="cluster lab has reported no nodes"):
        history_of(mirror, "lab")


def test_a_node_that_was_seen_down_while_its_job_still_ran_is_down_afterwards():
    log = Log()
    down = replace(NODES[0], state="down")
    log.apply(polled(1, running("1", 1)))
    log.apply(polled(5, running("1", 1), nodes=(down, NODES[1])))
    log.apply(polled(9, ended(running("1", 1), 7), nodes=(down, NODES[1])))
    cluster, _, _ = history_of(log.mirror, "lab")
    assert cluster.servers[0].away[0][0] == 7 * S


def test_what_jobs_hold_on_a_node_that_is_down_is_not_allocated():
    log = Log()
    down = replace(NODES[0], state="down")
    log.apply(polled(0, running("1", 0), running("2", 0, node="cloud1")))
    log.apply(polled(5, running("1", 0), running("2", 0, node="cloud1"), nodes=(down, NODES[1])))
    log.apply(polled(10, ended(running("1", 0), 10), ended(running("2", 0, node="cloud1"), 10)))
    cluster, jobs, events = history_of(log.mirror, "lab")
    seen = with_all_outages(cluster, log.mirror)
    assert [server.away for server in seen.servers] == [((5 * S, 10 * S),), ()]
    found = summarize(events, seen, jobs)["utilization"]
    assert found["gpu"] == (2 * 5 + 2 * 10) / (4 * 5 + 4 * 10), "2 of 4 GPUs, for 5 s on the one and 10 s on the other"


@settings(max_examples=cases(40, 8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES, data=st.data())
def test_whatever_was_seen_passes_the_verifier(moves, data, tmp_path):
    polls = [
        replace(each, nodes=tuple(replace(node, gpus=16, cpus=64, memory_mb=64_000) for node in each.nodes))
        for each in polls_of(moves)
    ]
    log = Log()
    for each in polls:
        if data.draw(st.booleans()):
            log.apply(each)
    if not log.mirror.nodes:
        return
    assert write(log.mirror, tmp_path) == []
