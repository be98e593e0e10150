"""A live cluster whose data are old, because it does not answer or the follower does not poll it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.alerts.base import CLUSTER, SERIOUS, Finding, Rule, Seen, because, newest


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    seconds: float = parameter(60.0, "Maximum age of the newest data", low=5, high=1_000_000, unit="s")


class DataOld(Rule):
    """Rule about the age of data; at most one finding."""

    name = "data_old"
    title = "Stale data"
    summary = "The newest data of a live cluster are older than the given time."
    level = SERIOUS
    about = (CLUSTER,)
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        data = seen.data
        if data.age_s is None or data.age_s <= self.parameters.seconds:
            return ()
        code = "data_old" if data.seen_at is not None else "no_data"
        return [Finding(code, {"state": data.state, "seen_at": data.seen_at, "message": data.message})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        if code == "no_data":
            return f"There are no data of the cluster yet{because(values['message'])}"
        return newest("data are", values["seen_at"], values["message"])
