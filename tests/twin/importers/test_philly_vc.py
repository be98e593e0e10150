"""Nodes of the Philly virtual clusters."""

import pytest

from twin.traces.importers import ImportRefused
from twin.traces.importing.parsing import parse


def found(tmp_path, text):
    path = tmp_path / "philly_vc.csv"
    path.write_text(text)
    (part,) = parse(path)
    return part.read


def test_the_real_list_has_352_nodes(traces):
    (part,) = parse(traces / "philly_derived/philly_vc.csv")
    servers = part.read.cluster.servers
    assert len(servers) == 352
    assert {server.capacity[0] for server in servers} == {8000}
    assert len({server.name.rsplit("-", 1)[0] for server in servers}) == 11
    assert "assumed to have 8 GPUs, 2,816 in total" in part.read.notes[0]


def test_nodes_are_named_after_their_vc_and_names_stay_text(tmp_path):
    """103959 and 7e1234 look like numbers."""
    result = found(tmp_path, "vc,node num\n103959,2\n7e1234,1\n")
    assert [server.name for server in result.cluster.servers] == ["103959-1", "103959-2", "7e1234-1"]


def test_bad_rows_are_skipped(tmp_path):
    result = found(tmp_path, "vc,node num\na,1\na,2\nb b,1\n,1\nc,-1\nd,1e400\ne,1.5\nf,0\n")
    assert [(row["line"], row["reason"]) for row in result.skipped.listed] == [
        (3, "duplicate_id"), (4, "unreadable_name"), (5, "unreadable_name"), (6, "unreadable_nodes"),
        (7, "unreadable_nodes"), (8, "unreadable_nodes"), (9, "no_nodes"),
    ]  # fmt: skip
    assert [server.name for server in result.cluster.servers] == ["a-1"]


@pytest.mark.parametrize(
    ("rows", "sentence"), [("", "0 rows read, no server found"), ("a,2000000", "more than 100,000 servers")]
)
def test_no_nodes_and_too_many_are_refused(tmp_path, rows, sentence):
    with pytest.raises(ImportRefused, match=sentence):
        found(tmp_path, "vc,node num\n" + rows)
