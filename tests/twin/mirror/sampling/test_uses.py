"""Events of samples: rows, sums of each site, and their size in the log."""

import random

import pytest

from scheduling.model.values import Event
from tests.twin.mirror.builders import EPOCH, NODES, Log, S, at, polled, running
from twin.connectors.facts import NodeFact
from twin.eventlog.batch_codec import encode
from twin.eventlog.samples import SAMPLE_FIELDS, USE_FIELDS
from twin.mirror.differ import Mirror
from twin.mirror.nodes.sites import SiteRule
from twin.mirror.uses import Uses, occupancy
from twin.samplers.facts import NodeUse, Sample

MINUTE = 60_000


@pytest.fixture
def log() -> Log:
    made = Log()
    made.mirror.sites = SiteRule("name", "edge.*")
    made.apply(polled(600, running("1", 500, gpu_ids=(0, 1))))
    return made


def use(node: str, second: int, gpus=2.0, cpus=3.456, memory_mb=1_000.0, busy: float | None = 1.5, known=4) -> NodeUse:
    return NodeUse(node, at(second), gpus, cpus, memory_mb, busy, known if busy is not None else 0)


def data_of(events) -> dict:
    ((kind, data),) = events
    assert kind == "sampled"
    return data


def test_a_row_has_the_time_of_the_sample_and_the_units_of_capacities(log):
    data = data_of(Uses(MINUTE).take(Sample(at(600), (use("edge1", 590),)), log.mirror))
    (row,) = data["rows"]
    assert row[0] == 0
    assert dict(zip(SAMPLE_FIELDS, row[1:], strict=True)) == {
        "at_ms": 590 * S, "gpu": 2_000, "cpu": 3_460, "memory": 1_056, "gpu_busy": 375,
    }  # fmt: skip


def test_sums_are_of_each_site_and_of_the_servers_that_tell(log):
    uses = (use("edge1", 600), use("cloud1", 600, gpus=None, cpus=1.0, memory_mb=None, busy=None))
    data = data_of(Uses(MINUTE).take(Sample(at(600), uses), log.mirror))
    edge, cloud = (dict(zip(USE_FIELDS, row, strict=True)) for row in data["use"])
    assert (edge["at_ms"], edge["until_ms"]) == (600 * S, 780 * S)
    assert (edge["site"], edge["servers"], edge["gpu"], edge["gpu_of"]) == (0, 1, 2_000, 4_000)
    assert (edge["busy"], edge["busy_of"], edge["memory_of"]) == (1_500, 4_000, 16_777)
    assert (cloud["gpu"], cloud["gpu_of"], cloud["busy_of"], cloud["memory_of"]) == (0, 0, 0, 0)
    assert (cloud["cpu"], cloud["cpu_of"]) == (1_000, 8_000)


def test_a_node_without_a_new_sample_counts_until_it_is_too_old(log):
    uses = Uses(MINUTE)
    uses.take(Sample(at(600), (use("edge1", 600), use("cloud1", 600))), log.mirror)
    servers = []
    for second in (660, 780, 781):
        log.apply(polled(second))
        data = data_of(uses.take(Sample(at(second), (use("edge1", second),)), log.mirror))
        assert [row[0] for row in data["rows"]] == [0]
        servers.append(sum(row[USE_FIELDS.index("servers")] for row in data["use"]))
    assert servers == [2, 2, 1]
    assert uses.known(log.mirror) == 1


def test_names_that_the_cluster_does_not_have_give_no_event(log):
    assert Uses(MINUTE).take(Sample(at(600), (use("printer", 600),)), log.mirror) == []


def test_no_amount_is_above_the_capacity(log):
    odd = use("edge1", 600, gpus=9, cpus=64, memory_mb=1e9, busy=4.0)
    (row,) = data_of(Uses(MINUTE).take(Sample(at(600), (odd,)), log.mirror))["rows"]
    assert row[2:] == [4_000, 8_000, 16_777, 1_000]


def test_the_picture_has_the_running_jobs_and_what_they_hold(log):
    found = occupancy(log.mirror)
    assert set(found.nodes) == {node.name for node in NODES}
    assert found.running["1"].started_ms == at(500)
    assert found.running["1"].shares[0].node == "edge1"


def test_a_sample_of_a_thousand_nodes_needs_ten_bytes_a_node():
    """docs/following.md says how much that is a day."""
    rng = random.Random(7)
    mirror = Mirror(EPOCH)
    mirror.apply(
        polled(86_400, nodes=tuple(NodeFact(f"n{i}", gpus=8, cpus=128, memory_mb=1_000_000) for i in range(1000)))
    )
    uses = tuple(
        NodeUse(
            f"n{i}", at(86_400 - rng.randrange(60)), rng.randrange(9), rng.random() * 128, rng.random() * 1e6,
            rng.random() * 8, 8,
        )
        for i in range(1_000)
    )  # fmt: skip
    data = data_of(Uses(MINUTE).take(Sample(at(86_400), uses), mirror))
    size = len(encode([Event(1, mirror.log_ms, "sampled", data)]))
    assert 9_000 < size < 11_000, size
