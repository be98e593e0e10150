"""Bodies whose unknown fields are refused: a misspelt field is reported, not ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from scheduling.model.known_names import unknown


class KnownFields(serializers.Serializer[Any]):
    """Base of serializers of request bodies."""

    def to_internal_value(self, data: Any) -> Any:
        """Validated values; the error of an unknown field names the nearest one."""
        if isinstance(data, Mapping):
            known = [name for name, field in self.fields.items() if not field.read_only]
            wrong = [name for name in data if name not in known]
            if wrong:
                raise serializers.ValidationError({wrong[0]: [f"{unknown('field of the body', wrong[0], known)}."]})
        return super().to_internal_value(data)
