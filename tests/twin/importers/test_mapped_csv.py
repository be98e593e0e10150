"""A CSV of a stranger, read by the columns that somebody named."""

import pytest

from twin.importers import ImportRefused, Unclear, read

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
    "id": "job", "arrival": "submitted", "arrival_unit": "datetime", "run": "took", "run_unit": "h", "gpus": "cards", "user": "who",
    "group": "who", "status": "state",
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
        (4, "no_end"), (5, "pending"), (6, "duplicate_id"), (7, "unreadable_arrival"), (8, "unreadable_gpus"), (9, "run_not_positive"),
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


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"arrival": "submitted"}, "has no column for run or end"),
        ({"run": "took"}, "has no column for arrival"),
        ({"arrival": "submit", "run": "took"}, "there is no column 'submit' for arrival; the columns are job, submitted, took"),
        ({"arrival": "submitted", "run": "took", "colour": "x"}, "unknown field 'colour' in the mapping; known: id, arrival"),
        ({"arrival": "submitted", "run": "took", "run_unit": "weeks"}, "run_unit must be one of us, ms, s, min, h, got 'weeks'"),
        ({"arrival": "submitted", "run": "took"}, "none of its 8 rows can be imported; line 2: unreadable_arrival"),
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
    with pytest.raises(ImportRefused, match="name its columns first"):
        importing(tmp_path, format="mapped_csv")
