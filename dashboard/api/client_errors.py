"""Errors of browsers, written to the log of the web process."""

from __future__ import annotations

import logging
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.http.body import body
from dashboard.http.throttles import ClientErrorThrottle

log = logging.getLogger(__name__)


class ClientErrorSerializer(serializers.Serializer[Any]):
    """Error report of a page."""

    message = serializers.CharField(max_length=500)
    page = serializers.CharField(max_length=500)
    stack = serializers.CharField(max_length=4_000, allow_blank=True, default="")


class ClientErrorView(APIView):
    """POST /api/client-errors/, for viewers and operators."""

    read_only = ("post",)
    throttle_classes = (ClientErrorThrottle,)

    @extend_schema(request=ClientErrorSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Writes one line to the log; values from the browser are quoted to prevent log injection."""
        report = body(ClientErrorSerializer, request)
        log.error(
            "in the browser of %s at %r: %r, %r",
            request.user.get_username(),
            report["page"],
            report["message"],
            report["stack"],
        )
        return Response(status=status.HTTP_204_NO_CONTENT)
