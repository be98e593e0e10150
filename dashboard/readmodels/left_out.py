"""Sentences about what a page would list if its file could be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import experiments
from scheduling import run_times
from scheduling.kernel.menus import Menu
from twin.alerts import base as alerts
from twin.connectors import base as connectors
from twin.samplers import base as samplers
from twin.scenarios import edits
from twin.studies.gallery import starting
from twin.traces.importing import formats

MENUS: Mapping[str, tuple[Menu[Any], ...]] = {
    "alerts.html": (alerts.MENU,), "connect.html": (connectors.MENU, samplers.MENU),
    "experiments.html": (experiments.MENU,), "fidelity.html": (run_times.MENU,),
    "overview.html": (starting.MENU,), "scenario.html": (edits.MENU,), "scenarios.html": (starting.MENU,),
    "trace.html": (formats.MENU,),
}  # fmt: skip


def left_out(template: str) -> list[str]:
    """Sentences for the page of that template."""
    return [f"{sentence[0].upper()}{sentence[1:]}" for menu in MENUS.get(template, ()) for sentence in menu.refusals()]
