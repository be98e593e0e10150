"""Rate limits per client."""

import threading
import time

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle, UserRateThrottle

from dashboard.models import ApiToken

MAX_REQUESTS, MAX_EVENTS = 50, 5_000  # of one token in a second, and at once after a pause


class SessionThrottle(UserRateThrottle):
    """Requests of one user; those of tokens are counted by TokenThrottle."""

    def allow_request(self, request, view):
        return isinstance(request.auth, ApiToken) or super().allow_request(request, view)


class Allowance:
    """Token buckets by key that refill steadily, up to one second's amount."""

    MAX_KEYS = 10_000

    def __init__(self, rate: int, now=time.monotonic) -> None:
        self.rate, self.now = rate, now
        self.left: dict[int, tuple[float, float]] = {}  # key -> (amount, when)
        self.counting = threading.Lock()

    def take(self, key: int, amount: int) -> float:
        """0 if the amount is available and taken; otherwise the seconds until it is available, and none is taken."""
        with self.counting:
            now = self.now()
            if len(self.left) > self.MAX_KEYS:
                self.left = {known: entry for known, entry in self.left.items() if now - entry[1] < 1}
            left, since = self.left.get(key, (float(self.rate), now))
            left = min(self.rate, left + (now - since) * self.rate)
            enough = left >= amount
            self.left[key] = (left - amount if enough else left, now)
        return 0.0 if enough else (amount - left) / self.rate


requests, events = Allowance(MAX_REQUESTS), Allowance(MAX_EVENTS)


class TokenThrottle(BaseThrottle):
    """Requests of one token."""

    def allow_request(self, request, view):
        self.wait_s = requests.take(request.auth.pk, 1) if isinstance(request.auth, ApiToken) else 0.0
        return not self.wait_s

    def wait(self):
        return self.wait_s


class UploadThrottle(UserRateThrottle):
    """Uploads of one user."""

    scope = "upload"


class ClientErrorThrottle(UserRateThrottle):
    """Error reports of the browsers of one user."""

    scope = "client-error"


class LoginThrottle(SimpleRateThrottle):
    """Attempts to log in from one address."""

    scope = "login"
    counting = threading.Lock()  # otherwise simultaneous attempts would all count as the first

    def allow_request(self, request, view):
        with self.counting:
            return super().allow_request(request, view)

    def get_cache_key(self, request, view):
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}


def too_often(request: HttpRequest) -> HttpResponse | None:
    """The answer to too many attempts to log in; None while there are not too many."""
    if LoginThrottle().allow_request(request, None):
        return None
    return render(
        request, "error.html", {"title": "Too many attempts", "message": "Wait a minute, then try again."}, status=429
    )
