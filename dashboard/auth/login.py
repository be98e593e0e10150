"""Login by one-time link or by name and password, and logout."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dashboard.auth.login_links import redeem
from dashboard.http.throttles import LoginThrottle


def _too_often(request: HttpRequest) -> HttpResponse | None:
    if LoginThrottle().allow_request(request, None):
        return None
    return render(
        request, "error.html", {"title": "Too many attempts", "message": "Wait a minute, then try again."}, status=429
    )


@method_decorator(login_not_required, name="dispatch")
class PasswordLogin(LoginView):
    """Name and password."""

    http_method_names = ("get", "head", "post")
    template_name = "login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        return _too_often(request) or super().post(request, *args, **kwargs)


@login_not_required
@never_cache
@require_safe
def link(request: HttpRequest, token: str) -> HttpResponse:
    """Login of the first person to open the link. HEAD (link previews) neither uses it up nor writes to the log."""
    if request.method == "HEAD":
        return HttpResponse()
    refused = _too_often(request)
    if refused is not None:
        return refused
    user = redeem(token)
    if user is None:
        context = {
            "title": "This link has expired",
            "message": "A login link works once, within a day. Create a new one with: manage.py login_link",
        }
        return render(request, "error.html", context, status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(settings.LOGIN_REDIRECT_URL)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """Ends the session."""
    logout(request)
    return redirect(settings.LOGIN_URL)
