"""What fails is reported in one sentence: as a page to a person, as JSON under /api/."""

import gzip
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, OperationalError
from django.test import Client
from django.utils import timezone

from dashboard.pages import errors, health
from scheduling.model.values import Event
from twin.eventlog import event_log
from twin.infra import database, pubsub
from twin.models import Run
from twin.processes import heartbeat
from twin.runs import activity


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example"])
def test_an_unknown_host_is_refused(viewer, host):
    answer = viewer.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "Invalid request" in answer.content.decode()


def test_an_unknown_address(viewer):
    assert "This page does not exist" in viewer.get("/nowhere/").content.decode()
    answer = viewer.get("/api/nowhere/")
    assert (answer.status_code, answer.json()["detail"][:9]) == (404, "Not found")
    for path in ("/api/runs/99999999999999999999999/", "/api/runs/x/", "/api/traces/x/", "/api/runs/1/jobs/7/"):
        answer = viewer.get(path)
        assert (answer.status_code, list(answer.json())) == (404, ["detail"]), path


def test_the_page_of_something_missing_names_it_and_leads_on(viewer):
    for path, said, leads in (
        ("/runs/987654/", "Run 987654 does not exist.", 'href="/">Go to the overview'),
        ("/experiments/none/", "The experiment none does not exist", 'href="/">Go to the overview'),
        ("/live/nobody/", "No cluster is connected under the name nobody.", 'href="/live/">Show the live clusters'),
    ):
        answer = viewer.get(path)
        assert answer.status_code == 404
        assert said in answer.content.decode(), path
        assert leads in answer.content.decode(), path


@pytest.mark.django_db
def test_who_is_not_logged_in_is_led_to_the_login(client):
    page = client.get("/login/not-a-token/").content.decode()
    assert '<a href="/login/">Log in</a>' in page
    assert "<code>manage.py login_link --role admin</code>" in page
    assert "Go to the overview" not in page
    assert '<a href="/login/">Log in</a>' in client.get("/login/password/MQ/not-a-token/").content.decode()


@pytest.mark.django_db
def test_a_refused_login_keeps_the_name(client):
    page = client.post("/login/", {"username": "o<live", "password": "wrong"}).content.decode()
    assert 'value="o&lt;live"' in page
    assert "wrong" not in page


def test_pages_of_failures_tell_what_the_account_may_not_do(operator, viewer, nobody):
    for client, path, who, role in (
        (operator, "/nowhere/", "olga", "operator"),
        (operator, "/runs/987654/", "olga", "operator"),
        (operator, "/login/not-a-token/", "olga", "operator"),
        (viewer, "/nowhere/", "victor (view only)", "viewer"),
        (nobody, "/nowhere/", "nina (no role)", "none"),
        (nobody, "/", "nina (no role)", "none"),
    ):
        html = client.get(path).content.decode()
        assert f'title="Account. Role: {role}"' in html, (path, who)
        assert f"<span>{who}</span></button>" in html, (path, who)
        assert f'data-role="{role.replace("none", "viewer")}"' in html


@pytest.mark.django_db
def test_a_form_without_its_token_is_answered_in_the_house_style():
    answer = Client(enforce_csrf_checks=True).post("/login/", {"username": "x"})
    assert answer.status_code == 403
    html = answer.content.decode()
    assert "The form has expired" in html
    assert "<style" not in html


def test_when_the_database_fails_the_page_of_the_failure_does_not_need_it(rf):
    """Any query would fail this test, which may not use the database."""
    request = rf.get("/")

    class Broken:
        @property
        def is_authenticated(self):
            raise DatabaseError("the database is away")

    request.user = Broken()
    answer = errors.server_error(request)
    assert answer.status_code == 500
    assert "Server error" in answer.content.decode()
    assert b'"detail"' in errors.server_error(rf.get("/api/runs/")).content


def test_an_unforeseen_error_in_the_api_is_one_sentence(viewer, monkeypatch):
    def fail(*args):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("dashboard.api.runs.RunViewSet.get_object", fail)
    viewer.raise_request_exception = False
    answer = viewer.get("/api/runs/1/static/")
    assert answer.status_code == 500
    assert answer.json() == {"detail": "Server error. See the log of the server. Try again later."}


@pytest.mark.django_db
def test_attempts_are_counted_by_address_whatever_the_client_claims():
    """20 a minute; a made-up X-Forwarded-For is not believed unless a proxy is declared."""
    codes = [
        Client().get(f"/login/guess{i}/", headers={"x-forwarded-for": f"10.0.0.{i}"}).status_code for i in range(21)
    ]
    assert codes == [403] * 20 + [429]
    assert "Wait a minute" in Client().get("/login/guess/").content.decode()
    wrong = Client().post("/login/", {"username": "a", "password": "b"})
    assert wrong.status_code == 429, "links and passwords share the count"


@pytest.mark.django_db
def test_health_is_asked_without_tls(settings, heartbeats):
    settings.SECURE_SSL_REDIRECT = True
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/login/").headers["Location"] == "https://testserver/login/"


