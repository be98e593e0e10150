"""What a job holds, as bars and as the amount that it asked for, where its shares have intervals of their own."""

from dataclasses import replace

from scheduling.model.bars import NONE, Placement
from tests.twin.mirror.builders import EPOCH, S, at, job
from twin.connectors.facts import RUNNING, Attempt, NodeFact, Share
from twin.mirror.as_values import OPEN, bars_of, job_of, server_of

SERVERS = {"edge1": 0, "cloud1": 1}


def share(node, **interval):
    return Share(node, gpus=2, cpus=2, memory_mb=4_000, **interval)


def test_a_share_is_held_in_its_own_interval():
    attempt = Attempt(at(10), None, (share("edge1", until_ms=at(30)), share("cloud1", from_ms=at(20))))
    assert bars_of(7, job("7", RUNNING, attempts=(attempt,)), [attempt], SERVERS, EPOCH) == [
        Placement(7, 0, 0, 10 * S, 30 * S, 2, NONE),
        Placement(7, 0, 1, 20 * S, OPEN, 2, NONE),
    ]


def test_pods_that_follow_each_other_are_no_more_workers_than_were_asked_for():
    attempt = Attempt(at(10), None, tuple(share("edge1", from_ms=at(i), until_ms=at(i + 5)) for i in (10, 15, 20)))
    assert job_of("j", job("j", RUNNING, gpus=2, attempts=(attempt,)), 0, EPOCH).requested_workers == 2


def test_pods_that_joined_one_after_another_are_all_counted():
    attempt = Attempt(at(10), None, (share("edge1"), share("cloud1", from_ms=at(20))))
    assert job_of("j", job("j", RUNNING, gpus=2, attempts=(attempt,)), 0, EPOCH).requested_workers == 4


def test_memory_in_mib_is_stated_in_gb_and_jobs_that_fill_a_node_fit_on_its_server():
    server = server_of(NodeFact("edge1", gpus=8, cpus=64, memory_mb=131_072), "edge", ())
    assert server.capacity[2] == 137_438, "128 GiB are 137.438 GB"
    halves = job_of("j", replace(job("j", RUNNING, gpus=3), memory_mb=65_536), 0, EPOCH)
    assert halves.worker[2] == 22_906, "64 GiB are 68.719 GB"
    assert 2 * 3 * halves.worker[2] <= server.capacity[2]
