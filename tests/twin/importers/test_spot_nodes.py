from collections import Counter

import pytest

from tests.twin.importers.reading import listed, read_texts
from twin.traces.importers import ImportRefused, openb_nodes, spot_nodes

LIST = "gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,0\nH800,8,192,1\n"


def test_columns_stand_where_the_header_says():
    servers = read_texts(spot_nodes, LIST).cluster.servers
    assert [(server.name, server.capacity[:3]) for server in servers] == [
        ("node-0", (1000, 128_000, 512_000)),
        ("node-1", (8000, 192_000, 768_000)),
    ]
    other = "node_name,cpu_num,gpu_model,gpu_capacity_num\n0,128,A10,1\n1,192,H800,8\n"
    assert read_texts(spot_nodes, other).cluster.servers == servers


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("A10,1,1,1", "duplicate_id"), ("A10,1,1,", "unreadable_name"), ("A10,1,1,a b", "unreadable_name"),
        ("A10,-1,1,2", "unreadable_cell"), ("A10,1.5,1,2", "unreadable_cell"), ("A10,1,nan,2", "unreadable_cell"),
        ("A10,1,0,2", "unreadable_cell"), ("A10,1", "too_few_cells"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out(row, reason):
    assert listed(read_texts(spot_nodes, LIST + row)) == [("1.txt", 4, reason)]


def test_a_list_without_machines_is_refused():
    with pytest.raises(ImportRefused, match="0 rows read, no server found"):
        read_texts(spot_nodes, LIST.splitlines()[0])
    assert spot_nodes.sniff(LIST.encode())[0]
    assert not openb_nodes.sniff(LIST.encode())[0]


def test_the_published_list(traces):
    """4,278 nodes, 10,412 GPUs; 1 GPU in 3,396 nodes, 4 in 10, 8 in 872."""
    servers = read_texts(spot_nodes, (traces / "alibaba_spot2026/node_info_df.csv").read_bytes()).cluster.servers
    assert len(servers) == 4_278
    assert Counter(server.capacity[0] // 1000 for server in servers) == {1: 3_396, 4: 10, 8: 872}
    assert sum(server.capacity[0] for server in servers) == 10_412_000
    assert Counter(server.capacity[1] // 1000 for server in servers) == {128: 2_947, 192: 1_329, 126: 2}
