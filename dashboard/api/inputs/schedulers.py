"""GET /api/schedulers/: schedulers with the declarations of their parameters."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.openapi.answers import answer
from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers, unavailable


@extend_schema(responses={200: answer("Schedulers")})
@api_view()
def scheduler_list(request: Request) -> Response:
    """All schedulers; model: the execution model; `unavailable` gives the reason for those that cannot be used."""
    rows: dict[str, dict[str, Any]] = {
        name: {
            "name": name,
            "title": cls.title,
            "paper": cls.paper,
            "summary": cls.summary,
            "model": cls.model.name,
            "parameters": describe(cls.Parameters),
            "unavailable": None,
        }
        for name, cls in schedulers().items()
    }
    for name, reason in unavailable().items():
        empty: dict[str, Any] = {"paper": "", "summary": "", "model": "", "parameters": []}
        rows[name] = {"name": name, "title": name, **empty, "unavailable": reason}
    return Response([rows[name] for name in sorted(rows)])
