"""Body of a request, as the serializer of its view reads it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request


def body(form: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Validated values; ValidationError names the fields that are wrong."""
    read = form(data=request.data)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)