@pytest.mark.django_db
def test_health_says_that_the_bus_is_away(settings):
    settings.LAYER_URL = "redis://127.0.0.1:1"
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"database": True, "broker": False, "stalled": []})


@pytest.mark.django_db
def test_health_looks_at_both_when_the_broker_is_another_server_than_the_bus(settings):
    settings.BROKER_URL = "amqp://127.0.0.1:1//"
    assert Client().get("/healthz").json() == {"database": True, "broker": False, "stalled": []}


@pytest.mark.django_db
def test_health_says_since_when_the_database_is_locked(heartbeats, monkeypatch):
    since = timezone.now() - timedelta(seconds=12)
    pubsub.client().set(database.LOCKED_SINCE, since.timestamp())
    assert Client().get("/healthz").status_code == 200, "it takes a write by now"
    monkeypatch.setattr(database, "fault", lambda: OperationalError("database is locked"))
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["database"], answer.json()["stalled"]) == (503, False, [])
    assert answer.json()["database_fault"] == f"database is locked; locked since {since:%Y-%m-%d %H:%M:%S} UTC"


@pytest.mark.django_db
def test_health_names_what_is_missing_and_what_does_not_answer(heartbeats, monkeypatch):
    with heartbeat.doing("run 7"):
        heartbeats[heartbeat.RUNS].beat()
    well = Client().get("/healthz")
    assert well.status_code == 200
    assert (well.json()["missing"], [row["kind"] for row in well.json()["processes"]]) == ([], sorted(heartbeats))
    assert [row["doing"] for row in well.json()["processes"] if "doing" in row] == ["run 7"]
    heartbeats[heartbeat.RUNS].stop()
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["missing"], answer.json()["starting"]) == (503, [heartbeat.RUNS], [])
    monkeypatch.setattr(heartbeat, "SILENT_S", 0.0)
    answer = Client().get("/healthz")
    assert answer.status_code == 503
    assert not any(row["answers"] for row in answer.json()["processes"])


@pytest.mark.django_db
def test_a_process_that_has_not_answered_yet_starts_until_it_takes_too_long(heartbeats, monkeypatch):
    monkeypatch.setattr(health, "_seen", set())
    monkeypatch.setattr(health, "_begun", time.monotonic())
    heartbeats[heartbeat.RUNS].stop()
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["starting"]) == (503, [heartbeat.RUNS])
    heartbeats[heartbeat.RUNS].beat()
    assert Client().get("/healthz").json()["starting"] == []
    heartbeats[heartbeat.RUNS].stop()
    assert Client().get("/healthz").json()["starting"] == [], "it has run before"
    monkeypatch.setattr(health, "_seen", set())
    monkeypatch.setattr(health, "_begun", time.monotonic() - health.BEGIN_S)
    assert Client().get("/healthz").json()["starting"] == []


def test_health_tells_which_runs_wait_and_for_whom(heartbeats, make_run, monkeypatch):
    monkeypatch.setattr(activity, "WAITING_S", 0.0)
    run = make_run()
    with heartbeat.doing("run 7"):
        heartbeats[heartbeat.RUNS].beat()
    answer = Client().get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["stalled"] == [
        f"run {run.pk}: waiting for a worker for 0 s: the only worker is busy with run 7"
    ]


@pytest.mark.django_db
def test_the_groups_of_the_roles_are_there_after_migrating():
    assert set(Group.objects.values_list("name", flat=True)) >= {"viewer", "operator"}


def test_a_big_answer_is_compressed_for_who_can_take_it(viewer, finished_run):
    address = f"/api/runs/{finished_run.pk}/events/"
    plain = viewer.get(address)
    packed = viewer.get(address, headers={"accept-encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 2


def test_pages_that_ask_often_share_one_check(viewer, monkeypatch):
    checks = []
    monkeypatch.setattr(health, "_check", lambda: (checks.append(1), ({"n": len(checks)}, 503))[1])
    monkeypatch.setattr(health, "_latest", (float("-inf"), {}))
    asked = [viewer.get(path) for path in ("/healthz/shared", "/healthz/shared", "/healthz", "/healthz/shared")]
    assert [(answer.status_code, answer.json()["n"]) for answer in asked] == [(200, 1), (200, 1), (503, 2), (200, 1)]
    monkeypatch.setattr(health, "SHARED_S", 0.0)
    assert viewer.get("/healthz/shared").json()["n"] == 3


def test_a_log_with_an_event_of_an_unknown_kind_is_named_as_such(viewer, make_run):
    """One of a newer version, or a damaged one: every answer that needs the log says so, and the list of runs works."""
    run = make_run()
    event_log.append(run.pk, run.epoch, [Event(1, 0, "entangled", {})])
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED, last_seq=1)
    for part in ("snapshot", "now", "jobs", "situation"):
        answer = viewer.get(f"/api/runs/{run.pk}/{part}/")
        assert answer.status_code == 400, part
        assert "event 1 has the unknown kind 'entangled': the log is from a newer version" in answer.json()["detail"]
    assert viewer.get("/api/runs/").status_code == 200
