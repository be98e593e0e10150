"""Login by an OpenID Connect provider that runs beside the tests, and every way in which it can fail."""

from __future__ import annotations

import time

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth import get_user_model
from django.test import Client

from dashboard.auth.oidc import provider as known_provider
from dashboard.models import Identity
from tests.dashboard.auth.openid_provider import CLIENT, SECRET, Provider, running
from tests.dashboard.builders import post
from tests.dashboard.conftest import person
from twin.models import AuditEntry, Membership, Team

pytestmark = pytest.mark.django_db
BEGIN = "/login/provider/begin/"


@pytest.fixture
def op(settings) -> Provider:
    with running() as provider:
        settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = provider.address, CLIENT, SECRET
        settings.OIDC_ROLES = {"looks": "viewer", "ops": "operator", "bosses": "admin"}
        settings.OIDC_TEAMS = {"team-red": "red", "team-blue": "blue"}
        settings.AUTHENTICATION_BACKENDS = [
            *settings.AUTHENTICATION_BACKENDS, "dashboard.auth.oidc.backend.ProviderBackend",
        ]  # fmt: skip
        known_provider.forget()
        yield provider


def back(client: Client, begin: str = BEGIN) -> str:
    """The address to which the provider sends the browser back."""
    there = client.get(begin)
    assert there.status_code == 302, there.content
    return requests.get(there.headers["Location"], allow_redirects=False, timeout=5).headers["Location"]


def logged_in(client: Client | None = None, begin: str = BEGIN):
    client = client or Client()
    return client, client.get(back(client, begin))


def test_a_person_logs_in_by_the_button_and_comes_to_the_page_that_was_asked_for(op):
    client = Client()
    asked = client.get("/traces/").headers["Location"]
    page = client.get(asked).content.decode()
    assert "Log in with your organization" in page
    assert f'href="{BEGIN}?next=/traces/"' in page
    _, answer = logged_in(client, f"{BEGIN}?next=/traces/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/traces/")
    assert client.get("/api/runs/").status_code == 200
    assert client.get("/api/accounts/").status_code == 403
    vera = get_user_model().objects.get(username="vera")
    assert (vera.has_usable_password(), vera.identity.subject) == (False, "u-1")
    assert 0 < client.session.get_expiry_age() <= 12 * 3_600
    assert AuditEntry.objects.get(action="account.create").detail == {"name": "vera", "role": "operator"}


def test_groups_are_roles_and_teams_at_each_login(op):
    op.claims["groups"] = ["unknown", "team-red", "looks", "bosses"]
    client, _ = logged_in()
    row = client.get("/api/accounts/").json()["results"][0]
    assert (row["name"], row["role"], row["login"]) == ("vera", "admin", "provider")
    vera = get_user_model().objects.get(username="vera")
    mine = Team.objects.create(name="mine")
    Membership.objects.create(team=mine, user=vera)
    op.claims |= {"groups": "looks team-blue", "preferred_username": "vera.new"}
    again, _ = logged_in()
    assert again.get("/api/accounts/").status_code == 403
    assert client.get("/api/accounts/").status_code == 403, "at once, in all sessions"
    assert sorted(vera.teams.values_list("name", flat=True)) == ["blue", "mine"]
    assert Identity.objects.count() == 1, "the same person under another name"


def test_logging_out_ends_the_session_here_and_leads_to_the_provider(op):
    client, _ = logged_in()
    answer = client.post("/logout/")
    assert answer.headers["Location"].startswith(f"{op.address}/logout?client_id=twin&post_logout_redirect_uri=http")
    assert client.get("/api/runs/").status_code == 403
    assert person("olga", "operator").post("/logout/").headers["Location"] == "/login/"


def test_a_disabled_account_is_out_and_stays_out(op, admin):
    client, _ = logged_in()
    vera = get_user_model().objects.get(username="vera")
    admin.patch(f"/api/accounts/{vera.pk}/", {"active": False}, content_type="application/json")
    assert client.get("/api/runs/").status_code == 403
    refuses(logged_in()[1], 403, "Your account is disabled; ask an admin.")
    refused = post(admin, f"/api/accounts/{vera.pk}/reset/", {})
    assert refused.json()["detail"] == "vera logs in through the OpenID provider, which also resets the password"


def refuses(answer, status: int, sentence: str) -> None:
    assert answer.status_code == status
    assert sentence in answer.content.decode().replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("faults", "sentence"),
    [
        ({"token": {"nonce": "another"}}, "The token of the provider is not valid: JWT Nonce verification failed."),
        ({"token": {"exp": int(time.time()) - 60}}, "The token of the provider has expired"),
        ({"token": {"iss": "https://other"}}, "The token of the provider is not valid: it is from another issuer."),
        ({"token": {"aud": "other"}}, "The token of the provider is not valid: it is for another client."),
        ({"key": rsa.generate_private_key(public_exponent=65_537, key_size=2_048)}, "JWS token verification failed."),
        ({"userinfo": {"sub": "u-2"}}, "The claims of the provider are about another account."),
        ({"userinfo": {"groups": ["strangers"]}}, "Your groups at the provider (strangers) give you no role here"),
        ({"userinfo": {"groups": []}}, "The provider sent no groups, so you have no role here"),
        ({"userinfo": {"preferred_username": None}}, "The provider sent no name"),
        ({"userinfo": {"preferred_username": "admin"}}, "No account can be created for admin: name must not be"),
        ({"back": {"state": "another"}}, "This login was not started here, or it has expired; log in again."),
        ({"back": {"error": "access_denied"}}, "The provider refused the login (access_denied)."),
    ],
)
def test_a_login_that_is_not_right_is_refused_in_one_sentence(op, faults, sentence):
    op.faults = faults
    client, answer = logged_in()
    refuses(answer, 403, sentence)
    assert client.get("/api/runs/").status_code == 403
    assert not get_user_model().objects.exists()


def test_a_way_back_works_once_and_in_its_own_browser(op):
    client = Client()
    address = back(client)
    refuses(Client().get(address), 403, "This login was not started here")
    assert client.get(address).status_code == 302
    refuses(client.get(address), 403, "This login was not started here")


def test_a_name_that_is_taken_makes_no_account_and_takes_none_over(op, operator):
    op.claims["preferred_username"] = "olga"
    refuses(
        logged_in()[1], 403, "No account can be created for olga: name must be new; the account 'olga' already exists."
    )


def test_a_code_that_is_not_of_this_login_is_refused(op):
    client = Client()
    address = back(client)
    op.codes.clear()
    refuses(client.get(address), 503, "did not confirm the login; try again later.")


def test_a_provider_that_is_down_is_said_and_passwords_still_work(op):
    person("olga", "operator")
    client = Client()
    address = back(client)
    op.stop()
    refuses(client.get(address), 503, f"The OpenID provider {op.address} did not confirm the login; try again later.")
    known_provider.forget()
    refuses(Client().get(BEGIN), 503, f"The OpenID provider {op.address} does not answer; try again later.")
    words = {"username": "olga", "password": "a long enough password"}
    assert Client().post("/login/", words).headers["Location"] == "/"


def test_an_address_without_tls_is_used_on_this_machine_only(op, settings):
    settings.OIDC_ISSUER = "http://provider.example"
    refuses(Client().get(BEGIN), 503, "OIDC_ISSUER must begin with https://, got http://provider.example.")


def test_without_a_provider_there_is_no_button_and_no_address():
    assert "organization" not in Client().get("/login/").content.decode()
    assert Client().get(BEGIN).status_code == 404
