"""Host list expressions, as Slurm folds them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twin.connectors._slurm.hostlist import hosts
from twin.connectors.facts import ConnectorError

UNTIMED = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
NAMES = st.sampled_from(("edge", "gpu-", "n", "rack-a-"))
RANGES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20), st.sampled_from((1, 2, 3))), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("edge1", ["edge1"]),
        ("edge[2-3,7]", ["edge2", "edge3", "edge7"]),
        ("edge[08-10],gpu1", ["edge08", "edge09", "edge10", "gpu1"]),
        ("rack[1-2]node[0-1]", ["rack1node0", "rack1node1", "rack2node0", "rack2node1"]),
        ("n[1-2]-ib,m", ["n1-ib", "n2-ib", "m"]),
        ("", []),
    ],
)
def test_expressions(expression, names):
    assert list(hosts(expression)) == names


@UNTIMED
@given(st.lists(st.tuples(NAMES, RANGES, st.integers(1, 4)), min_size=1, max_size=4))
def test_folded_lists_unfold_to_what_was_folded(groups):
    expression, names = [], []
    for name, ranges, width in groups:
        folded = [
            f"{first:0{width}}-{first + more:0{width}}" + (f":{step}" if step > 1 else "")
            for first, more, step in ranges
        ]
        expression.append(f"{name}[{','.join(folded)}]")
        names += [f"{name}{i:0{width}}" for first, more, step in ranges for i in range(first, first + more + 1, step)]
    assert list(hosts(",".join(expression))) == names


@UNTIMED
@given(st.text(alphabet="ab12[]-,: \n", max_size=20))
def test_any_text_gives_names_or_is_refused(text):
    try:
        names = hosts(text)
    except ConnectorError:
        return
    assert all(name and not set(name) & set("[], \n") for name in names)


@pytest.mark.parametrize(
    "expression", ["edge[1-", "edge[3-2]", "edge[]", "edge[x]", "a b", "n[1-999999]", "n[1-999]m[1-999]"]
)
def test_what_is_no_host_list_is_refused(expression):
    with pytest.raises(ConnectorError, match=r"cannot be read|names more than"):
        hosts(expression)
