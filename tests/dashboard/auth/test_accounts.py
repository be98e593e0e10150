"""Accounts: made by an admin, opened by a link, given roles, disabled; and what each role may do."""

import re
from datetime import datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from dashboard.auth import tokens
from tests.dashboard.builders import post
from tests.dashboard.conftest import person
from twin.models import ActingRule, AuditEntry, Connection

GOOD, OTHER = "correct horse battery", "staple of the same horse"
EXPIRED = "This link is no longer valid"


def patch(client, address, **values):
    return client.patch(address, values, content_type="application/json")


def opened(link: str, password: str = GOOD, again: str | None = None):
    """(client, answer) of a person that opens the link and sets a password."""
    client = Client()
    form = client.get(link, follow=True)
    address = form.redirect_chain[-1][0] if form.redirect_chain else link
    words = {"new_password1": password, "new_password2": again or password}
    return client, client.post(address, words)


@pytest.fixture
def made(admin) -> dict:
    """The account of Veronica, an operator, with her link."""
    answer = post(admin, "/api/accounts/", {"name": "veronica", "role": "operator"})
    assert answer.status_code == 201, answer.content
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


def test_an_account_is_opened_by_its_link_once(made, admin):
    assert (made["role"], made["login"], made["active"], made["last_login_at"]) == ("operator", "none", True, None)
    assert not Client().login(username="veronica", password="")
    client, answer = opened(made["link"])
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert client.get("/api/runs/").status_code == 200
    assert EXPIRED in opened(made["link"], OTHER)[1].content.decode()
    again = Client()
    assert again.post("/login/", {"username": "veronica", "password": GOOD}).headers["Location"] == "/"
    assert "link" not in admin.get("/api/accounts/").json()["results"][-1]
    actions = AuditEntry.objects.filter(subject=f"account {made['id']}").order_by("id")
    assert [(entry.action, entry.user.username) for entry in actions] == [
        ("account.create", "ada"),
        ("account.password", "veronica"),
    ]


@pytest.mark.parametrize(
    ("password", "again", "sentence"),
    [
        ("short", "short", "at least 10 characters"),
        ("8402847502", "8402847502", "entirely numeric"),
        ("password123", "password123", "too common"),
        ("veronica12", "veronica12", "too similar to the username"),
        (GOOD, OTHER, "password fields didn’t match"),
    ],
)
def test_a_weak_password_is_refused_in_words(made, password, again, sentence):
    answer = opened(made["link"], password, again)[1]
    assert answer.status_code == 200
    assert sentence in answer.content.decode()
    assert not get_user_model().objects.get(username="veronica").has_usable_password()


def test_a_link_ends_after_a_day_and_with_its_account(made, admin, monkeypatch):
    from django.contrib.auth.tokens import PasswordResetTokenGenerator

    later = datetime.now() + timedelta(days=1, minutes=1)
    with monkeypatch.context() as patched:
        patched.setattr(PasswordResetTokenGenerator, "_now", lambda self: later)
        assert EXPIRED in Client().get(made["link"]).content.decode()
    patch(admin, f"/api/accounts/{made['id']}/", active=False)
    assert EXPIRED in Client().get(made["link"]).content.decode()


def test_a_reset_ends_the_password_the_sessions_and_earlier_links(made, admin):
    client, _ = opened(made["link"])
    first = admin.post(f"/api/accounts/{made['id']}/reset/").json()["link"]
    assert client.get("/api/runs/").status_code == 403
    assert not Client().login(username="veronica", password=GOOD)
    second = admin.post(f"/api/accounts/{made['id']}/reset/").json()["link"]
    assert EXPIRED in Client().get(first).content.decode()
    assert opened(second, OTHER)[1].status_code == 302
    assert Client().login(username="veronica", password=OTHER)


def test_people_change_their_own_password(made):
    client, _ = opened(made["link"])
    elsewhere = Client()
    elsewhere.post("/login/", {"username": "veronica", "password": GOOD})
    page = client.get("/settings/account/").content.decode()
    assert re.search(r"<dt>Role</dt><dd>operator</dd>", page)
    words = {"old_password": "wrong", "new_password1": OTHER, "new_password2": OTHER}
    assert "Your old password was entered incorrectly" in client.post("/settings/account/", words).content.decode()
    changed = client.post("/settings/account/", words | {"old_password": GOOD})
    assert "Your password was changed" in changed.content.decode()
    assert client.get("/api/runs/").status_code == 200, "this session goes on"
    assert elsewhere.get("/api/runs/").status_code == 403, "the others end"


