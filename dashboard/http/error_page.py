"""Errors as pages, for people who follow a link; scripts get JSON."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

TITLES = {
    400: "Invalid request", 403: "Not allowed", 404: "Not found", 405: "Not allowed", 409: "Conflict",
    429: "Too many requests", 503: "Not available",
}  # fmt: skip


def wants_page(request: HttpRequest) -> bool:
    """True if a browser follows a link, as to a download, and would show the answer as it is."""
    return request.method == "GET" and request.META.get("HTTP_ACCEPT", "").startswith("text/html")


def error_page(request: HttpRequest, status: int, message: str, title: str = "") -> HttpResponse:
    """Page of an error with one sentence."""
    context = {"title": title or TITLES.get(status, "Error"), "message": message}
    return render(request, "error.html", context, status=status)
