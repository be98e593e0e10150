"""Origins of fields in files and stored traces: every one comes back, and former names are read as the present ones."""

from dataclasses import replace
from importlib import import_module

import pytest
from django.apps import apps

from scheduling.model.provenance import FORMER, PROVENANCES
from scheduling.model.values import Job
from twin.files.job_table import JobTable
from twin.files.jobs_csv import columns_of, csv_lines
from twin.files.jobs_jsonl import job_lines, load_jobs
from twin.files.packed_jobs import pack_jobs, unpack_jobs
from twin.mirror.whatif.inputs import FORMAT
from twin.models import Trace
from twin.traces.importers import read

JOB = Job("a", 5, epochs=1, provenance={"epochs": "trace"})


def from_lines(job, folder):
    return load_jobs(b"".join(job_lines([job])))


def from_csv(job, folder):
    table = JobTable.of([job])
    path = folder / "jobs.csv"
    path.write_text("".join(csv_lines([table], columns_of([table]))))
    return list(read(path).jobs)


def from_store(job, folder):
    return [made for table in unpack_jobs(pack_jobs([JobTable.of([job])])) for made in table.jobs()]


@pytest.mark.parametrize("through", [from_lines, from_csv, from_store])
@pytest.mark.parametrize("written", [*PROVENANCES, *FORMER])
def test_an_origin_comes_back_under_its_present_name(tmp_path, through, written):
    job = replace(JOB, provenance={"epochs": written})
    assert through(job, tmp_path) == [replace(job, provenance={"epochs": FORMER.get(written, written)})]


@pytest.mark.django_db
def test_stored_cuts_get_the_present_name():
    counts = {"minibatch_ms": {"as_it_turned_out": 1, "limit": 3}, "epochs": {"drawn": 4}}
    preview = [{"id": "a", "provenance": {"minibatch_ms": "as_it_turned_out", "epochs": "drawn"}}, {"id": "b"}]
    trace = Trace.objects.create(name="cut", format=FORMAT, report={"provenance": counts}, preview=preview)
    import_module("twin.migrations.0030_actual_durations").rename(apps, None)
    trace.refresh_from_db()
    assert trace.report["provenance"] == {"minibatch_ms": {"actual": 1, "limit": 3}, "epochs": {"drawn": 4}}
    assert trace.preview[0]["provenance"] == {"minibatch_ms": "actual", "epochs": "drawn"}
