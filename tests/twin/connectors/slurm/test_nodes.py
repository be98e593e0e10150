"""Nodes from scontrol's lines, and what running jobs hold on them."""

import pytest

from tests.twin.connectors.slurm.texts import VERSIONS, recorded
from twin.connectors import facts
from twin.connectors._slurm.held import read_shares, split_records
from twin.connectors._slurm.nodes import read_nodes
from twin.connectors._slurm.states import node_state
from twin.connectors.facts import ConnectorError, NodeFact, Share

NODE = (
    "NodeName=gpu7 Arch=x86_64 CPUAlloc=3 CPUEfctv=6 CPUTot=8 ActiveFeatures=a100,rack1 "
    "Gres=gpu:a100:4(S:0-1),mps:400 State={} RealMemory=16000 Partitions=edge,low "
)


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_nodes_of_each_version_are_read(version):
    nodes = read_nodes(recorded(version, "nodes"))
    assert [node.name for node in nodes] == ["edge1", "edge2", "edge3"]
    assert {(node.state, node.gpus, node.cpus, node.memory_mb, node.queues) for node in nodes} == {
        (facts.UP, 4, 8, 16000, ("edge",))
    }


def test_a_node_tells_its_type_its_features_and_the_cpus_that_jobs_may_have():
    (node,) = read_nodes(NODE.format("MIXED") + "\n")
    labels = {"features": "a100,rack1", "gpu": "a100", "arch": "x86_64"}
    assert node == NodeFact("gpu7", facts.UP, "", 4, 6, 16000, ("edge", "low"), labels)


@pytest.mark.parametrize(
    ("shown", "state", "more"),
    [
        ("IDLE", facts.UP, ""), ("ALLOCATED", facts.UP, ""), ("MIXED+PLANNED", facts.UP, "PLANNED"),
        ("IDLE+DRAIN", facts.DRAINED, ""), ("ALLOCATED+DRAIN", facts.DRAINING, ""), ("MIXED+DRAIN", facts.DRAINING, ""),
        ("IDLE+COMPLETING+DRAIN", facts.DRAINING, "COMPLETING"), ("DOWN", facts.DOWN, ""),
        ("DOWN*", facts.DOWN, "NOT_RESPONDING"), ("DOWN*+DRAIN", facts.DOWN, "NOT_RESPONDING"),
        ("DOWN+NOT_RESPONDING", facts.DOWN, "NOT_RESPONDING"), ("UNKNOWN*", facts.DOWN, "UNKNOWN+NOT_RESPONDING"),
        ("IDLE*", facts.UP, "NOT_RESPONDING"), ("IDLE+CLOUD+POWERED_DOWN", facts.UP, "CLOUD+POWERED_DOWN"),
        ("IDLE+INVALID_REG", facts.DRAINED, "INVALID_REG"), ("FUTURE", facts.DOWN, "FUTURE"),
        ("IDLE+MAINTENANCE", facts.UP, "MAINTENANCE"),
    ],
)  # fmt: skip
def test_states_of_nodes(shown, state, more):
    assert node_state(shown) == (state, more)


def test_the_reason_is_the_operators_without_name_and_time():
    (node,) = read_nodes(NODE.format("IDLE+DRAIN") + "Reason=disk broken [x] [root@1795338921]\n")
    assert node.reason == "disk broken [x]"


def test_a_hostile_reason_changes_nothing_else():
    first = NODE.format("DOWN") + "Reason=State=IDLE Gres=gpu:99\nmore lines [root@1795338921]\n"
    one, two = read_nodes(first + NODE.format("IDLE").replace("gpu7", "gpu8") + "\n")
    assert (one.state, one.gpus, one.reason) == (facts.DOWN, 4, "State=IDLE Gres=gpu:99 more lines")
    assert (two.name, two.state) == ("gpu8", facts.UP)


def test_a_cluster_without_nodes_has_none():
    assert read_nodes("No nodes in the system\n") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slurm_load_node error\n", "begins with 'slurm_load_node error' instead of NodeName="),
        ("NodeName=a State=IDLE\n", "CPUTot, RealMemory is missing"),
    ],
)
def test_what_is_no_node_gives_one_clear_sentence(text, message):
    with pytest.raises(ConnectorError, match=message):
        read_nodes(text)


def shares(*nodes, gpus=0):
    """What squeue shows of a job on these nodes."""
    return tuple(Share(node, gpus) for node in nodes)


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_details_name_the_gpus_of_each_node(version):
    records = split_records(recorded(version, "jobs"))
    assert read_shares(records["1"], shares("edge1")) == (Share("edge1", 2, 1, 2000, (0, 1)),)
    assert read_shares(records["2_0"], shares("edge1")) == (Share("edge1", 1, 1, 2000, (2,)),)
    assert read_shares(records["4"], shares("edge2")) == (Share("edge2", 3, 1, 3000, (0, 1, 2)),)


ON_TWO = (
    "JobId=9 JobName=x NodeList=edge[1-3]   Nodes=edge1 CPU_IDs=0-1,4 Mem=10 GRES=gpu:a100:2(IDX:0,3)   "
    "Nodes=edge[2-3] CPU_IDs=0 Mem=20 GRES= Min=1"
)


def test_unlike_nodes_of_a_job_are_distinguished():
    assert read_shares(ON_TWO, shares("edge1", "edge2", "edge3")) == (
        Share("edge1", 2, 3, 10, (0, 3)), Share("edge2", 0, 1, 20), Share("edge3", 0, 1, 20),
    )  # fmt: skip


def test_details_of_other_nodes_than_the_jobs_are_not_believed():
    assert read_shares(ON_TWO, shares("edge1")) is None
    assert (
        read_shares(
            ON_TWO.replace("JobName=x", "JobName=x Nodes=edge1 CPU_IDs=0 Mem=1 GRES=gpu:8(IDX:0-7)"),
            shares("edge1", "edge2", "edge3"),
        )
        is None
    )
    assert read_shares("JobId=9 Nodes=edge[1- CPU_IDs=0 Mem=1 GRES=", shares("edge1")) is None


def test_a_job_that_is_ending_shows_no_gpus_any_more():
    ending = "JobId=9 NodeList=edge1   Nodes=edge1 CPU_IDs=0 Mem=10 GRES="
    assert read_shares(ending, shares("edge1", gpus=3)) is None
    assert read_shares(ending, shares("edge1")) == (Share("edge1", 0, 1, 10),), "a job without GPUs"


def test_a_forged_record_makes_neither_count():
    text = (
        "JobId=1 JobName=a\nJobId=2 JobName=forged Nodes=edge1 CPU_IDs=0 Mem=1 GRES=gpu:9(IDX:0)\nJobId=2 "
        "JobName=b Nodes=edge2\nJobId=3 JobName=c\n"
    )
    assert set(split_records(text)) == {"1", "3"}
