"""jobs.csv holds every part of a job, and what comes back is the same job to the last bit."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.cases import cases
from tests.twin.builders import in_table, jobs
from twin.files.job_table import JobTable
from twin.files.jobs_csv import columns_of, csv_lines
from twin.traces.importers import ImportRefused, read


def text_of(rows) -> str:
    table = JobTable.of(rows)
    return "".join(csv_lines([table], columns_of([table])))


def importing(tmp_path, text: str, **options):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    return read(path, **options)


@given(jobs())
@settings(max_examples=cases(150, 20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_there_and_back(tmp_path, rows):
    if rows := in_table(rows):
        assert list(importing(tmp_path, text_of(rows)).jobs) == rows


def test_rows_that_break_a_rule_are_skipped_with_line_and_column(tmp_path):
    rows = """id,arrival_ms,epochs,worker.gpu,utility.priority,utility.sensitivity,\
utility.target_slots,minibatch_ms,colour
a,5,1,1.5,1,0,1,2.5,red
b,0,,,,,,,red
c d,1,1,1,1,0,1,1,red
a,1,1,1,1,0,1,1,red
e,-1,1,1,1,0,1,1,red
f,1.5,1,1,1,0,1,1,red
g,1,0,1,1,0,1,1,red
h,1,1,0.0005,1,0,1,1,red
i,1,1,1,0,0,1,1,red
j,1,1,1,1,0,,1,red
k,1,1,1,1,0,1,0,red
l,1,1,1,1,0,1,nan,red
m,1,1,1,1,0,1,1e400,red
n,9007199254740993,1,1,1,0,1,1,red
o,1
"""
    result = importing(tmp_path, rows)
    assert [(job.id, job.arrival_ms, job.worker, job.utility is not None) for job in result.jobs] == [
        ("b", 0, None, False), ("a", 5, (1500, 0, 0, 0, 0), True),
    ]  # fmt: skip
    assert [(row["line"], row["reason"]) for row in result.report["skipped"]] == [
        (4, "unreadable_name"), (5, "duplicate_id"), (6, "unreadable_arrival_ms"), (7, "unreadable_arrival_ms"),
        (8, "unreadable_epochs"), (9, "unreadable_worker.gpu"), (10, "unreadable_utility"), (11, "unreadable_utility"),
        (12, "unreadable_minibatch_ms"), (13, "unreadable_minibatch_ms"), (14, "unreadable_minibatch_ms"),
        (15, "unreadable_arrival_ms"), (16, "too_few_cells"),
    ]  # fmt: skip


def test_a_file_with_no_good_row_is_refused(tmp_path):
    with pytest.raises(ImportRefused, match="1 row read, no job found; line 2: unreadable arrival ms 'x'"):
        importing(tmp_path, "id,arrival_ms\na,x\n")


def test_files_are_joined(tmp_path):
    from twin.traces.importers import Upload

    (tmp_path / "1.csv").write_text("id,arrival_ms,model,provenance\nb,7,vgg,model=trace\n")
    (tmp_path / "2.csv").write_text("id,arrival_ms,epochs,upload_ms\na,3,2,1 2 3\nb,4,2,\n")
    result = read([Upload(tmp_path / "1.csv"), Upload(tmp_path / "2.csv")])
    first, second = result.jobs
    assert (first.id, first.epochs, first.upload_ms, first.model) == ("a", 2, (1, 2, 3), "unknown")
    assert (second.id, second.epochs, second.upload_ms, second.model, second.provenance) == (
        "b",
        None,
        None,
        "vgg",
        {"model": "trace"},
    )
    assert result.report["skipped"] == [{"file": "2.csv", "line": 3, "reason": "duplicate_id", "value": "b"}]
