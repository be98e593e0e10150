"""jobs.parquet holds every part of a job in typed columns, and what comes back is the same job to the last bit."""

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from scheduling.model.values import Job, ModelError
from tests.cases import cases
from tests.twin.builders import in_table, jobs
from twin.files import jobs_parquet
from twin.files.job_table import JobTable
from twin.files.jobs_csv import columns_of
from twin.files.jobs_parquet import parquet_pieces
from twin.traces.importers import read


def written(folder, rows):
    table, path = JobTable.of(rows), folder / "jobs.parquet"
    path.write_bytes(b"".join(parquet_pieces([table], columns_of([table]))))
    return path


@given(jobs())
@settings(max_examples=cases(60, 8), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_there_and_back(tmp_path, rows):
    if rows := in_table(rows):
        assert list(read(written(tmp_path, rows)).jobs) == rows


def test_columns_have_types(tmp_path):
    rows = [
        Job("a", 0, epochs=3, minibatch_ms=0.5, worker=(1500, 1, 0, 0, 0), user="u"),
        Job("b", 9_007_199_254_740_991, epochs=None, minibatch_ms=0.1, worker=(0, 0, 0, 0, 0)),
    ]
    found = duckdb.read_parquet(str(written(tmp_path, rows))).project(
        'id, arrival_ms, epochs, minibatch_ms, user, "worker.gpu"'
    )
    assert [str(kind) for kind in found.types] == [
        "VARCHAR", "BIGINT", "BIGINT", "DOUBLE", "VARCHAR", "DECIMAL(18,3)"
    ]  # fmt: skip
    a, b = found.fetchall()
    assert (a[:5], str(a[5])) == (("a", 0, 3, 0.5, "u"), "1.500")
    assert b[:5] == ("b", 9_007_199_254_740_991, None, 0.1, None)


def test_without_duckdb_it_says_so_before_the_first_byte(monkeypatch):
    monkeypatch.setattr(jobs_parquet, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"jobs\.parquet needs the package duckdb; install it or choose jobs\.csv"):
        jobs_parquet.parquet_pieces([], ["id"])
