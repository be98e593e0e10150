"""The edit that puts another scheduler in charge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scheduling.model import ModelError
from scheduling.registry import Parameters, build, parameter
from twin.edits.base import Edit, World


@dataclass(frozen=True, slots=True)
class _Scheduler(Parameters):
    scheduler: str = parameter("fifo", "which one")
    parameters: str = parameter("", "name=value, several between blanks; what is not named has its default")


class ChangeScheduler(Edit):
    """Another scheduler, or other parameters."""

    name, title, about = (
        "change_scheduler",
        "Change the scheduler",
        "Another scheduler is in charge, or the same with other parameters.",
    )
    Parameters = _Scheduler

    def apply(self, world: World) -> World:
        if self.whole:
            raise ModelError("the scenario names the scheduler that begins; change it there, or choose a later moment")
        given = self._given()
        scheduler = build(self.parameters.scheduler, given)
        scheduler.check(world.cluster)
        return replace(world, scheduler=scheduler.name, parameters=given)

    def _given(self) -> dict[str, Any]:
        words = self.parameters.parameters.split()
        for word in words:
            if "=" not in word:
                raise ModelError(f"parameters must be name=value between blanks, got {word!r}")
        return dict(word.split("=", 1) for word in words)

    def _words(self) -> str:
        p = self.parameters
        return f"{p.scheduler} is in charge" + (f" with {p.parameters}" if p.parameters else "")
