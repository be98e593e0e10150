"""Permission to post events of a source: tokens of the source whose account is an operator and sees its cluster."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dashboard.auth.bearer import BadToken
from dashboard.auth.roles import is_operator
from dashboard.auth.visible import source_refused
from dashboard.models import ApiToken


class Ingest(BasePermission):
    """Tokens with the scope of the source in the address."""

    def has_permission(self, request: Request, view: Any) -> bool:
        source, token = view.kwargs["source"], request.auth
        if not isinstance(token, ApiToken):
            raise BadToken(f"Events are posted with a token of the scope ingest:{source}: Authorization: Bearer TOKEN.")
        if f"ingest:{source}" not in token.scopes:
            self.message = (
                f"The token {token.name!r} is limited to {', '.join(token.scopes)}; this source needs ingest:{source}."
            )
        elif refused := source_refused(source, request.user):
            self.message = f"{refused[0].upper()}{refused[1:]}."
        elif not is_operator(request.user):
            self.message = f"The account of the token {token.name!r} no longer has the operator role."
        else:
            return True
        return False
