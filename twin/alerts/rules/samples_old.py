"""A sampler that has not answered for a while: allocations are known, their real use is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.alerts.base import CLUSTER, Finding, Rule, Seen, because, newest
from twin.mirror.sampling import FAILING


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    minutes: float = parameter(15.0, "Maximum age of the newest samples", low=1, high=100_000, unit="min")


class SamplesOld(Rule):
    """Rule about the age of samples; at most one finding."""

    name = "samples_old"
    title = "Stale samples"
    summary = "The sampler of a live cluster fails, and its newest samples are older than the given time."
    about = (CLUSTER,)
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        samples = seen.samples
        at = samples.get("at") or samples.get("since")
        if samples.get("state") != FAILING or at is None or seen.now - at <= 60 * self.parameters.minutes:
            return ()
        return [Finding(self.name, {"at": samples.get("at"), "message": samples.get("message", "")})]

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        if values["at"] is None:
            return f"The sampler has never answered{because(values['message'])}"
        return newest("samples are", values["at"], values["message"])
