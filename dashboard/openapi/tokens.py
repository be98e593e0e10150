"""Schemes of authentication in the OpenAPI description; drf-spectacular finds them when this module is loaded."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class Bearer(OpenApiAuthenticationExtension):
    """Token in the header Authorization: Bearer."""

    target_class = "dashboard.auth.bearer.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class BearerOrBasic(OpenApiAuthenticationExtension):
    """The same, or the token as the password of basic authentication, for senders that have only that."""

    target_class = "dashboard.auth.bearer.BearerOrBasicAuthentication"
    name = ["sourceToken", "sourceTokenAsPassword"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        return [{"type": "http", "scheme": "bearer"}, {"type": "http", "scheme": "basic"}]
