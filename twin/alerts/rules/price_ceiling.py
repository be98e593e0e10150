"""Prices at their ceiling, at which no job is admitted.

The price of a resource on a server is L (U / L) ** (allocated / capacity) (scheduling/slotted/pricing/prices.py): on a
logarithmic scale, its position between the floor L and the ceiling U is the share of the resource that is allocated.
The share of a site therefore states how close its prices are to the ceiling, without the bounds, which no event has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.alerts.base import RUN, Finding, Rule, Seen, since

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Thresholds(Parameters):
    """Thresholds of the rule."""

    percent: float = parameter(
        95.0,
        "Minimum position of a price between its floor and its ceiling, on a logarithmic scale",
        low=50,
        high=100,
        unit="%",
    )
    minutes: float = parameter(
        60.0, "Minimum time at the ceiling (at most the overview window)", low=0, high=100_000, unit="min"
    )


class PriceCeiling(Rule):
    """One finding for each resource of a site."""

    name = "price_ceiling"
    title = "Price at its ceiling"
    summary = "The price of a resource at a site is at or near its ceiling, at which no job is admitted."
    about = (RUN,)
    Parameters = Thresholds

    def check(self, seen: Seen) -> Sequence[Finding]:
        if seen.situation is None or seen.situation.facts.prices is None:
            return ()
        load, facts = seen.situation.shown["load"], seen.situation.facts
        if load["measure"] != "resources":
            return ()
        times = load["curve"]["at_ms"]
        least_ms = min(self.parameters.minutes * MINUTE_MS, times[-1] - times[0])
        found = []
        for site, curves in facts.site_shares.items():
            for resource, shares in zip(load["scale"], curves, strict=True):
                since_ms = _since(times, shares, self.parameters.percent / 100)
                price = (facts.prices or {}).get(site, {}).get(resource)
                if since_ms is not None and price and times[-1] - since_ms >= least_ms:
                    values = {"site": site, "resource": resource, "since_ms": since_ms, "price": price}
                    found.append(Finding(self.name, values, f"{resource} at {site}"))
        return found

    @classmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        resource = {"gpu": "GPU", "cpu": "vCPU"}.get(values["resource"], values["resource"])
        place = "in the cloud" if values["site"] == "cloud" else f"at the {values['site']}"
        return (
            f"The price of {resource} {place} has been at its ceiling since {since(values)}; "
            f"it is {values['price']:.4g}"
        )


def _since(times: Sequence[int], shares: Sequence[float | None], least: float) -> int | None:
    """Time since which the share has been at least this value without a break; None if it is less now."""
    since = None
    for at_ms, share in zip(reversed(times), reversed(shares), strict=True):
        if share is None or share < least - 1e-9:
            break
        since = at_ms
    return since
