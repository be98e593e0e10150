"""Who may see and do what, from the first day."""

import io
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.auth.login_links import make_link
from dashboard.http.throttles import LoginThrottle
from dashboard.models import LoginToken
from twin.config.logging_filters import Refused
from twin.models import Run
from twin.runs import readers

PAGES = ("/", "/traces/", "/scenarios/")
READS = ("/api/schedulers/", "/api/traces/", "/api/clusters/", "/api/scenarios/", "/api/runs/", "/api/schema/")


@pytest.mark.django_db
def test_only_health_and_login_are_open(heartbeats):
    anonymous = Client()
    assert anonymous.get("/healthz").status_code == 200
    assert anonymous.get("/login/").status_code == 200
    for page in PAGES:
        assert anonymous.get(page).headers["Location"] == f"/login/?next={page}"
    for address in READS:
        assert anonymous.get(address).status_code == 403


def test_a_viewer_looks_and_does_not_act(viewer, finished_run):
    for address in (*PAGES, f"/runs/{finished_run.pk}/", *READS, f"/api/runs/{finished_run.pk}/snapshot/"):
        assert viewer.get(address).status_code == 200, address
    for address in (
        "/api/traces/",
        "/api/clusters/",
        "/api/scenarios/",
        "/api/runs/",
        f"/api/runs/{finished_run.pk}/cancel/",
    ):
        answer = viewer.post(address, {}, content_type="application/json")
        assert answer.status_code == 403, address
        assert answer.json()["detail"] == "This requires the operator role; you are logged in as a viewer."
    assert viewer.delete(f"/api/runs/{finished_run.pk}/").status_code == 403


@pytest.mark.parametrize(
    "page",
    [
        "/runs/{run}/",
        "/runs/{run}/servers/0/",
        "/api/compare/?runs={run},{other}",
        "/api/compare/open/?runs={run},{other}",
    ],
)
def test_who_reads_a_run_marks_it(viewer, finished_run, page):
    edits = [{"verb": "scale_arrivals", "factor": 2.0}]
    other = Run.objects.create(scenario=finished_run.scenario, edits=edits)
    assert readers.unread([finished_run.pk, 77]) == [finished_run.pk, 77]
    viewer.get(page.format(run=finished_run.pk, other=other.pk))
    assert readers.unread([finished_run.pk, 77]) == [77]


def test_an_account_without_a_role_sees_nothing(nobody):
    assert nobody.get("/").status_code == 403
    assert nobody.get("/api/runs/").status_code == 403


def test_a_write_needs_the_csrf_token(operator, finished_run):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(operator.user)
    answer = strict.post(f"/api/runs/{finished_run.pk}/cancel/", {}, content_type="application/json")
    assert answer.status_code == 403
    assert answer.json() == {
        "detail": "The CSRF token is missing or belongs to an earlier login; load the page again.",
        "code": "csrf",
    }


@pytest.mark.parametrize(("path", "sentence"), [
    ("/runs/{run}/servers/99999/", "none has the index 99999."),
    ("/experiments/nope/", "The experiment nope does not exist; the page Experiments lists all experiments."),
    ("/nope/", "This page does not exist; it may have been deleted."),
])  # fmt: skip
def test_a_page_that_does_not_exist_says_what_does(viewer, finished_run, path, sentence):
    answer = viewer.get(path.format(run=finished_run.pk))
    assert answer.status_code == 404
    assert sentence in answer.content.decode()


def test_a_request_without_a_session_is_told_to_log_in(client):
    answer = client.get("/api/runs/")
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        "Nobody is logged in here; the session may have ended. Log in again, or send a token.",
    )


def test_pages_name_the_account_and_the_token_that_its_scripts_compare(viewer):
    page = viewer.get("/settings/account/").content.decode()
    assert f'data-account="{viewer.user.pk}"' in page
    assert re.search(r'<meta name="csrf-token" content="\w+">', page)


def test_pages_carry_a_strict_policy(viewer):
    policy = viewer.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    for page in PAGES:
        html = viewer.get(page).content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*importmap)", html), "no inline script"
        assert " style=" not in html
        assert "<style" not in html
        assert not re.search(r"\son\w+=", html)


