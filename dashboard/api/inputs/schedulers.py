"""GET /api/schedulers/: schedulers with the declarations of their parameters."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.inputs.offered import offered
from dashboard.openapi.answers import answer
from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers, unavailable
from scheduling.kernel.scheduler import BaseScheduler


@extend_schema(responses={200: answer("Schedulers")})
@api_view()
def scheduler_list(request: Request) -> Response:
    """All schedulers; model: the execution model; `unavailable` gives the reason for those that cannot be used."""
    return Response(
        offered(schedulers(), unavailable(), _row, {"paper": "", "summary": "", "model": "", "parameters": []})
    )


def _row(cls: type[BaseScheduler]) -> dict[str, Any]:
    return {
        "title": cls.title, "paper": cls.paper, "summary": cls.summary, "model": cls.model.name,
        "parameters": describe(cls.Parameters),
    }  # fmt: skip
