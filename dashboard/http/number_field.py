"""Fields of numbers that take no other value for a number."""

from __future__ import annotations

import math
from typing import Any

from rest_framework import serializers
from rest_framework.relations import PrimaryKeyRelatedField

MAX_ID = 2**63 - 1  # of an integer column


class NumberField(serializers.FloatField):
    """Finite number; true is not one, though Python treats it as 1, nor is the text "nan", which passes every bound."""

    def to_internal_value(self, data: Any) -> float:
        value = math.nan if isinstance(data, bool) else super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class IdField(PrimaryKeyRelatedField[Any]):
    """Number of an object; 1.5 is not one, though a query treats it as 1."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, float):
            self.fail("incorrect_type", data_type="float")
        return super().to_internal_value(data)
