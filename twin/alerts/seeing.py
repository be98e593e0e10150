"""State of a target as rules see it: each fact is read once, when the first rule asks for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from twin.alerts.base import Data
from twin.alerts.targets import Target
from twin.analysis import situation
from twin.mirror.connecting.condition import PAUSED, condition
from twin.mirror.reached import reached_ms
from twin.models import Connection, Forecasting, Run
from twin.processes import vitals
from twin.processes.vitals import Vitals
from twin.runs.activity import activity
from twin.runs.commands.control import now_ms

T = TypeVar("T")


class TargetFacts:
    """Facts about a target at this moment (base.Seen). What cannot be read fails for every rule that needs it."""

    def __init__(self, target: Target, known: Callable[[], Vitals] = vitals.take) -> None:
        self.target, self.run, self.connection, self.known = target, target.run, target.connection, known
        self.now = time.time()
        self._found: dict[str, Any] = {}
        self._failed: dict[str, Exception] = {}

    @cached_property
    def now_ms(self) -> int:
        if self.run is None:
            return 0
        if self.connection:
            return reached_ms(self.run, self._connection.health)
        return now_ms(self.run)

    @property
    def situation(self) -> situation.Situation | None:
        run = self.run
        return None if run is None or not run.last_seq else self._once("situation", lambda: situation.situation(run))

    @cached_property
    def data(self) -> Data:
        found = condition(self._connection, self.now)
        since = found.since if found.seen_at is None else found.seen_at
        age_s = None if since is None or found.state == PAUSED else max(0.0, self.now - since)
        return Data(found.state, age_s, found.seen_at, found.message)

    @property
    def samples(self) -> dict[str, Any]:
        found = self._connection.health.get("samples") or {}
        return found if self._connection.sampler and found.get("sampler") == self._connection.sampler else {}

    @cached_property
    def forecasts(self) -> dict[str, Any]:
        kept = Forecasting.objects.filter(pk=self._connection.pk).only("figures", "made_ms").first()
        if kept is None:
            return {}
        offset_ms = self._connection.health.get("clock_offset_ms") or 0
        made_at = None if kept.made_ms is None else (kept.made_ms - offset_ms) / 1000
        return {name: kept.figures.get(name) for name in ("coverage", "calibration")} | {"made_at": made_at}

    @property
    def drift(self) -> dict[str, Any]:
        drift = self._connection.drift
        return drift if drift.get("run") == self._connection.run_id and drift.get("checked_at") else {}

    @property
    def activity(self) -> dict[str, Any] | None:
        return None if self.run is None or self.run.status not in Run.ACTIVE else activity(self.run, self.known())

    @property
    def _connection(self) -> Connection:
        assert self.connection is not None, "a rule about clusters was asked about a run"
        return self.connection

    def _once(self, name: str, read: Callable[[], T]) -> T:
        """The result of the first call, or the error that it ended with."""
        if name in self._failed:
            raise self._failed[name]
        if name not in self._found:
            try:
                self._found[name] = read()
            except Exception as error:
                self._failed[name] = error
                raise
        found: T = self._found[name]
        return found
