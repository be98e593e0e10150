"""Run-time predictors: what jobs that have ended say of a job that has not. One file each.

A file of this folder defines a subclass of `Predictor`, or of `HistoryPredictor`, with its name. Predictors know only
jobs that have ended before.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from scheduling.run_times.history import HistoryPredictor
from scheduling.run_times.predictor import Predictor


@cache
def predictors() -> dict[str, type[Predictor]]:
    """{name: class} of all predictors, by name."""
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    bases: tuple[type[Any], ...] = (Predictor, HistoryPredictor)
    classes = [cls for base in bases for cls in base.__subclasses__() if "name" in vars(cls)]
    return {cls.name: cls for cls in sorted(classes, key=lambda cls: cls.name)}
