"""What is exported of a trace and imported again gives the same jobs."""

import pytest

from tests.dashboard.builders import downloaded
from twin.scenarios import store
from twin.traces import importers


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "swf"])
def test_an_export_read_back_gives_the_same_jobs(viewer, finished_run, tmp_path, kind):
    trace = finished_run.scenario.trace
    answer = viewer.get(f"/api/traces/{trace.pk}/jobs.{kind}")
    assert answer["Content-Disposition"] == f'attachment; filename="trace-{trace.pk}-jobs.{kind}"'
    path = tmp_path / f"jobs.{kind}"
    path.write_bytes(downloaded(answer))
    assert list(importers.read(path).jobs) == list(store.jobs_of(trace.pk))


def test_a_trace_without_jobs_has_none_to_export(viewer, finished_run):
    trace = finished_run.scenario.trace
    trace.job_count = 0
    trace.save()
    assert viewer.get(f"/api/traces/{trace.pk}/jobs.csv").json()["detail"].endswith("has no jobs.")
