"""What a person, or a program, sees when a request fails: a page in the house style, or under /api/ one sentence as JSON."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from twin import disk


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 400, "The request was not understood", _too_many(exception) or "Go back and try again.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 403, "Not allowed", str(exception) or "Your role does not allow this.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """settings.CSRF_FAILURE_VIEW"""
    return _error(request, 403, "This page was open for too long", "Go back, load the page again, and repeat what you did.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error(request, 404, "Not found", "There is nothing at this address; it may have been deleted.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Asks neither the session nor the database: one of them may be what failed."""
    full = disk.full()
    why = f"{full[0].upper()}{full[1:]}." if full else "The server's log says what. Try again in a moment."
    context = {"title": "Something failed on the server", "message": why}
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": f"{context['title']}. {context['message']}"}, status=500)
    return HttpResponse(render_to_string("error.html", context), status=500)


def _error(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": f"{title}. {message}"}, status=status)
    return render(request, "error.html", {"title": title, "message": message}, status=status)


def _too_many(error: Exception) -> str:
    """The limit that a form is over, when that is why it was refused."""
    if isinstance(error, TooManyFieldsSent):
        return f"A form has at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} fields."
    if isinstance(error, TooManyFilesSent):
        return (
            f"A form has at most {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files; send the others in pieces, or all in one archive."
        )
    return ""