def test_a_disabled_account_is_out_at_once(made, admin):
    client, _ = opened(made["link"])
    owner = get_user_model().objects.get(username="veronica")
    value = tokens.create("ci", ["read"], 1, owner)[1]
    bearer = {"headers": {"authorization": f"Bearer {value}"}}
    assert Client().get("/api/runs/", **bearer).status_code == 200
    assert patch(admin, f"/api/accounts/{owner.pk}/", active=False).json()["active"] is False
    assert client.get("/api/runs/").status_code == 403
    assert Client().get("/api/runs/", **bearer).json()["detail"] == "The account of the token 'ci' is not active."
    assert "Incorrect name or password." in Client().post(
        "/login/", {"username": "veronica", "password": GOOD}
    ).content.decode()  # fmt: skip
    assert patch(admin, f"/api/accounts/{owner.pk}/", active=True).json()["active"] is True
    assert client.get("/api/runs/").status_code == 403, "its sessions have ended for good"
    assert Client().login(username="veronica", password=GOOD)


def test_a_role_is_replaced_and_works_at_once(made, admin):
    client, _ = opened(made["link"])
    assert patch(admin, f"/api/accounts/{made['id']}/", role="viewer").json()["role"] == "viewer"
    assert post(client, "/api/clusters/", {"profile": "oasis", "servers": 2}).status_code == 403
    assert client.get("/settings/accounts/").status_code == 403
    assert patch(admin, f"/api/accounts/{made['id']}/", role="admin").json()["role"] == "admin"
    assert client.get("/settings/accounts/").status_code == 200
    entry = AuditEntry.objects.filter(action="account.role").first()
    assert entry.detail == {"name": "veronica", "from": "viewer", "to": "admin"}


@pytest.mark.parametrize("values", [{"role": "viewer"}, {"active": False}])
def test_nobody_locks_themselves_out(admin, values):
    answer = patch(admin, f"/api/accounts/{admin.user.pk}/", **values)
    assert answer.status_code == 400
    what = "role" if "role" in values else "state"
    assert answer.json()["detail"] == f"only another admin can change the {what} of your account"
    assert admin.get("/api/accounts/").status_code == 200


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("VERONICA", "name must be new; the account 'VERONICA' already exists"),
        ("operator", "name must not be 'operator'; this name is reserved for the login links of the role"),
        ("a b", "name must consist of letters, digits and @ . + - _, got 'a b'"),
        ("", "name may not be blank."),
    ],
)
def test_a_name_that_cannot_be_is_refused(made, admin, name, sentence):
    answer = post(admin, "/api/accounts/", {"name": name, "role": "viewer"})
    assert (answer.status_code, answer.json()["detail"]) == (400, sentence)


def test_a_role_that_does_not_exist_is_refused(admin):
    answer = post(admin, "/api/accounts/", {"name": "veronica", "role": "root"})
    assert answer.json()["detail"] == "role must be one of viewer, operator, approver, admin, got 'root'."


def test_operators_see_their_own_tokens_and_admins_all(operator, admin):
    other = person("otto", "operator")
    mine, theirs = (tokens.create("t", ["read"], 1, one.user)[0].pk for one in (operator, other))
    assert [token["id"] for token in operator.get("/api/tokens/").json()["results"]] == [mine]
    assert operator.post(f"/api/tokens/{theirs}/revoke/").status_code == 404
    assert [token["id"] for token in admin.get("/api/tokens/").json()["results"]] == [theirs, mine]
    assert admin.post(f"/api/tokens/{theirs}/revoke/").status_code == 200


def test_a_token_manages_no_accounts(admin):
    value = tokens.create("ci", ["operate"], 1, admin.user)[1]
    answer = Client().get("/api/accounts/", headers={"authorization": f"Bearer {value}"})
    assert answer.status_code == 403


def test_an_operator_stops_plans_and_an_approver_allows_them(operator, approver):
    lab = Connection.objects.create(name="lab", connector="slurm")
    ActingRule.objects.create(connection=lab, level=ActingRule.ORDER)
    address = "/api/live/lab/acting/"
    assert patch(operator, address, stopped=True).json()["stopped"]
    for values in ({"stopped": False}, {"level": 3}, {"max_jobs": 100}):
        answer = patch(operator, address, **values)
        assert (answer.status_code, answer.json()["detail"]) == (
            403,
            "Changing the permissions of plans requires the approver role; you are logged in as an operator.",
        )
    assert patch(approver, address, stopped=False, level=3).json()["stopped"] == ""
