"""Reservations of a mirrored cluster: what a poll shows against what the log has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twin.connectors.facts import ReservationFact


@dataclass(slots=True)
class KnownReservation:
    """A reservation of the log; over: the cluster no longer shows it."""

    index: int
    fact: ReservationFact
    over: bool = False


class Reservations:
    """Reservations by their place in the log. An event restates one; changed: the places of those to be stored."""

    def __init__(self) -> None:
        self.known: list[KnownReservation] = []
        self.changed: set[int] = set()

    def apply(self, facts: Iterable[ReservationFact], at_ms: int) -> list[KnownReservation]:
        """The reservations that are new or have changed by a poll at that time of the cluster.

        One that has begun keeps its past: if its start moves, as that of a daily one does, another one follows it.
        """
        shown = {fact.name: fact for fact in facts}
        changed = []
        for known in [each for each in self.known if not each.over]:
            fact, was = shown.get(known.fact.name), known.fact
            begun = was.from_ms <= at_ms
            if fact is not None and (fact.from_ms == was.from_ms or not begun):
                del shown[was.name]
                known.fact = fact
            else:
                known.fact = replace(was, until_ms=min(was.until_ms, at_ms) if begun else was.from_ms)
                known.over = True
            if known.fact != was or known.over:
                changed.append(known)
        for fact in shown.values():
            self.known.append(KnownReservation(len(self.known), fact))
            changed.append(self.known[-1])
        self.changed |= {known.index for known in changed}
        return changed

    def take_changed(self) -> list[KnownReservation]:
        """The reservations that have changed since this was asked last."""
        changed, self.changed = sorted(self.changed), set()
        return [self.known[index] for index in changed]

    @property
    def open(self) -> Sequence[ReservationFact]:
        """The reservations that the cluster shows."""
        return [known.fact for known in self.known if not known.over]


def event_of(known: KnownReservation, servers: Mapping[str, int], epoch_ms: int) -> tuple[str, dict[str, Any]]:
    """Event that states a reservation, without nodes that the log does not have; an empty interval withdraws it."""
    fact = known.fact
    return (
        "reserved",
        {
            "reservation": known.index,
            "name": fact.name,
            "from_ms": max(0, fact.from_ms - epoch_ms),
            "until_ms": max(0, fact.until_ms - epoch_ms),
            "servers": [servers[name] for name in fact.nodes if name in servers],
            "maintenance": fact.maintenance,
            "holders": fact.holders,
        },
    )
