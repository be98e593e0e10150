"""Run-time predictors: what jobs that have ended say of a job that has not. One file each.

A file of this folder defines a subclass of `Predictor`, or of `HistoryPredictor`, with its name. Predictors know only
jobs that have ended before.
"""

from __future__ import annotations

from scheduling.kernel.menus import Menu, defined
from scheduling.run_times.predictor import Predictor

MENU: Menu[type[Predictor]] = Menu(
    "predictor", __name__, lambda module: [(cls.name, cls) for cls in defined(module, Predictor)]
)
predictors = MENU.available  # {name: class} of all predictors
