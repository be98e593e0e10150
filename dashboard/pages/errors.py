"""Error responses: an HTML page, or one sentence as JSON for requests of scripts under /api/."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from dashboard.http.error_page import error_page, wants_page
from twin.infra import disk

NO_PAGE = "This page does not exist; it may have been deleted."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 400, "Invalid request", _too_many(exception) or "Go back and try again.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 403, "Not allowed", str(exception) or "Your role does not allow this.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """settings.CSRF_FAILURE_VIEW"""
    return _error(request, 403, "The form has expired", "Go back, reload the page, and repeat the action.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    said = exception.args[0] if exception.args else None  # of an unknown address: a dict of Django's resolver
    return _error(request, 404, "Not found", said if isinstance(said, str) else NO_PAGE)


def server_error(request: HttpRequest) -> HttpResponse:
    """Server error page; does not use the session or the database, which may have failed."""
    full = disk.full()
    why = f"{full[0].upper()}{full[1:]}." if full else "See the log of the server. Try again later."
    context = {"title": "Server error", "message": why}
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": f"{context['title']}. {context['message']}"}, status=500)
    return HttpResponse(render_to_string("error.html", context), status=500)


def _error(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    if request.path.startswith("/api/") and not wants_page(request):
        return JsonResponse({"detail": f"{title}. {message}"}, status=status)
    return error_page(request, status, message, title)


def _too_many(error: Exception) -> str:
    """Limit that a refused form exceeds, if any."""
    if isinstance(error, TooManyFieldsSent):
        return f"A form has at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields."
    if isinstance(error, TooManyFilesSent):
        return f"A form has at most {settings.DATA_UPLOAD_MAX_NUMBER_FILES:,} files; upload an archive instead."
    return ""
