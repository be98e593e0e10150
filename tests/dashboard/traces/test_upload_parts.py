"""Uploads in parts: each is appended once, a lost answer does no harm, arrivals are scanned before the import."""

import gzip
from pathlib import Path

import orjson
import pytest

from tests.twin.runtime.queues import work
from twin.models import Trace
from twin.traces import import_task

PHILLY = b"""timestamp,duration,num_gpus,gpu_time,cluster
2017-10-01 00:00:00,100.0,1,100.0,a
2017-10-01 00:00:10,100.0,4,400.0,b
2017-10-01 00:00:20,100.0,4,400.0,a
bad,100.0,1,100.0,a
"""


def announced(client, *files: tuple[str, int], **fields):
    body = {"files": [{"name": name, "size": size} for name, size in files], **fields}
    return client.post("/api/traces/", orjson.dumps(body), content_type="application/json")


def part(client, trace_id: int, offset: int, data: bytes, number: int = 0):
    return client.put(
        f"/api/traces/{trace_id}/files/{number}/?offset={offset}", data, content_type="application/octet-stream"
    )


def choosing(client, trace_id: int, what: str = "import", **choice):
    return client.post(f"/api/traces/{trace_id}/{what}/", orjson.dumps(choice), content_type="application/json")


def done(client, trace_id: int) -> dict:
    """The trace after the worker's next turn."""
    import_task.enqueue(trace_id)
    work("io")
    return client.get(f"/api/traces/{trace_id}/").json()


@pytest.fixture
def scanned(operator) -> dict:
    """Uploaded in two parts and scanned."""
    trace = announced(operator, ("philly.csv", len(PHILLY)), seed=3).json()
    assert (trace["status"], trace["files"][0]["received"]) == ("uploading", 0)
    assert part(operator, trace["id"], 0, PHILLY[:50]).json() == {"received": 50}
    again = part(operator, trace["id"], 0, PHILLY[:50])
    assert (again.status_code, again.json()["received"]) == (409, 50)
    assert part(operator, trace["id"], 50, PHILLY[50:]).json()["trace"]["status"] == "queued"
    found = done(operator, trace["id"])
    assert found["status"] == "scanned", found["message"]
    return found


def test_a_look_shows_arrivals_sizes_groups_and_what_is_skipped(scanned):
    scan = scanned["scan"]
    assert (scan["format"], scan["jobs"], scan["servers"]) == ("philly_derived", 3, 0)
    assert sum(scan["arrivals"]["counts"]) == 3
    assert scan["arrivals"]["ranks"] == [[1, 0], [2, 10_000], [3, 20_000]]
    assert scan["gpus"] == [[1.0, 1], [4.0, 2]]
    assert scan["groups"] == [["a", 2], ["b", 1]]
    assert scan["run_ms"] == {"least": 100_000, "median": 100_000, "p95": 100_000, "most": 100_000}
    assert scan["report"]["skipped"][0]["line"] == 5
    assert [row["requested_workers"] for row in scan["preview"]] == [1, 4, 4]


def test_the_choice_is_imported_and_the_upload_is_gone(operator, scanned, settings):
    assert choosing(operator, scanned["id"], groups=["a"], rate=2, seed=3).json()["status"] == "queued"
    trace = done(operator, scanned["id"])
    assert (trace["status"], trace["job_count"]) == ("ready", 2)
    assert [row["arrival_ms"] for row in trace["preview"]] == [0, 10_000]
    assert trace["report"]["summary"] == "4 rows read, 2 jobs imported, 1 not selected, 1 skipped"
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []
    assert (
        choosing(operator, scanned["id"]).json()["detail"]
        == "trace philly.csv is ready; only an upload in the state scanned can be imported"
    )


def test_the_jobs_are_those_that_the_look_showed(operator, scanned):
    choosing(operator, scanned["id"], seed=3)
    assert done(operator, scanned["id"])["preview"] == scanned["scan"]["preview"]


def scans(settings):
    return [path for path in Path(settings.UPLOAD_DIR).iterdir() if path.suffix == ".look"]


