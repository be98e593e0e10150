"""Uploads: streamed, limited, recognized when they come again, imported by a worker."""

import gzip
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.dashboard.builders import post
from tests.twin.runtime.queues import work
from twin.models import AuditEntry, Trace
from twin.traces import import_task

PHILLY = (
    b"timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01 00:00:45,66.0,1,66.0,vc\nbad,1,1,1,vc\n2017-10-01 "
    b"00:01:45,60.0,4,240.0,vc\n"
)


def upload(client, data: bytes, name: str = "philly.csv", **fields):
    return client.post("/api/traces/", {"file": SimpleUploadedFile(name, data), **fields})


def imported(client, trace_id: int) -> dict:
    import_task.enqueue(trace_id)
    work("io")
    return client.get(f"/api/traces/{trace_id}/").json()


def test_an_upload_becomes_a_trace_with_a_report(operator, settings):
    answer = upload(operator, gzip.compress(PHILLY), "philly.csv.gz", seed=5)
    assert answer.status_code == 201
    assert answer.json()["status"] == "queued"
    assert len(list(Path(settings.UPLOAD_DIR).iterdir())) == 1
    trace = imported(operator, answer.json()["id"])
    assert (trace["status"], trace["format"], trace["format_title"], trace["job_count"], trace["progress"]) == (
        "ready",
        "philly_derived",
        "Derived Philly CSV",
        2,
        1.0,
    )
    assert trace["report"]["skipped"] == [
        {"file": "philly.csv", "line": 3, "reason": "unreadable_timestamp", "value": "bad"}
    ]
    assert [job["requested_workers"] for job in trace["preview"]] == [1, 4]
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == [], "the upload is not kept once it is imported"
    report = operator.get(f"/api/traces/{trace['id']}/report.csv").content.decode()
    assert report.splitlines() == ["file,line,reason,value", "philly.csv,3,unreadable_timestamp,bad"]


def test_the_same_file_is_recognized(operator, settings):
    first = upload(operator, PHILLY).json()
    again = upload(operator, PHILLY, "another name.csv")
    assert again.status_code == 409
    assert again.json()["duplicate_of"] == first["id"]
    assert upload(operator, PHILLY, limit=1).status_code == 201, "another window is another trace"
    assert len(list(Path(settings.UPLOAD_DIR).iterdir())) == 2


def test_the_same_file_twice_in_one_upload_is_refused(operator, settings):
    files = [SimpleUploadedFile("a.csv", PHILLY), SimpleUploadedFile("b.csv", PHILLY)]
    answer = operator.post("/api/traces/", {"file": files})
    said = "a.csv and b.csv have the same content, so each job would occur twice; upload only one of them"
    assert (answer.status_code, answer.json()["file"]) == (400, [said])
    assert Trace.objects.count() == 0
    announced = {"files": [{"name": name, "size": len(PHILLY)} for name in ("a.csv", "b.csv")]}
    trace = post(operator, "/api/traces/", announced).json()["id"]
    for number in (0, 1):
        address = f"/api/traces/{trace}/files/{number}/?offset=0"
        answer = operator.put(address, PHILLY, content_type="application/octet-stream")
    assert (answer.status_code, answer.json()["file"]) == (400, [said])
    assert Trace.objects.count() == 0


def test_a_file_over_the_limit_is_stopped_on_its_way(operator, settings):
    settings.UPLOAD_LIMIT_BYTES = 1 * 2**20
    answer = upload(operator, b"x" * (2**20 + 1))
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("The file is larger than the limit of 1 MiB")
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []
    assert Trace.objects.count() == 0


