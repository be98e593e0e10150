"""Parquet files, written by DuckDB."""

import zipfile

import duckdb
import pytest

from twin.traces.importers import ImportRefused, Unclear, Upload, parse, read
from twin.traces.uploads.parquet import as_csv

GANGS = (
    "SELECT i AS job_id, 1 + i % 4 AS num_gpu, i * 60 AS submit_time, 10 AS iterations, 'vgg16' AS model_name, "
    "600.5 AS duration FROM range(30) t(i)"
)
OWN = (
    "SELECT * FROM (VALUES ('a', TIMESTAMP '2026-03-04 10:00:00', INTERVAL '1 day 02:03:04', 2, TRUE, [1, 2]), "
    "('b\nc', TIMESTAMP '2026-03-04 10:00:05', NULL, NULL, FALSE, NULL)) t(id, sent, took, cards, \"ok, so\", parts)"
)


def written(tmp_path, query, name="x.parquet"):
    path = tmp_path / name
    duckdb.sql(query).write_parquet(str(path))
    return path


def test_a_known_format_is_recognized_by_its_columns(tmp_path):
    result = read(written(tmp_path, GANGS))
    assert (result.format, len(result.jobs), result.report["lines"]) == ("tiresias", 30, 31)
    assert list(result.jobs)[29].arrival_ms == 29 * 60_000


def test_values_become_cells_of_one_line(tmp_path):
    text = b"".join(as_csv(written(tmp_path, OWN), "x.parquet")).decode()
    assert text == (
        'id,sent,took,cards,"ok, so",parts\n'
        'a,2026-03-04 10:00:00,1 days 02:03:04.000000,2,true,"[1,2]"\n'
        "b c,2026-03-04 10:00:05,,,false,\n"
    )


def test_other_columns_are_mapped(tmp_path):
    path = written(tmp_path, OWN)
    with pytest.raises(Unclear) as unclear:
        read(path)
    assert unclear.value.files[0]["file"] == "x.parquet", "messages name the file that was uploaded"
    assert unclear.value.files[0]["columns"][:3] == ["id", "sent", "took"]
    mapping = {"id": "id", "arrival": "sent", "run": "took", "gpus": "cards"}
    (part,) = parse(path, mapping=mapping)
    assert part.read.drafts.run_ms.tolist() == [93_784_000]
    assert [row["reason"] for row in part.read.skipped.listed] == ["unreadable_run"]


def test_a_file_that_is_damaged_or_packed_is_refused(tmp_path):
    path = written(tmp_path, GANGS)
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:200])
    sentence = r"cut\.parquet: the Parquet file cannot be read: .*cut\.parquet"
    with pytest.raises(ImportRefused, match=sentence) as refused:
        read(tmp_path / "cut.parquet")
    assert "SELECT" not in str(refused.value)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(path, "x.parquet")
    with pytest.raises(ImportRefused, match="a Parquet file inside an archive; unpack it and upload the file"):
        read([Upload(tmp_path / "x.zip")])


def test_a_file_that_unpacks_to_much_more_is_refused(tmp_path):
    """Three million equal rows take a few kB."""
    path = written(tmp_path, "SELECT 'x' AS a, 'y' AS b FROM range(3_000_000)")
    with pytest.raises(ImportRefused, match="unpacks to more than 100 times its size"):
        read(path)
