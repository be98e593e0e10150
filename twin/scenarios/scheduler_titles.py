"""Parameters of schedulers as they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling.kernel.parameters import texts
from scheduling.kernel.registry import schedulers


def parameter_texts(scheduler: str, given: Mapping[str, Any]) -> list[str]:
    """Values with the titles of their parameters; with their names if this version lacks the scheduler."""
    known = schedulers().get(scheduler)
    return texts(known.Parameters, given) if known else [f"{name} {value}" for name, value in given.items()]
