"""How often one client may ask."""

import threading

from rest_framework.throttling import SimpleRateThrottle, UserRateThrottle


class UploadThrottle(UserRateThrottle):
    """Uploads of one user."""

    scope = "upload"


class LoginThrottle(SimpleRateThrottle):
    """Attempts to log in from one address."""

    scope = "login"
    counting = threading.Lock()  # attempts in the same moment would else all be counted as the first of them

    def allow_request(self, request, view):
        with self.counting:
            return super().allow_request(request, view)

    def get_cache_key(self, request, view):
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}
