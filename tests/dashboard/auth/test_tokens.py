"""Tokens: made once, scoped, ended, limited, audited."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from dashboard.auth import tokens
from dashboard.http import throttles
from dashboard.models import ApiToken
from scheduling.model.values import ModelError
from tests.dashboard.builders import post
from twin.models import AuditEntry


@pytest.fixture(autouse=True)
def fresh_allowances(monkeypatch):
    monkeypatch.setattr(throttles, "requests", throttles.Allowance(throttles.MAX_REQUESTS))
    monkeypatch.setattr(throttles, "events", throttles.Allowance(throttles.MAX_EVENTS))


def bearer(value: str) -> dict:
    return {"headers": {"authorization": f"Bearer {value}"}}


@pytest.fixture
def make(operator):
    def make(*scopes: str, days=30, user=None) -> str:
        return tokens.create("ci", scopes, days, user or operator.user)[1]

    return make


def test_a_token_is_shown_once_and_stored_as_a_hash(operator):
    answer = post(operator, "/api/tokens/", {"name": "lab", "scopes": ["ingest:lab"]})
    assert answer.status_code == 201
    value = answer.json()["value"]
    assert value.startswith("twin_")
    token = ApiToken.objects.get()
    assert value not in str(vars(token))
    assert tokens.find(value) == token
    assert timedelta(days=89) < token.expires_at - timezone.now() <= timedelta(days=90)
    listed = operator.get("/api/tokens/")
    assert "value" not in listed.json()["results"][0]
    assert value not in listed.content.decode()
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_read_token_reads_without_a_session(make):
    value = make("read")
    assert Client().get("/api/runs/", **bearer(value)).status_code == 200
    refused = Client().post("/api/clusters/", {}, content_type="application/json", **bearer(value))
    assert refused.status_code == 403
    assert refused.json()["detail"] == "The token 'ci' is limited to read; this request needs operate."
    assert Client().get("/", **bearer(value)).status_code == 302, "pages are for people"


def test_an_operate_token_acts_without_csrf_and_the_audit_list_names_it(make, operator):
    strict = Client(enforce_csrf_checks=True)
    made = strict.post(
        "/api/clusters/", {"profile": "oasis", "servers": 2}, content_type="application/json", **bearer(make("operate"))
    )
    assert made.status_code == 201
    entry = AuditEntry.objects.get(action="cluster.create")
    assert (entry.user, entry.detail["token"]) == (operator.user, "ci")
    post(operator, "/api/clusters/", {"profile": "oasis", "servers": 2})
    assert "token" not in AuditEntry.objects.filter(action="cluster.create").first().detail


def test_every_way_in_which_a_token_is_not_accepted(make, operator):
    def detail(value: str) -> tuple[int, str]:
        answer = Client().get("/api/runs/", **bearer(value))
        return answer.status_code, answer.json()["detail"]

    assert detail("twin_wrong") == (401, "The token is unknown; operators create tokens on the page Tokens.")
    assert Client().get("/api/runs/", **bearer("x")).headers["WWW-Authenticate"] == 'Bearer realm="api"'
    expired = make("read")
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert detail(expired)[0] == 401
    assert "expired on" in detail(expired)[1]
    revoked = make("read")
    tokens.revoke(tokens.find(revoked), operator.user)
    assert detail(revoked)[0] == 401
    assert "was revoked on" in detail(revoked)[1]
    assert detail(make("ingest:lab")) == (
        403,
        "The token 'ci' is limited to ingest:lab; this request needs read or operate.",
    )


def test_a_token_never_does_more_than_its_account(make, viewer, operator):
    value = make("operate")
    operator.user.groups.clear()
    answer = Client().get("/api/runs/", **bearer(value))
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        "The account of the token 'ci' no longer has the role for this.",
    )
    operator.user.is_active = False
    operator.user.save()
    assert Client().get("/api/runs/", **bearer(value)).status_code == 401
    operator.user.delete()
    assert Client().get("/api/runs/", **bearer(value)).status_code == 401


def test_a_revocation_is_audited_once(operator, make):
    make("read")
    pk = ApiToken.objects.get().pk
    for _ in range(2):
        assert operator.post(f"/api/tokens/{pk}/revoke/").json()["revoked_at"] is not None
    entries = AuditEntry.objects.filter(subject=f"token {pk}").order_by("id")
    assert [(entry.action, entry.user) for entry in entries] == [
        ("token.create", operator.user),
        ("token.revoke", operator.user),
    ]
    assert entries[0].detail == {"name": "ci", "scopes": "read"}


def test_tokens_are_for_operators_in_a_session(viewer, make):
    refused = viewer.get("/api/tokens/")
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "This requires the operator role; you are logged in as a viewer.",
    )
    assert viewer.get("/settings/tokens/").status_code == 403
    answer = Client().post("/api/tokens/", {}, content_type="application/json", **bearer(make("operate")))
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        "This requires the operator role in a session; a token is not enough.",
    )


def test_the_page_shows_the_form(operator):
    html = operator.get("/settings/tokens/").content.decode()
    assert 'id="new"' in html
    assert 'href="/settings/tokens/"' in operator.get("/audit/").content.decode()


def test_use_is_noted_once_in_each_minute_of_the_clock(make, monkeypatch):
    token = tokens.find(make("read"))
    seen = []
    for second in (57, 59, 70):
        now = datetime(2026, 1, 2, 8, 43, tzinfo=UTC) + timedelta(seconds=second)
        monkeypatch.setattr(tokens.timezone, "now", lambda now=now: now)
        tokens.note_use(token)
        token.refresh_from_db()
        seen.append((token.last_used_at.minute, token.last_used_at.second))
    assert seen == [(43, 57), (43, 57), (44, 10)]


@pytest.mark.parametrize(
    ("name", "scopes", "days", "message"),
    [
        ("", ["read"], 1, "name must have 1 to 200 printable characters, got ''"),
        ("x", [], 1, "a token needs a scope: read, operate, or ingest:SOURCE"),
        ("x", ["write"], 1, "scope must be read, operate or ingest:SOURCE"),
        ("x", ["ingest:Lab Cluster"], 1, "got 'ingest:Lab Cluster'"),
        ("x", ["read"], 0, "days until the token expires must be 1 to 3,650, got 0"),
    ],
)
def test_bad_tokens_are_refused(operator, name, scopes, days, message):
    with pytest.raises(ModelError) as refused:
        tokens.create(name, scopes, days, operator.user)
    assert message in str(refused.value)


def test_fifty_requests_a_second(make, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(throttles, "requests", throttles.Allowance(50, now=lambda: clock[0]))
    value = make("read")
    codes = [Client().get("/api/metrics/", **bearer(value)).status_code for _ in range(51)]
    assert codes == [200] * 50 + [429]
    late = Client().get("/api/metrics/", **bearer(value))
    assert late.headers["Retry-After"] == "1"
    clock[0] = 0.02
    assert Client().get("/api/metrics/", **bearer(value)).status_code == 200


def test_an_allowance_takes_all_or_nothing():
    clock = [0.0]
    allowance = throttles.Allowance(100, now=lambda: clock[0])
    assert allowance.take(1, 80) == 0
    assert allowance.take(1, 60) == pytest.approx(0.4)
    assert allowance.take(2, 100) == 0, "of each key alone"
    assert allowance.take(1, 20) == 0
    clock[0] = 0.5
    assert allowance.take(1, 51) == pytest.approx(0.01)
    assert allowance.take(1, 50) == 0


@pytest.mark.django_db
def test_the_command_creates_lists_and_revokes():
    def printed(*words: str) -> str:
        out = io.StringIO()
        call_command("token", *words, stdout=out)
        return out.getvalue().strip()

    value = printed("create", "--name", "lab", "--scope", "ingest:lab", "--scope", "read", "--days", "0")
    token = tokens.find(value)
    assert (token.scopes, token.expires_at, token.created_by.username) == (["ingest:lab", "read"], None, "operator")
    assert Client().get("/api/runs/", **bearer(value)).status_code == 200
    entry = AuditEntry.objects.get(action="token.create")
    assert (entry.user, entry.detail["account"]) == (None, "operator"), "the host, for the account"
    assert printed("list").startswith(f"{token.pk}  lab  ingest:lab, read  valid, expires never, used ")
    assert printed("revoke", str(token.pk)) == f"token {token.pk} (lab) is revoked"
    assert Client().get("/api/runs/", **bearer(value)).status_code == 401
    assert "  revoked, " in printed("list")
    with pytest.raises(CommandError, match="there is no token 77"):
        printed("revoke", "77")
    with pytest.raises(CommandError, match="there is no account 'nemo'"):
        printed("create", "--name", "lab", "--scope", "read", "--user", "nemo")
    with pytest.raises(CommandError, match="scope must be read, operate or ingest:SOURCE"):
        printed("create", "--name", "lab", "--scope", "all")
