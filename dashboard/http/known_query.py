"""GET requests with unknown query parameters are refused: a misspelt one is reported, not ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dashboard.http.paging import Paging
from scheduling.model.known_names import unknown
from scheduling.model.values import ModelError, shorten

PAGING = (Paging.page_query_param, Paging.page_size_query_param)
_declared: dict[tuple[type[Any], str], tuple[str, ...]] = {}  # by view and action


class KnownQuery(BasePermission):
    """Refusal of a parameter that the schema of the view does not declare."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.method == "GET":
            known = _known(view)
            wrong = next((name for name in request.query_params if name not in known), None)
            if wrong is not None and known:
                raise ModelError(unknown("query parameter", wrong, known))
            if wrong is not None:
                raise ModelError(f"unknown query parameter {shorten(wrong)!r}; this address has none")
        return True


def _known(view: Any) -> tuple[str, ...]:
    """Query parameters of the action of a view, as declared by `extend_schema`."""
    key = (type(view), getattr(view, "action", None) or "get")
    if key not in _declared:
        _declared[key] = tuple(dict.fromkeys(_read(view, key[1])))
    return _declared[key]


def _read(view: Any, action: str) -> Iterator[str]:
    made = getattr(getattr(view, action, None), "kwargs", {}).get("schema")
    if made is not None:
        schema = made()
        schema.view, schema.method = view, "GET"
        for one in schema.get_override_parameters():
            if not isinstance(one, OpenApiParameter):  # a serializer
                yield from one().fields
            elif one.location == OpenApiParameter.QUERY:
                yield one.name
    if action == "list" and getattr(view, "pagination_class", None) is not None:
        yield from PAGING