def test_a_form_of_too_many_parts_is_refused_with_the_limit(operator, settings):
    many = [SimpleUploadedFile(f"{i}.csv", PHILLY) for i in range(101)]
    answer = operator.post("/api/traces/", {"file": many})
    assert answer.status_code == 400
    assert "A form has at most 100 files" in answer.json()["detail"]
    answer = upload(operator, PHILLY, **{f"f{i}": "1" for i in range(1_001)})
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "Invalid request. A form has at most 1,000 fields.",
    )
    assert not Path(settings.UPLOAD_DIR).exists() or list(Path(settings.UPLOAD_DIR).iterdir()) == []


def test_a_hostile_name_is_only_a_name(operator, settings):
    trace = upload(operator, PHILLY, "../../etc/pass wd\n.csv").json()
    stored = list(Path(settings.UPLOAD_DIR).iterdir())
    assert len(stored) == 1
    assert stored[0].name.isalnum()
    assert "/" not in trace["name"]


def test_a_bad_file_leaves_one_sentence(operator):
    trace = imported(operator, upload(operator, b"\x00\x01\x02", "x.csv").json()["id"])
    assert (trace["status"], trace["job_count"]) == ("failed", 0)
    assert trace["message"] == "x.csv: line 1, column 1: a NUL byte: this is a binary file, not text"


def test_an_import_can_be_cancelled(operator):
    trace_id = upload(operator, PHILLY).json()["id"]
    assert operator.post(f"/api/traces/{trace_id}/cancel/").json()["status"] == "cancelled"
    assert imported(operator, trace_id)["status"] == "cancelled"
    answer = operator.post(f"/api/traces/{trace_id}/cancel/")
    assert "only an import that is in progress or waits for a choice can be cancelled" in answer.json()["detail"]


def test_an_upload_without_a_file_names_the_field(operator):
    assert operator.post("/api/traces/", {"name": "x"}).json() == {
        "file": ["This field is required."],
        "detail": "file is required.",
    }


def test_a_file_that_nobody_kept_is_gone_with_its_request(operator, viewer, settings):
    """Django parses a form before it asks who sent it: what a viewer, stranger or wrong form sends must not stay."""
    stranger = Client(enforce_csrf_checks=True)
    stranger.get("/login/")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(viewer.user)
    strict.get("/")
    token = {"X-CSRFToken": strict.cookies["csrftoken"].value}
    assert stranger.post("/login/", {"file": SimpleUploadedFile("x.csv", PHILLY)}).status_code == 403
    assert strict.post("/api/traces/", {"file": SimpleUploadedFile("x.csv", PHILLY)}).status_code == 403
    assert strict.post("/api/traces/", {"file": SimpleUploadedFile("x.csv", PHILLY)}, headers=token).status_code == 403
    assert upload(operator, PHILLY, seed=-1).json()["seed"] == ["This field must be at least 0, got '-1'."]
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []


@pytest.mark.django_db
def test_a_file_over_the_limit_is_refused_wherever_it_is_sent(settings):
    settings.UPLOAD_LIMIT_BYTES = 100
    stranger = Client(enforce_csrf_checks=True)
    stranger.get("/login/")
    assert stranger.post("/login/", {"file": SimpleUploadedFile("x.csv", b"x" * 101)}).status_code == 400
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []


def test_a_cancelled_upload_leaves_no_file(operator, settings):
    """It was cancelled before any worker had begun, so no worker removes it."""
    trace_id = upload(operator, PHILLY).json()["id"]
    operator.post(f"/api/traces/{trace_id}/cancel/")
    assert list(Path(settings.UPLOAD_DIR).iterdir()) == []


def test_deleting_waits_for_the_import_and_is_in_the_audit_list(operator):
    trace_id = upload(operator, PHILLY).json()["id"]
    refused = operator.delete(f"/api/traces/{trace_id}/")
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "trace philly.csv is queued; cancel its import before deleting it",
    )
    imported(operator, trace_id)
    assert operator.delete(f"/api/traces/{trace_id}/").status_code == 204
    assert (
        AuditEntry.objects.filter(action="trace.delete", subject=f"trace {trace_id}", user=operator.user).count() == 1
    )
