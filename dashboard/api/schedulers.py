"""GET /api/schedulers/: what there is, with the declaration of each parameter."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from scheduling.registry import describe, schedulers


@extend_schema(responses=OpenApiTypes.OBJECT)
@api_view()
def scheduler_list(request: Request) -> Response:
    """Every scheduler."""
    return Response(
        [
            {
                "name": cls.name,
                "title": cls.title,
                "paper": cls.paper,
                "summary": cls.summary,
                "parameters": describe(cls.Parameters),
            }
            for cls in schedulers().values()
        ]
    )
