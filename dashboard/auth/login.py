"""Login by one-time link or by name and password, passwords that people set for themselves, and logout."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import LoginView, PasswordChangeView, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.auth import accounts
from dashboard.auth.login_links import redeem
from dashboard.auth.oidc.provider import is_on
from dashboard.auth.oidc.views import logout_address
from dashboard.auth.roles import VIEWER, require
from dashboard.http.throttles import too_often


@method_decorator(login_not_required, name="dispatch")
class PasswordLogin(LoginView):
    """Name and password."""

    http_method_names = ("get", "head", "post")
    template_name = "login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        """The form, and the title of the button of the OpenID provider, if there is one."""
        return super().get_context_data(**given) | {"provider": settings.OIDC_TITLE if is_on() else ""}

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        return too_often(request) or super().post(request, *args, **kwargs)


@method_decorator(login_not_required, name="dispatch")
class PasswordSet(PasswordResetConfirmView):
    """First or new password of an account, by the one-time link of an admin; its owner is then logged in."""

    http_method_names = ("get", "head", "post")
    template_name = "password_set.html"
    success_url = reverse_lazy("overview")
    post_reset_login = True
    post_reset_login_backend = "django.contrib.auth.backends.ModelBackend"

    def get_user(self, uidb64: str) -> Any:
        """The account of the link; None for one that is disabled."""
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return too_often(request) or super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: SetPasswordForm[Any]) -> HttpResponse:
        answer = super().form_valid(form)
        accounts.record_password(self.user)
        return answer


class OwnAccount(PasswordChangeView):
    """Own account: role, and a form that changes the password. Other sessions of the account end with a change."""

    http_method_names = ("get", "head", "post")
    template_name = "account.html"
    success_url = reverse_lazy("account")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        require(request.user, VIEWER, "This page")
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        require(request.user, VIEWER, "This page")
        return too_often(request) or super().post(request, *args, **kwargs)

    def form_valid(self, form: SetPasswordForm[Any]) -> HttpResponse:
        super().form_valid(form)
        accounts.record_password(self.request.user)
        fresh = PasswordChangeForm(user=self.request.user)
        return self.render_to_response(self.get_context_data(form=fresh, saved=True))


@login_not_required
@never_cache
@require_safe
def link(request: HttpRequest, token: str) -> HttpResponse:
    """Login of the first person to open the link. HEAD (link previews) neither uses it up nor writes to the log."""
    if request.method == "HEAD":
        return HttpResponse()
    refused = too_often(request)
    if refused is not None:
        return refused
    user = redeem(token)
    if user is None:
        context = {
            "title": "This link is no longer valid",
            "message": "A login link works once, within a day. Create a new one on the host of the twin:",
            "command": "manage.py login_link --role admin",
        }
        return render(request, "error.html", context, status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(settings.LOGIN_REDIRECT_URL)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """End of the session, and that at the OpenID provider by which it began."""
    onward = logout_address(request)
    logout(request)
    return redirect(onward or settings.LOGIN_URL)
