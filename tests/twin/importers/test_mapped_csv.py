"""A CSV of a stranger, read by the columns that somebody named."""

import pytest

from twin.traces.importers import ImportRefused, Unclear, parse, read

ROWS = """job;submitted;took;cards;who;state
a-1;2026-01-01T10:00:05+02:00;2;8;ann;done
a-2;2026-01-01 08:00:00;0.5;3;bob;done
a-3;2026-01-01 08:00:01;;1;bob;done
a-4;2026-01-01 08:00:01;1;1;bob;PENDING
a-2;2026-01-01 08:00:02;1;1;bob;done
a-6;yesterday;1;1;bob;done
a-7;2026-01-01 08:00:02;1;-1;bob;done
a-8;2026-01-01 08:00:02;-3;1;bob;done
"""
MAPPING = {
    "id": "job", "arrival": "submitted", "arrival_unit": "datetime", "run": "took", "run_unit": "h", "gpus": "cards",
    "user": "who", "group": "who", "status": "state",
}  # fmt: skip


def importing(tmp_path, text=ROWS, **options):
    path = tmp_path / "theirs.csv"
    path.write_text(text)
    return read(path, **options)


def test_named_columns_make_jobs(tmp_path):
    result = importing(tmp_path, mapping=MAPPING)
    assert [(job.id, job.arrival_ms, job.requested_workers, job.worker[0]) for job in result.jobs] == [
        ("a-2", 0, 3, 1000), ("a-1", 5_000, 8, 1000),
    ]  # fmt: skip
    skipped = {(row["line"], row["reason"]) for row in result.report["skipped"]}
    assert skipped == {
        (4, "unreadable_run"), (5, "pending"), (6, "duplicate_id"), (7, "unreadable_arrival"), (8, "unreadable_gpus"),
        (9, "run_not_positive"),
    }  # fmt: skip
    assert result.format == "mapped_csv"


def test_workers_share_the_gpus_of_the_job(tmp_path):
    text = "t,n,g,until,c,m\n100,4,2,160,1.5,8\n"
    mapping = {"arrival": "t", "workers": "n", "gpus": "g", "end": "until", "cpus": "c", "memory_gb": "m"}
    [job] = importing(tmp_path, text, mapping=mapping).jobs
    assert (job.id, job.requested_workers, job.worker[:3]) == ("r1", 4, (500, 1500, 8000))
    assert job.provenance["worker.gpu"] == "trace"
    work = (
        job.epochs
        * job.num_chunks
        * job.minibatches_per_chunk
        * (job.minibatch_ms + 16 * job.gradient_mb / (job.worker[4] / 1000))
    )
    assert work == pytest.approx(4 * 60_000)


WAITED = "id,submit,start,end,took\na,0,50,60,8\nb,10,,90,8\nc,20,95,90,8\nd,30,x,90,8\ne,40,40,,8\nf,50,70,100,8\n"
TIMES = {"id": "id", "arrival": "submit", "start": "start", "end": "end"}


def test_a_job_runs_from_its_start_not_from_its_arrival(tmp_path):
    """It waits 50 s and runs 10: waiting is no work."""
    result = importing(tmp_path, WAITED, mapping=TIMES)
    drafts = parse(tmp_path / "theirs.csv", mapping=TIMES)[0].read.drafts
    assert [job.id for job in result.jobs] == ["a", "f"]
    assert drafts.arrival_ms.tolist() == [0, 50_000]
    assert drafts.run_ms.tolist() == [10_000, 30_000]
    skipped = {(row["line"], row["reason"], row["value"]) for row in result.report["skipped"]}
    assert skipped == {(3, "no_start", ""), (4, "run_not_positive", "90"), (5, "no_start", "x"), (6, "no_end", "")}
    assert result.report["notes"][-1] == "A job runs from start to end."


def test_a_reason_names_the_column_that_was_mapped(tmp_path):
    (tmp_path / "a.csv").write_text("sent,took,cards\n1,60,1\n2,nan,1\n3,60,\n4,,1\n")
    found = parse(tmp_path / "a.csv", mapping={"arrival": "sent", "run": "took", "gpus": "cards"})[0].read
    assert found.skipped.counts == {"unreadable_run": 2, "unreadable_gpus": 1}


@pytest.mark.parametrize(
    ("mapping", "run_ms", "note"),
    [
        ({"arrival": "submit", "end": "end"}, [60_000, 80_000, 70_000, 60_000, 50_000],
         "A job runs from submit to end: waiting before the start counts as work. "
         "Map the column of the start if there is one."),
        (TIMES | {"run": "took"}, [8_000] * 6, "The run time of a job is took."),
        ({"arrival": "submit", "start": "start", "run": "took"}, [8_000] * 6, "The run time of a job is took."),
    ],
)  # fmt: skip
def test_the_report_says_how_long_jobs_run(tmp_path, mapping, run_ms, note):
    (tmp_path / "theirs.csv").write_text(WAITED)
    found = parse(tmp_path / "theirs.csv", mapping=mapping)[0].read
    assert found.drafts.run_ms.tolist() == run_ms
    assert found.notes[-1] == note


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"arrival": "submitted"}, "has no column for run or end"),
        ({"run": "took"}, "has no column for arrival"),
        ({"arrival": "submitted", "start": "took"}, "has no column for run or end"),
        (
            {"arrival": "submit", "run": "took"},
            "there is no column 'submit' for arrival; the columns are job, submitted, took",
        ),
        (
            {"arrival": "submitted", "run": "took", "colour": "x"},
            "unknown field 'colour' in the mapping; known: id, arrival",
        ),
        (
            {"arrival": "submitted", "run": "took", "run_unit": "weeks"},
            "run_unit must be one of us, ms, s, min, h, d, got 'weeks'",
        ),
        (
            {"arrival": "submitted", "arrival_unit": "s", "run": "took"},
            "8 rows read, no job found; line 2: unreadable arrival",
        ),
    ],
)
def test_a_mapping_that_does_not_work_says_what_would(tmp_path, mapping, sentence):
    with pytest.raises(ImportRefused) as refusal:
        importing(tmp_path, mapping=mapping)
    assert sentence in str(refusal.value)


def test_without_a_mapping_the_columns_are_asked_for(tmp_path):
    with pytest.raises(Unclear) as unclear:
        importing(tmp_path)
    assert unclear.value.files[0]["columns"] == ["job", "submitted", "took", "cards", "who", "state"]
    with pytest.raises(ImportRefused, match="map its columns first"):
        importing(tmp_path, format="mapped_csv")
