"""Backend of Django for logins by the provider: checks of the token, and the account of a person."""

from __future__ import annotations

from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from dashboard.auth import accounts, teams
from dashboard.auth.oidc.claims import Person, person_of
from dashboard.auth.oidc.provider import TIMEOUT_S, LoginRefused, ProviderDown, discovered
from dashboard.models import Identity
from scheduling.model.values import ModelError
from twin.models import Membership, Team


def setting(name: str, *default: Any) -> Any:
    """A setting of mozilla-django-oidc: ours, an address of the provider, or its default."""
    own = {
        "OIDC_RP_CLIENT_ID": settings.OIDC_CLIENT_ID,
        "OIDC_RP_CLIENT_SECRET": settings.OIDC_CLIENT_SECRET,
        "OIDC_RP_SIGN_ALGO": "RS256",
        "OIDC_RP_SCOPES": settings.OIDC_SCOPES,
        "OIDC_USE_PKCE": True,
        "OIDC_TIMEOUT": TIMEOUT_S,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "oidc-callback",
        "LOGIN_REDIRECT_URL": settings.LOGIN_REDIRECT_URL,
    }
    if name == "OIDC_OP_AUTHORIZATION_ENDPOINT":
        return discovered("authorization_endpoint")
    return own[name] if name in own else default[0] if default else None


class ProviderBackend(OIDCAuthenticationBackend):
    """Accounts by the subject of the token; role and teams are those of the groups, at each login."""

    get_settings = staticmethod(setting)

    def __init__(self) -> None:
        """Backend that has read no address yet: Django creates one for each request."""
        self.OIDC_RP_CLIENT_ID, self.OIDC_RP_CLIENT_SECRET = settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET
        self.OIDC_RP_SIGN_ALGO, self.OIDC_RP_IDP_SIGN_KEY = "RS256", None
        self.UserModel = get_user_model()

    @property
    def OIDC_OP_TOKEN_ENDPOINT(self) -> str:
        """Address of tokens."""
        return discovered("token_endpoint")

    @property
    def OIDC_OP_JWKS_ENDPOINT(self) -> str:
        """Address of the keys."""
        return discovered("jwks_uri")

    @property
    def OIDC_OP_USER_ENDPOINT(self) -> str:
        """Address of further claims."""
        return discovered("userinfo_endpoint")

    def authenticate(self, request: HttpRequest | None, **given: Any) -> Any:
        """The account of a login by the provider, else LoginRefused or ProviderDown; None for other logins."""
        if "nonce" not in given:
            return None
        try:
            return super().authenticate(request, **given)
        except jwt.ExpiredSignatureError as error:
            raise LoginRefused("The token of the provider has expired; check the clocks, and log in again.") from error
        except (SuspiciousOperation, jwt.InvalidTokenError, KeyError, TypeError) as error:
            raise LoginRefused(f"The token of the provider is not valid: {error}") from error
        except (requests.RequestException, ValueError) as error:
            issuer = settings.OIDC_ISSUER
            raise ProviderDown(f"The OpenID provider {issuer} did not confirm the login; try again later.") from error

    def verify_token(self, token: str, **given: Any) -> dict[str, Any]:
        """Claims of a token: signature, time and nonce by the library; issuer and audience here."""
        claims = dict(super().verify_token(token, **given))
        audience = claims.get("aud")
        if claims.get("iss") != settings.OIDC_ISSUER:
            raise SuspiciousOperation("it is from another issuer.")
        if settings.OIDC_CLIENT_ID not in (audience if isinstance(audience, list) else [audience]):
            raise SuspiciousOperation("it is for another client.")
        if "exp" not in claims:
            raise SuspiciousOperation("it has no expiry.")
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> Any:
        """Account of the claims in the token and at the userinfo endpoint."""
        more = self.get_userinfo(access_token, id_token, payload)
        if more.get("sub") != payload.get("sub"):
            raise LoginRefused("The claims of the provider are about another account.")
        return account_of(person_of({**more, **payload}))

    def get_user(self, user_id: int) -> Any:
        """The account of a session, unless it is disabled."""
        return ModelBackend.get_user(self, user_id)


def account_of(person: Person) -> Any:
    """The account of the person, new at the first login, with the role and teams of the groups."""
    with transaction.atomic():
        same = Identity.objects.filter(issuer=settings.OIDC_ISSUER, subject=person.subject)
        known = same.select_related("user").first()
        if known is None:
            try:
                user = accounts.create(person.name, person.role, by=None)
            except ModelError as error:
                raise LoginRefused(f"No account can be created for {person.name}: {error}.") from error
            Identity.objects.create(issuer=settings.OIDC_ISSUER, subject=person.subject, user=user)
        else:
            user = known.user
            accounts.set_role(user, person.role, by=None)
        if not user.is_active:
            raise LoginRefused("Your account is disabled; ask an admin.")
        _set_teams(user, person.teams)
    return user


def _set_teams(user: Any, names: tuple[str, ...]) -> None:
    """Memberships according to the current groups; those that an admin added are kept."""
    for name in names:
        team = Team.objects.filter(name=name).first() or teams.create(name, by=None)
        teams.add(team, user, by=None, provided=True)
    for row in Membership.objects.filter(user=user, provided=True).exclude(team__name__in=names).select_related("team"):
        teams.take_out(row.team, user, by=None)
