"""Edit that changes the scheduler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.kernel.registry import build, schedulers
from scheduling.model.values import ModelError
from twin.scenarios.edits.base import Edit, ScenarioState
from twin.scenarios.scheduler_titles import parameter_texts


@dataclass(frozen=True, slots=True)
class _Scheduler(Parameters):
    scheduler: str = parameter("fifo", "New scheduler")
    parameters: str = parameter("", "Name=value pairs, separated by spaces; other parameters keep their defaults")


class ChangeScheduler(Edit):
    """Change of the scheduler or its parameters."""

    name, title, about = (
        "change_scheduler",
        "Change the scheduler",
        "Changes the scheduler or its parameters.",
    )
    later = True
    Parameters = _Scheduler

    @classmethod
    def form(cls) -> list[dict[str, Any]]:
        titles = {name: scheduler.title for name, scheduler in schedulers().items()}
        rows = super().form()
        return [
            row | {"choices": list(titles), "titles": titles} if row["name"] == "scheduler" else row for row in rows
        ]

    def apply(self, state: ScenarioState) -> ScenarioState:
        if self.whole:
            raise ModelError("the initial scheduler is part of the scenario; change it there, or choose a later time")
        return replace(state, scheduler=self.parameters.scheduler, parameters=self._given())

    def _check(self, after: ScenarioState) -> None:
        build(self.parameters.scheduler, self._given()).check(after.cluster)

    def _given(self) -> dict[str, Any]:
        words = self.parameters.parameters.split()
        for word in words:
            if "=" not in word:
                raise ModelError(f"parameters must be name=value pairs separated by spaces, got {word!r}")
        return dict(word.split("=", 1) for word in words)

    def _words(self) -> str:
        p, known = self.parameters, schedulers().get(self.parameters.scheduler)
        title = known.title if known else p.scheduler
        pairs = dict(word.partition("=")[::2] for word in p.parameters.split())
        chosen = ", ".join(text[:1].lower() + text[1:] for text in parameter_texts(p.scheduler, pairs))
        return f"Change the scheduler to {title}" + (f" with {chosen}" if chosen else "")
