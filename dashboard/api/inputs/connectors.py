"""GET /api/connectors/: connectors and samplers with the declarations of their parameters, and the site rule."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.openapi.answers import answer
from scheduling.kernel.parameters import describe
from twin.connectors.base import Connector, connector_class, names
from twin.mirror.nodes.sites import SiteRule
from twin.samplers import base as samplers


@extend_schema(responses={200: answer("Connectors")})
@api_view()
def connector_list(request: Request) -> Response:
    """{connectors: [{name, title, summary, parameters, polled}], samplers, sites}.

    polled: whether the interval of the connection applies. samplers have the same fields except polled.
    """
    found = [connector_class(name) for name in names()]
    rows = [
        {
            "name": cls.name,
            "title": cls.title,
            "summary": cls.summary,
            "parameters": describe(cls.Parameters),
            "polled": cls.changes is Connector.changes,
        }
        for cls in found
    ]
    return Response({"connectors": rows, "samplers": _samplers(), "sites": describe(SiteRule)})


def _samplers() -> list[dict[str, Any]]:
    return [
        {"name": cls.name, "title": cls.title, "summary": cls.summary, "parameters": describe(cls.Parameters)}
        for cls in map(samplers.sampler_class, samplers.names())
    ]
