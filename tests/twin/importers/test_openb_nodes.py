import pytest

from tests.twin.importers.reading import listed, read_texts
from twin.traces.importers import ImportRefused, openb_nodes

LIST = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,1000,2,T4\nn1,64000,1000,0,\n"


def test_nodes_with_gpus_host_workers():
    servers = read_texts(openb_nodes, LIST).cluster.servers
    assert [(server.name, server.capacity[:3], server.roles) for server in servers] == [
        ("n0", (2000, 64_000, 1049), ("worker",)), ("n1", (0, 64_000, 1049), ("ps",)),
    ]  # fmt: skip


def test_a_bad_row_is_left_out():
    read = read_texts(openb_nodes, LIST + "n1,1,1,1,\ncloud,1,1,1,\nn2,x,1,1,\nn3,1,1\n")
    assert [(line, reason) for _, line, reason in listed(read)] == [
        (7, "too_few_cells"), (4, "duplicate_id"), (5, "unreadable_name"), (6, "unreadable_cell"),
    ]  # fmt: skip
    assert len(read.cluster.servers) == 2


def test_two_lists_are_not_joined():
    """Both of openb's lists begin with openb-node-0000, which is not the same machine."""
    with pytest.raises(ImportRefused, match=r"1\.txt and 2\.txt may give the same name to different servers"):
        read_texts(openb_nodes, LIST, LIST)
