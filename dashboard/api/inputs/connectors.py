"""GET /api/connectors/: connectors and samplers with the declarations of their parameters, and the site rule."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.inputs.offered import offered_by
from dashboard.openapi.answers import answer
from scheduling.kernel.parameters import describe
from twin.connectors import base as connectors
from twin.connectors.base import Connector
from twin.mirror.nodes.sites import SiteRule
from twin.samplers import base as samplers
from twin.samplers.base import Sampler

EMPTY: dict[str, Any] = {"summary": "", "parameters": []}


@extend_schema(responses={200: answer("Connectors")})
@api_view()
def connector_list(request: Request) -> Response:
    """{connectors: [{name, title, summary, parameters, polled, unavailable}], samplers, sites}.

    polled: whether the interval of the connection applies. unavailable: why it cannot be used. samplers have the same
    fields except polled.
    """
    return Response({
        "connectors": offered_by(connectors.MENU, _connector, {**EMPTY, "polled": False}),
        "samplers": offered_by(samplers.MENU, _declared, EMPTY), "sites": describe(SiteRule),
    })  # fmt: skip


def _connector(cls: type[Connector]) -> dict[str, Any]:
    return {**_declared(cls), "polled": cls.changes is Connector.changes}


def _declared(cls: type[Connector] | type[Sampler]) -> dict[str, Any]:
    return {"title": cls.title, "summary": cls.summary, "parameters": describe(cls.Parameters)}