def test_an_import_with_the_options_of_the_look_reads_no_file_again(operator, scanned, settings):
    """The uploaded file is emptied, which nobody notices; with another seed it is read."""
    (uploaded,) = [path for path in Path(settings.UPLOAD_DIR).iterdir() if path.suffix != ".look"]
    uploaded.write_bytes(b"")
    choosing(operator, scanned["id"], groups=["a"], seed=4)
    assert "is empty" in done(operator, scanned["id"])["message"]
    choosing(operator, scanned["id"], groups=["a"], seed=3)
    trace = done(operator, scanned["id"])
    assert (trace["status"], trace["job_count"]) == ("ready", 2), trace["message"]
    assert trace["report"]["summary"] == "4 rows read, 2 jobs imported, 1 not selected, 1 skipped"
    assert (
        gzip.decompress(Trace.objects.get(pk=trace["id"]).skipped_csv)
        .decode()
        .splitlines()[1]
        .startswith("philly.csv,5,")
    )
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []


@pytest.mark.parametrize("harm", [lambda data: data[:-1], lambda data: data[:40] + b"x" + data[41:], lambda data: b""])
def test_a_kept_look_that_was_changed_is_not_loaded(operator, scanned, settings, harm):
    (scan,) = scans(settings)
    scan.write_bytes(harm(scan.read_bytes()))
    choosing(operator, scanned["id"], groups=["a"], seed=3)
    assert done(operator, scanned["id"])["job_count"] == 2


def test_a_choice_that_leaves_nothing_or_makes_no_sense_is_said(operator, scanned):
    assert (
        choosing(operator, scanned["id"], from_ms=5, to_ms=5).json()["detail"]
        == "the window must end after its start, got 5 to 5 ms"
    )
    refusal = choosing(operator, scanned["id"], format="swff").json()["detail"]
    assert "unknown format 'swff'; did you mean 'swf'? known: auto" in refusal
    choosing(operator, scanned["id"], groups=["z"])
    trace = done(operator, scanned["id"])
    assert (trace["status"], trace["message"][:38]) == ("scanned", "philly.csv: no jobs remain to import: ")
    assert trace["scan"]["refused"] == trace["message"], "the files stay for another choice"
    choosing(operator, scanned["id"])
    assert done(operator, scanned["id"])["status"] == "ready"


def test_a_file_that_nothing_fits_is_shown_beside_the_nearest_format(operator):
    data = b"timestamp,duration\n1,2\n"
    trace = announced(operator, ("x.csv", len(data))).json()
    part(operator, trace["id"], 0, data)
    scan = done(operator, trace["id"])["scan"]
    assert scan["files"][0]["lines"] == ["timestamp,duration", "1,2"]
    assert scan["files"][0]["columns"] == ["timestamp", "duration"]
    nearest = {row["format"]: row["why"] for row in scan["files"][0]["nearest"]}
    assert nearest["philly_derived"] == "the column 'num_gpus' is missing"


def test_parts_that_do_not_belong_are_refused(operator, viewer, settings):
    trace = announced(operator, ("philly.csv", 10)).json()
    assert (
        part(operator, trace["id"], 0, b"x" * 11).json()["detail"]
        == "philly.csv was announced with 10 bytes; this part ends at 11"
    )
    assert part(operator, trace["id"], 0, b"x", number=1).status_code == 404
    assert part(viewer, trace["id"], 0, b"x").status_code == 403
    assert operator.post(f"/api/traces/{trace['id']}/cancel/").json()["status"] == "cancelled"
    assert (
        part(operator, trace["id"], 0, b"x").json()["detail"] == "trace philly.csv is cancelled; its upload is complete"
    )
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []
    settings.UPLOAD_LIMIT_BYTES = 2**20
    assert announced(operator, ("a", 2**19), ("b", 2**20)).status_code == 413


def test_the_same_files_are_recognized_and_may_be_chosen_from_again(operator, scanned):
    """While one scan waits another is refused; after the import the same choice is, another choice is not."""
    twin = announced(operator, ("again.csv", len(PHILLY)), seed=3).json()
    answer = part(operator, twin["id"], 0, PHILLY)
    assert (answer.status_code, answer.json()["duplicate_of"]) == (409, scanned["id"])
    assert not Trace.objects.filter(pk=twin["id"]).exists()
    choosing(operator, scanned["id"], seed=3)
    assert done(operator, scanned["id"])["status"] == "ready"
    third = announced(operator, ("again.csv", len(PHILLY)), seed=3).json()
    assert part(operator, third["id"], 0, PHILLY).status_code == 200
    found = done(operator, third["id"])
    assert (found["status"], [row["id"] for row in found["earlier"]]) == ("scanned", [scanned["id"]])
    same = choosing(operator, third["id"], seed=3)
    assert (same.status_code, same.json()["duplicate_of"]) == (409, scanned["id"])
    choosing(operator, third["id"], seed=3, groups=["a"])
    assert done(operator, third["id"])["job_count"] == 2


