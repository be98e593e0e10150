"""The provider: its addresses, discovered from the issuer, and errors in words for the person who logs in."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings

TIMEOUT_S = 5.0  # of one request to the provider
KEEP_S = 3_600.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_known: dict[str, tuple[float, dict[str, Any]]] = {}  # by issuer: when it was read, and what it said


class LoginRefused(Exception):
    """Error: the login is refused; the sentence is shown to the person."""


class ProviderDown(Exception):
    """Error: the provider does not answer as it should; the sentence is shown to the person."""


def is_on() -> bool:
    """True if the settings name a provider."""
    return bool(settings.OIDC_ISSUER)


def discovered(name: str) -> str:
    """An address of the provider, such as token_endpoint; ProviderDown where it cannot be read."""
    issuer = settings.OIDC_ISSUER
    at, found = _known.get(issuer, (float("-inf"), {}))
    if time.monotonic() - at > KEEP_S:
        found = _read(issuer)
        _known[issuer] = time.monotonic(), found
    if not isinstance(found.get(name), str):
        raise ProviderDown(f"The OpenID provider {issuer} states no {name}.")
    return str(found[name])


def forget() -> None:
    """Removal of the stored addresses, which are read again at the next login."""
    _known.clear()


def _read(issuer: str) -> dict[str, Any]:
    parts = urlsplit(issuer)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise ProviderDown(f"OIDC_ISSUER must begin with https://, got {issuer}.")
    try:
        answer = requests.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration", timeout=TIMEOUT_S)
        answer.raise_for_status()
        found = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise ProviderDown(f"The OpenID provider {issuer} does not answer; try again later.") from error
    if not isinstance(found, dict) or found.get("issuer") != issuer:
        raise ProviderDown(f"The OpenID provider {issuer} identifies itself as another issuer; check OIDC_ISSUER.")
    return found
