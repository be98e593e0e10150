"""What fails is said in one sentence: as a page to a person, as JSON under /api/."""

import gzip

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError
from django.test import Client

from dashboard.views import errors


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example"])
def test_an_unknown_host_is_refused(viewer, host):
    answer = viewer.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "The request was not understood" in answer.content.decode()


def test_an_unknown_address(viewer):
    assert "There is nothing at this address" in viewer.get("/nowhere/").content.decode()
    answer = viewer.get("/api/nowhere/")
    assert (answer.status_code, answer.json()["detail"][:9]) == (404, "Not found")
    for path in ("/api/runs/99999999999999999999999/", "/api/runs/x/", "/api/traces/x/", "/api/runs/1/jobs/7/"):
        answer = viewer.get(path)
        assert (answer.status_code, list(answer.json())) == (404, ["detail"]), path


@pytest.mark.django_db
def test_a_form_without_its_token_is_answered_in_the_house_style():
    answer = Client(enforce_csrf_checks=True).post("/login/", {"username": "x"})
    assert answer.status_code == 403
    html = answer.content.decode()
    assert "This page was open for too long" in html
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
    assert "Something failed on the server" in answer.content.decode()
    assert b'"detail"' in errors.server_error(rf.get("/api/runs/")).content


def test_an_unforeseen_error_in_the_api_is_one_sentence(viewer, monkeypatch):
    def fail(*args):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("dashboard.api.runs.RunViewSet.get_object", fail)
    viewer.raise_request_exception = False
    answer = viewer.get("/api/runs/1/static/")
    assert answer.status_code == 500
    assert answer.json() == {"detail": "Something failed on the server. The server's log says what. Try again in a moment."}


@pytest.mark.django_db
def test_attempts_are_counted_by_address_whatever_the_client_claims():
    """20 a minute; a made-up X-Forwarded-For is not believed unless a proxy is declared."""
    codes = [Client().get(f"/login/guess{i}/", headers={"x-forwarded-for": f"10.0.0.{i}"}).status_code for i in range(21)]
    assert codes == [403] * 20 + [429]
    assert "Wait a minute" in Client().get("/login/guess/").content.decode()
    wrong = Client().post("/login/", {"username": "a", "password": "b"})
    assert wrong.status_code == 429, "links and passwords share the count"


@pytest.mark.django_db
def test_health_is_asked_without_tls(settings):
    settings.SECURE_SSL_REDIRECT = True
    assert Client().get("/healthz").status_code == 200
    assert Client().get("/login/").headers["Location"] == "https://testserver/login/"


@pytest.mark.django_db
def test_health_says_that_the_bus_is_away(settings):
    settings.LAYER_URL = "redis://127.0.0.1:1"
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"database": True, "broker": False})


@pytest.mark.django_db
def test_health_looks_at_both_when_the_broker_is_another_server_than_the_bus(settings):
    settings.BROKER_URL = "amqp://127.0.0.1:1//"
    assert Client().get("/healthz").json() == {"database": True, "broker": False}


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