@pytest.mark.django_db
def test_a_link_logs_in_once():
    link = make_link("operator")
    assert LoginToken.objects.get().digest not in link, "only the hash is stored"
    first, second = Client(), Client()
    assert second.head(link).status_code == 200, "a previewer does not use it up"
    assert second.get("/").status_code == 302, "and is not logged in by it"
    assert first.get(link).headers["Location"] == "/"
    assert first.get("/api/runs/").status_code == 200
    refused = second.get(link)
    assert refused.status_code == 403
    assert "works once" in refused.content.decode()


@pytest.mark.django_db
def test_a_link_ends_after_a_day():
    link = make_link("viewer")
    LoginToken.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert Client().get(link).status_code == 403


@pytest.mark.django_db
def test_guessing_links_is_slowed_down():
    codes = [Client().get(f"/login/guess{i}/").status_code for i in range(30)]
    assert codes[:20] == [403] * 20
    assert codes[-1] == 429


@pytest.mark.django_db
def test_guessing_a_password_is_slowed_down_whatever_the_client_claims(operator):
    """20 a minute from one address, the right one among them or not."""
    codes = []
    for i in range(22):
        form = {"username": "olga", "password": f"wrong {i}"}
        codes.append(
            Client().post("/login/", form, headers={"x-forwarded-for": f"10.0.0.{i}", "forwarded": f"for=10.0.0.{i}"})
        )
    assert [answer.status_code for answer in codes] == [200] * 20 + [429] * 2
    right = Client().post("/login/", {"username": "olga", "password": "a long enough password"})
    assert right.status_code == 429


def test_attempts_in_the_same_moment_are_all_counted(rf, monkeypatch):
    """Eight threads that read the count before any of them has written it."""
    from django.core.cache import cache

    read = cache.get

    def slowly(*args, **kwargs):
        found = read(*args, **kwargs)
        time.sleep(0.01)
        return found

    monkeypatch.setattr(
        "dashboard.http.throttles.LoginThrottle.cache",
        type("Slow", (), {"get": staticmethod(slowly), "set": cache.set}),
    )
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda _: LoginThrottle().allow_request(rf.post("/login/"), None), range(40)))
    assert allowed.count(True) == 20


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "trace"])
def test_pages_are_only_looked_at(operator, method):
    for page in (*PAGES, "/clusters/", "/healthz"):
        assert getattr(operator, method)(page).status_code == 405, page
    assert getattr(Client(), method)("/healthz").status_code == 405
    if method != "post":
        assert getattr(Client(), method)("/login/").status_code == 405


@pytest.mark.django_db
def test_health_says_whose_it_is_and_that_the_disk_is_full(settings, monkeypatch, heartbeats):
    settings.INSTANCE = "abc"
    assert Client().get("/healthz").headers["X-Twin-Instance"] == "abc"
    monkeypatch.setattr("twin.infra.disk.MIN_FREE", 2**60)
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["disk"]) == (503, f"the disk of {settings.VAR_DIR} is full")


@pytest.mark.django_db
def test_a_refused_request_is_one_line_in_the_log():
    """As the console gets it: no traceback for what the sender did wrong."""
    console = next(h for h in logging.getLogger().handlers if any(isinstance(f, Refused) for f in h.filters))
    before = console.setStream(written := io.StringIO())
    try:
        assert Client().get("/healthz", headers={"host": "evil.example"}).status_code == 400
    finally:
        console.setStream(before)
    lines = [line for line in written.getvalue().splitlines() if "DisallowedHost" in line]
    assert len(lines) == 1
    assert "WARNING django.security.DisallowedHost: Invalid HTTP_HOST header: 'evil.example'" in lines[0]
    assert "Traceback" not in written.getvalue()


@pytest.mark.django_db
def test_logging_out_needs_a_post():
    client = Client()
    client.get(make_link("viewer"))
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").headers["Location"] == "/login/"
    assert client.get("/").status_code == 302


def test_an_operator_cannot_delete_a_run_that_works(operator, make_run):
    run = make_run()
    answer = operator.delete(f"/api/runs/{run.pk}/")
    assert answer.status_code == 400
    assert answer.json()["detail"] == f"run {run.pk} is queued; cancel it before deleting it"
    assert Run.objects.filter(pk=run.pk).exists()
