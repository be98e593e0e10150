"""What a list of servers lacks is filled by the same rules, whichever list it is."""

import pytest

from twin.traces.importers import ImportRefused
from twin.traces.importers._shared import machines
from twin.traces.importers._shared.machines import Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import ReadOptions


def test_it_fills_what_a_list_lacks_and_says_so():
    """2 GPUs make 16 vCPUs and these 64 GB; the bandwidth hangs on the name alone."""
    cluster, notes = to_cluster("c", [Machine("a", 2000), Machine("b", 2000, cpu=4000)], ReadOptions(seed=1), "f")
    a, b = cluster.servers
    assert a.capacity[:4] == (2000, 16_000, 64_000, 500_000)
    assert b.capacity[:4] == (2000, 4_000, 32_000, 500_000)
    assert 20_000 <= a.capacity[4] <= 50_000
    assert to_cluster("c", [Machine("b", 2000)], ReadOptions(seed=1), "f")[0].servers[0].capacity[4] == b.capacity[4]
    assert (a.site, b.site) == ("edge", "cloud")
    assert notes[1].startswith(
        "The list has no sites, CPUs, memory, storage or network: every fourth server of a kind is at the edge"
    )


def test_every_fourth_of_a_kind_is_at_the_edge_and_kinds_share_the_roles():
    listed = [Machine(f"g{n}", 1000, 1, 1) for n in range(5)] + [Machine(f"c{n}", 0, 1, 1) for n in range(2)]
    servers = to_cluster("c", listed, ReadOptions(), "f")[0].servers
    assert [server.site for server in servers] == ["edge", "cloud", "cloud", "cloud", "edge", "edge", "cloud"]
    assert [server.roles for server in servers] == [("worker",)] * 5 + [("ps",)] * 2


def test_it_keeps_what_a_list_has():
    machine = Machine("a", 0, 1, 2, storage=3, bandwidth=4, site="cloud", away=((5, 6),))
    cluster, notes = to_cluster("c", [machine], ReadOptions(slot_ms=7), "f")
    assert (cluster.slot_ms, cluster.servers[0].capacity, cluster.servers[0].away) == (7, (0, 1, 2, 3, 4), ((5, 6),))
    assert notes == ["Every server hosts workers and parameter servers."]


def test_a_part_of_the_list_may_lack_something():
    whole = {"storage": 1, "bandwidth": 1, "site": "edge", "cpu": 1}
    notes = to_cluster("c", [Machine("a", 0, memory=1, **whole), Machine("b", 0, **whole)], ReadOptions(), "f")[1]
    assert notes[1] == "The list has no memory for 1 of 2 servers: a server has 4 GB per vCPU and at least 32."


def test_no_machine_or_too_many_are_refused(monkeypatch):
    with pytest.raises(ImportRefused, match="f: the list has no servers"):
        to_cluster("c", [], ReadOptions(), "f")
    monkeypatch.setattr(machines, "MAX_SERVERS", 1)
    with pytest.raises(ImportRefused, match="f: 2 servers; a cluster has at most 1"):
        to_cluster("c", [Machine("a", 0), Machine("b", 0)], ReadOptions(), "f")


@pytest.mark.parametrize(
    ("name", "good"), [("m1", True), ("", False), ("cloud", False), ("a b", False), ("a,b", False), ("x" * 201, False)]
)
def test_names_of_machines(name, good):
    assert is_server_name(name) is good
