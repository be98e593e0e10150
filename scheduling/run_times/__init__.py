"""Run-time predictors: what jobs that have ended say of a job that has not. One file each.

A file of this folder defines a subclass of `Predictor` with its name. Predictors know only jobs that have ended before.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from scheduling.run_times.predictor import Predictor


@cache
def predictors() -> dict[str, type[Predictor]]:
    """{name: class} of all predictors, by name."""
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    return {cls.name: cls for cls in sorted(Predictor.__subclasses__(), key=lambda cls: cls.name)}
