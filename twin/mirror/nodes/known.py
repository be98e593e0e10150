"""Nodes of a log, and the events by which the log catches up with a poll of the cluster's nodes. It is pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scheduling.model.limits import MAX_INT
from scheduling.model.values import ZERO, Demand
from twin.connectors.facts import DOWN, UNAVAILABLE, UP, NodeFact
from twin.mirror.as_values import EventData, capacity_of, server_of
from twin.mirror.nodes.sites import SiteRule

REMOVED = "the cluster no longer has this node"


def is_removed(state: str, reason: str) -> bool:
    """True if a node in this state for this reason, as its facts and the events of its server state them, has left."""
    return state == DOWN and reason == REMOVED


@dataclass(slots=True)
class KnownNode:
    """A node of the log, when it was unavailable in ms of the log, and its site in the log.

    was: (until_ms, capacity) of each of its earlier capacities, in the order of time; none of anything before a node
    that the log has not had from its beginning was there
    """

    index: int
    fact: NodeFact
    away: tuple[tuple[int, int], ...] = ()
    site: str = ""  # empty until it is written
    was: tuple[tuple[int, Demand], ...] = ()

    @property
    def is_removed(self) -> bool:
        """True if the cluster no longer has the node; its server stays in the log."""
        return is_removed(self.fact.state, self.fact.reason)

    def capacity_at(self, log_ms: int) -> Demand:
        """Its capacity at a time of the log."""
        return next((capacity for until_ms, capacity in self.was if log_ms < until_ms), capacity_of(self.fact))


class Nodes(dict[str, KnownNode]):
    """Nodes of the log by name; changed: names of those that have changed since `take_changed`."""

    def __init__(self) -> None:
        super().__init__()
        self.changed: set[str] = set()

    def apply(
        self, facts: Sequence[NodeFact], rule: SiteRule, log_ms: int, events: list[EventData], epoch_ms: int = 0
    ) -> set[str]:
        """Names of the nodes that are new to the log, after events for all changes of nodes at this time of it.

        epoch_ms: the cluster's time at which the log begins.
        """
        fresh, begins = set(), not self
        for fact in facts:
            since_ms, resized_ms = (
                log_ms if at_ms is None else min(log_ms, max(0, at_ms - epoch_ms))
                for at_ms in (fact.since_ms, fact.capacity_since_ms)
            )
            known = self.get(fact.name)
            if known is None:
                fresh.add(fact.name)
                known = self[fact.name] = KnownNode(len(self), fact)
                if fact.state in UNAVAILABLE:
                    known.away = ((since_ms, MAX_INT),)
                self.changed.add(fact.name)
                fields = {"server": known.index, "fields": _server(known, rule)}
                if not begins and since_ms > 0:
                    known.was = ((since_ms, ZERO),)
                    fields |= {"was": ZERO, "since_ms": since_ms}
                events.append(("server_added", fields | ({} if fact.state == UP else _state(fact))))
            else:
                self._set(known, fact, rule, log_ms, events, since_ms, resized_ms)
        there = {fact.name for fact in facts}
        for name, known in self.items():
            if name not in there and not known.is_removed:
                gone = replace(known.fact, state=DOWN, reason=REMOVED, since_ms=None)
                self._set(known, gone, rule, log_ms, events, log_ms, log_ms)
        self._set_sites(rule, events)
        return fresh

    def indices(self) -> dict[str, int]:
        """{name: number of the server in the log}."""
        return {name: known.index for name, known in self.items()}

    def take_changed(self) -> list[KnownNode]:
        """Nodes that have changed since this was asked last."""
        names, self.changed = sorted(self.changed), set()
        return [self[name] for name in names]

    def _set_sites(self, rule: SiteRule, events: list[EventData]) -> None:
        """Nodes that the rule puts elsewhere than the log does: the rule was changed."""
        for name, known in self.items():
            if known.site != rule.site(known.fact):
                self.changed.add(name)
                events.append(("server_set", {"server": known.index, "fields": _server(known, rule)}))

    def _set(
        self, known: KnownNode, fact: NodeFact, rule: SiteRule, log_ms: int, events: list[EventData], since_ms: int,
        resized_ms: int,
    ) -> None:  # fmt: skip
        was, known.fact = known.fact, fact
        if was == fact:
            return
        self.changed.add(fact.name)
        left, returned = _unavailable(fact) and not _unavailable(was), _unavailable(was) and not _unavailable(fact)
        if left:
            known.away = (*known.away, (max(since_ms, _free_from(known.away)), MAX_INT))
        elif returned:
            begin = known.away[-1][0]
            known.away = (*known.away[:-1], (begin, max(since_ms, begin + 1)))
        elif known.away and fact.since_ms is not None:
            known.away = (*known.away[:-1], _corrected(known.away, since_ms, _unavailable(fact)))
        resized: dict[str, Any] = {}
        if (capacity := capacity_of(was)) != capacity_of(fact):
            resized_ms = max([resized_ms, *(until_ms for until_ms, _ in known.was)])
            known.was = (*known.was, (resized_ms, capacity))
            resized = {"was": capacity} | ({"since_ms": resized_ms} if resized_ms < log_ms else {})
        fields = {"server": known.index, "fields": _server(known, rule)}
        events.append(("server_set", fields | resized | _state(fact)))
        if left or returned:
            late = {"since_ms": since_ms} if since_ms < log_ms else {}
            events.append(("server_changed", {"server": known.index, "away": left, **late}))


def _free_from(away: Sequence[tuple[int, int]]) -> int:
    """The earliest time at which another outage may begin."""
    return away[-1][1] + 1 if away else 0


def _corrected(away: Sequence[tuple[int, int]], since_ms: int, unavailable: bool) -> tuple[int, int]:
    """The last outage, of which an event that came late states an earlier start, or an earlier end."""
    begin, end = away[-1]
    if unavailable:
        return min(begin, max(since_ms, _free_from(away[:-1]))), end
    return begin, min(end, max(since_ms, begin + 1))


def _unavailable(fact: NodeFact) -> bool:
    return fact.state in UNAVAILABLE


def _state(fact: NodeFact) -> dict[str, str]:
    return {"state": fact.state, "reason": fact.reason}


def _server(known: KnownNode, rule: SiteRule) -> dict[str, Any]:
    """The fields of the server in the log, at the site where the rule puts it now."""
    known.site = rule.site(known.fact)
    return asdict(server_of(known.fact, known.site, known.away))