TIRESIAS = b"job_id,num_gpu,submit_time,iterations,model_name,duration\n0,1,0,10,vgg16,60\n1,1,5,10,vgg16,60\n"


def test_a_recognized_file_is_looked_at_again_in_another_unit(operator):
    """The import then uses it; a unit that is not known is refused."""
    trace = announced(operator, ("a.csv", len(TIRESIAS)), seed=3).json()
    part(operator, trace["id"], 0, TIRESIAS)
    assert done(operator, trace["id"])["scan"]["run_ms"]["median"] == 60_000
    refused = choosing(operator, trace["id"], "scan", time_unit="weeks")
    assert refused.status_code == 400
    assert "time_unit must be one of us, ms, s" in refused.json()["detail"]
    assert choosing(operator, trace["id"], "scan", format="auto", time_unit="min", seed=3).status_code == 200
    found = done(operator, trace["id"])
    assert (found["scan"]["run_ms"]["median"], found["options"]["time_unit"]) == (3_600_000, "min")
    assert choosing(operator, trace["id"], format="auto", time_unit="min", seed=3).status_code == 200
    assert any("read as minutes" in note for note in done(operator, trace["id"])["report"]["notes"])


def test_a_file_without_a_byte_is_refused_when_it_is_announced(operator):
    """Two of them counted as the same file."""
    answer = announced(operator, ("a.csv", 0))
    assert answer.status_code == 400
    assert "the file is empty: its size must be at least 1 byte" in answer.json()["detail"]
    assert not Trace.objects.exists()


OWN = b"job;submitted;done\na;2026-01-01 00:00:00;2026-01-01 01:00:00\nb;2026-01-01 00:05:00;2026-01-01 00:06:00\n"


def uploaded(client, name: str, data: bytes) -> dict:
    trace = announced(client, (name, len(data)), seed=3).json()
    part(client, trace["id"], 0, data)
    return done(client, trace["id"])


def shown(client, trace_id: int, chosen: dict, **query):
    return client.get(f"/api/traces/{trace_id}/mapping/", {"mapping": orjson.dumps(chosen).decode(), **query})


def test_a_mapping_is_guessed_shown_on_rows_and_remembered_by_the_header(operator, viewer):
    trace = uploaded(operator, "own.csv", OWN)
    (file,) = trace["scan"]["files"]
    assert file["guess"] == {"id": "job", "arrival": "submitted", "arrival_unit": "datetime"}
    assert file["remembered"] is None
    mapping = file["guess"] | {"end": "done"}
    found = shown(viewer, trace["id"], mapping, time_zone="Europe/Berlin").json()
    assert [(row["line"], row["arrival"], row["run_ms"]) for row in found["rows"]] == [
        (2, "2025-12-31 23:00:00", 3_600_000), (3, "2025-12-31 23:05:00", 60_000),
    ]  # fmt: skip
    assert "waiting before the start counts as work" in found["running"]
    assert choosing(operator, trace["id"], "scan", mapping=mapping, seed=3).status_code == 200
    assert done(operator, trace["id"])["scan"]["jobs"] == 2
    choosing(operator, trace["id"], mapping=mapping, seed=3)
    assert done(operator, trace["id"])["status"] == "ready"
    again = uploaded(operator, "next.csv", OWN.replace(b"\na;", b"\nc;"))
    assert again["scan"]["files"][0]["remembered"] == {"mapping": mapping, "trace": trace["id"], "name": "own.csv"}
    other = uploaded(operator, "other.csv", OWN.replace(b"done", b"over"))
    assert other["scan"]["files"][0]["remembered"] is None


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ({"mapping": "{"}, 400, "mapping must be JSON"), ({"mapping": "[1]"}, 400, "a mapping must be an object"),
        ({"file": "7"}, 404, "has no file 7"), ({"colour": "red"}, 400, "colour"),
        ({"time_zone": "Mars"}, 400, "time_zone must be a name such as Europe/Berlin"),
    ],
)  # fmt: skip
def test_a_preview_that_cannot_be_made_says_why(operator, query, status, sentence):
    trace = uploaded(operator, "own.csv", OWN)
    answer = shown(operator, trace["id"], {"arrival": "submitted"}, **query)
    assert answer.status_code == status
    assert sentence in answer.content.decode()
    problem = shown(operator, trace["id"], {"arrival": "submitted"}).json()["problem"]
    assert problem == "own.csv: the mapping has no column for run or end; it is required"
