"""Login by the provider: the way there, and the way back, with a code."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from dashboard.auth.oidc import provider
from dashboard.auth.oidc.backend import ProviderBackend, setting
from dashboard.http.throttles import too_often

NOT_BEGUN = "This login was not started here, or it has expired; log in again."
log = logging.getLogger(__name__)
BACKEND = f"{ProviderBackend.__module__}.{ProviderBackend.__qualname__}"


class _InWords:
    """Mixin of the two views: every error is one page with one sentence."""

    get_settings = staticmethod(setting)

    def dispatch(self, request: HttpRequest, *args: Any, **given: Any) -> HttpResponseBase:
        if not provider.is_on():
            raise Http404("No OpenID provider is configured.")
        refused = too_often(request)
        if refused is not None:
            return refused
        try:
            answer: HttpResponseBase = super().dispatch(request, *args, **given)  # type: ignore[misc]  # of the view
            return answer
        except provider.ProviderDown as error:
            log.warning("login through the OpenID provider: %s (%s)", error, error.__cause__)
            return failed(request, str(error), 503)
        except provider.LoginRefused as error:
            return failed(request, str(error), 403)
        except SuspiciousOperation:
            return failed(request, NOT_BEGUN, 403)


@method_decorator([login_not_required, never_cache], name="dispatch")
class ProviderLogin(_InWords, OIDCAuthenticationRequestView):
    """The way to the provider, with state, nonce and PKCE."""

    def __init__(self, **given: Any) -> None:
        super(OIDCAuthenticationRequestView, self).__init__(**given)
        self.OIDC_RP_CLIENT_ID = settings.OIDC_CLIENT_ID

    @property
    def OIDC_OP_AUTH_ENDPOINT(self) -> str:
        """Address of the provider's login."""
        return provider.discovered("authorization_endpoint")


@method_decorator([login_not_required, never_cache], name="dispatch")
class ProviderCallback(_InWords, OIDCAuthenticationCallbackView):
    """The way back: the code is exchanged for a token, and the session begins."""

    def login_success(self) -> HttpResponse:
        answer: HttpResponse = super().login_success()
        self.request.session.set_expiry(settings.OIDC_SESSION_S)
        return answer

    def login_failure(self) -> HttpResponse:
        said = self.request.GET.get("error", "")
        why = f"The provider refused the login ({said[:80]})." if said else NOT_BEGUN
        return failed(self.request, why, 403)


def failed(request: HttpRequest, why: str, status: int) -> HttpResponse:
    """The page of a login that failed."""
    return render(request, "error.html", {"title": "Login failed", "message": why}, status=status)


def logout_address(request: HttpRequest) -> str:
    """Address at which the session at the provider ends too; empty for other sessions or without such an address."""
    if not provider.is_on() or request.session.get(BACKEND_SESSION_KEY) != BACKEND:
        return ""
    try:
        end = provider.discovered("end_session_endpoint")
    except provider.ProviderDown:
        return ""
    back = request.build_absolute_uri(settings.LOGIN_URL)
    return f"{end}?{urlencode({'client_id': settings.OIDC_CLIENT_ID, 'post_logout_redirect_uri': back})}"
