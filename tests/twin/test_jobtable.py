"""Jobs as columns are the same jobs, whatever parts they lack."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.model import Job, Utility
from scheduling.workloads import generate
from twin import jobtable
from twin.jobtable import JobTable, pack_jobs, unpack_jobs

amounts = st.integers(0, 2**50)
whole = st.integers(1, 2**53)
real = st.floats(1e-6, 1e12)
maybe = st.one_of


@st.composite
def jobs(draw):
    found = []
    for number in range(draw(st.integers(0, 6))):
        parts = {
            name: draw(strategy)
            for name, strategy in {
                "epochs": whole, "num_chunks": whole, "minibatch_ms": real, "gradient_mb": real, "iterations": whole, "cloud_upload_ms": st.integers(0, 10**9),
                "worker": st.tuples(*[amounts] * 5), "ps": st.tuples(*[amounts] * 5), "worker_type": st.sampled_from(["t4", "v100"]),
                "upload_ms": st.lists(st.integers(0, 10**9), min_size=1, max_size=4).map(tuple),
                "utility": st.builds(Utility, real, st.floats(0, 10), st.floats(0, 100)),
                "provenance": st.dictionaries(st.sampled_from(["epochs", "ps"]), st.sampled_from(["trace", "drawn"]), min_size=1),
            }.items()
            if draw(st.booleans())
        }  # fmt: skip
        found.append(Job(f"j{number}", draw(st.integers(0, 2**53)), draw(st.sampled_from(["unknown", "vgg-16"])), **parts))
    return found


@given(jobs())
@settings(max_examples=300, deadline=None)
def test_there_and_back(rows):
    table = JobTable.of(rows)
    assert list(table.jobs()) == rows
    assert [job for block in unpack_jobs(pack_jobs([table])) for job in block.jobs()] == rows
    assert list(table.take(slice(1, None, 2)).jobs()) == rows[1::2]


def test_long_tables_are_stored_in_blocks(monkeypatch):
    monkeypatch.setattr(jobtable, "BLOCK", 40)
    monkeypatch.setattr(jobtable, "PIECE", 7)
    _, rows = generate("oasis", num_jobs=100, num_servers=4, seed=1)
    blocks = list(unpack_jobs(pack_jobs([JobTable.of(rows)])))
    assert [len(block) for block in blocks] == [40, 40, 20]
    assert [job for block in blocks for job in block.jobs()] == list(rows)


def test_moved_jobs_keep_the_rest():
    _, rows = generate("oasis", num_jobs=3, num_servers=4, seed=1)
    table = JobTable.of(rows)
    assert list(table.moved(table.columns["arrival_ms"] * 2).jobs()) == [
        replace(job, arrival_ms=2 * job.arrival_ms) for job in rows
    ]


def test_other_bytes_are_no_jobs():
    with pytest.raises(ValueError, match="not packed jobs"):
        list(unpack_jobs(b"nonsense"))
    assert list(unpack_jobs(b"")) == []
