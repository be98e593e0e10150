"""Jobs as columns are the same jobs, whatever parts they lack."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.workloads import generate
from tests.cases import cases
from tests.twin.builders import jobs
from twin.files import job_table, packed_jobs
from twin.files.job_table import JobTable
from twin.files.packed_jobs import pack_jobs, unpack_jobs
from twin.files.stored_jobs import BLOCK, StoredJobs, field_of, objects_of

maybe = st.one_of


@given(jobs())
@settings(max_examples=cases(200, 40))
def test_there_and_back(rows):
    table = JobTable.of(rows)
    assert list(table.jobs()) == rows
    assert [job for block in unpack_jobs(pack_jobs([table])) for job in block.jobs()] == rows
    assert list(table.take(slice(1, None, 2)).jobs()) == rows[1::2]


def test_long_tables_are_stored_in_blocks(monkeypatch):
    monkeypatch.setattr(packed_jobs, "BLOCK", 40)
    monkeypatch.setattr(job_table, "BATCH", 7)
    _, rows = generate("oasis", num_jobs=100, num_servers=4, seed=1)
    blocks = list(unpack_jobs(pack_jobs([JobTable.of(rows)])))
    assert [len(block) for block in blocks] == [40, 40, 20]
    assert [job for block in blocks for job in block.jobs()] == list(rows)


@given(jobs())
@settings(max_examples=cases(100, 15))
def test_stored_jobs_are_the_same_one_by_one_field_by_field_and_all_at_once(rows):
    stored = StoredJobs(JobTable.of(rows))
    assert [stored[i] for i in range(-len(rows), len(rows))] == rows * 2
    assert (stored[1:], stored.some([*range(len(rows))][::-1])) == (rows[1:], rows[::-1])
    for name in (
        "id",
        "model",
        "arrival_ms",
        "worker",
        "utility",
        "upload_ms",
        "cloud_upload_ms",
        "worker_type",
        "minibatch_ms",
    ):
        assert field_of(stored, name) == field_of(rows, name), name
    assert list(stored) == rows
    assert [stored[i] for i in range(len(rows))] == list(objects_of(stored)) == list(objects_of(rows))
    with pytest.raises(IndexError):
        stored[len(rows)]


def test_a_job_that_is_asked_for_makes_its_block_however_often_it_is_asked_for():
    """A page of 24,000 jobs waited a second for all of them after its thousandth job."""
    _, rows = generate("oasis", num_jobs=3 * BLOCK - 5, num_servers=4, seed=1)
    stored = StoredJobs(JobTable.of(rows))
    for _ in range(5_000):
        assert stored[2 * BLOCK] is stored[2 * BLOCK]
    assert list(stored._kept) == list(range(2 * BLOCK, len(rows)))
    assert stored[2 * BLOCK :] == rows[2 * BLOCK :]
    assert all(one is other for one, other in zip(stored[BLOCK - 1 :: 2], stored[BLOCK - 1 :: 2], strict=True)), "kept"
    assert stored[:-BLOCK:3] == rows[:-BLOCK:3]
    assert (stored[-1], stored[0]) == (rows[-1], rows[0])
    assert stored._made is None
    assert list(stored) == rows
    assert stored._kept == {}
    with pytest.raises(IndexError):
        stored[len(rows)]


def test_moved_jobs_keep_the_rest():
    _, rows = generate("oasis", num_jobs=3, num_servers=4, seed=1)
    table = JobTable.of(rows)
    assert list(table.moved(table.columns["arrival_ms"] * 2).jobs()) == [
        replace(job, arrival_ms=2 * job.arrival_ms) for job in rows
    ]


def test_other_bytes_are_no_jobs():
    with pytest.raises(ValueError, match="not a packed job table"):
        list(unpack_jobs(b"nonsense"))
    assert list(unpack_jobs(b"")) == []
