import pytest

from tests.twin.importers.reading import listed, read_texts
from twin.traces.importers import ImportRefused, cluster_spec

HEADER = "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"


def test_switches_times_nodes():
    read = read_texts(cluster_spec, HEADER + "2,3,4,128,254")
    servers = read.cluster.servers
    assert [server.name for server in servers] == ["s1n1", "s1n2", "s1n3", "s2n4", "s2n5", "s2n6"]
    assert {server.capacity[:3] for server in servers} == {(4000, 128_000, 254_000)}
    assert read.drafts is None


def test_what_is_missing_is_filled():
    """4 GPUs: 32 vCPUs, 128 GB."""
    for text in ("num_gpu_p_node,num_switch,num_node_p_switch\n4,1,1\n", HEADER + "1,1,4,0,0\n"):
        assert read_texts(cluster_spec, text).cluster.servers[0].capacity[:3] == (4000, 32_000, 128_000)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("0,1,1,1,1", "no_nodes"), ("1000,1000,1,1,1", "too_many_nodes"), ("1,1,10000,1,1", "too_many_gpus"),
        ("1,x,1,1,1", "unreadable_cell"), ("1,-1,1,1,1", "unreadable_cell"), ("1,1.5,1,1,1", "unreadable_cell"),
        ("1,1,1,1e400,1", "unreadable_cell"), ("1,1", "too_few_cells"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out(row, reason):
    read = read_texts(cluster_spec, HEADER + "1,2,4,1,1\n" + row)
    assert listed(read) == [("1.txt", 3, reason)]
    assert len(read.cluster.servers) == 2


def test_gavel_counts_gpus():
    """5 V100s and 1 K80: machines of 4, 1 and 1 GPUs."""
    read = read_texts(cluster_spec, '{"philly": ["5:0:1", "9:9:9"]}')
    assert [(server.name, server.capacity[0]) for server in read.cluster.servers] == [
        ("v100-1", 4000),
        ("v100-2", 1000),
        ("k80-3", 1000),
    ]
    assert read.notes[0].endswith("the first of 2 specs is used.")


@pytest.mark.parametrize(
    "text",
    [
        HEADER,
        HEADER + "x,1,1,1,1",
        "a,b\n1,2\n",
        '{"philly": ["0:0:0"]}',
        '{"philly": ["9999999:0:0"]}',
        '{"a": 1}',
        "{",
        '{"philly": []}',
    ],
)
def test_what_holds_no_machine_is_refused(text):
    with pytest.raises(ImportRefused):
        read_texts(cluster_spec, text)


def test_it_fits_its_own_only():
    assert cluster_spec.sniff(HEADER.encode())[0]
    assert cluster_spec.sniff(b'{\n "philly": ["300:300:300"]\n}\n')[0]
    for other in (
        b"",
        b"{}",
        b'{"jobid": "1", "attempts": []}',
        b'{"id":"a","arrival_ms":0}\n{"id":"b","arrival_ms":0}',
        b"num_switch,x\n",
    ):
        assert not cluster_spec.sniff(other)[0]


@pytest.mark.parametrize(
    ("name", "nodes", "gpus"),
    [
        ("tiresias/cluster_spec.csv", 16, 64), ("tiresias/n32g4.csv", 32, 128), ("muri/n8g8.csv", 8, 64),
        ("elasticflow/n16g8.csv", 16, 128), ("gavel/cluster_specs.json", 125, 500),
        ("gavel/cluster_specs_heterogeneous.json", 225, 900),
    ],
)  # fmt: skip
def test_the_published_clusters(traces, name, nodes, gpus):
    servers = read_texts(cluster_spec, (traces / name).read_bytes()).cluster.servers
    assert (len(servers), sum(server.capacity[0] for server in servers)) == (nodes, gpus * 1000)
