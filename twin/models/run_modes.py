"""Modes of runs: what drives a run, and what follows from that.

A run states the name of its mode. Code asks for a rule of the mode and compares no names: a new mode is one more entry.
static/js/util/run-modes.js has the rules that pages ask for, under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BATCH, LIVE, MIRROR = "batch", "live", "mirror"


@dataclass(frozen=True)
class RunMode:
    """Mode of a run. Its rules are those of a run that is simulated as fast as possible, unless it says otherwise."""

    name: str  # as stored, and as the API states it

    simulated: bool = True
    """True if workers of the twin compute it from its scenario: users start, pause and cancel it, and its metrics are
    known when it ends. Otherwise a connection records it, and controls of the connection apply."""

    paced: bool = False
    """True if a clock of its own paces it: it waits for its next event, has a speed, and a fork can replace it."""

    dated: bool = False
    """True if its clock states the moment of the real world from which its times count."""

    polled: bool = False
    """True if it is known by polls: what happens between two polls becomes known later; gaps stay unknown."""

    looks_ahead: bool = True
    """True if its log states what is to come: planned bars, and outages before they begin."""

    inputs_in_log: bool = False
    """True if its servers and jobs are those that its log adds, and not those of its scenario."""

    continued: bool = False
    """True if another run continues it before its log becomes large."""

    forked_by_cut: bool = False
    """True if its forks and previews begin with a cut, under a scheduler of their own, not with a copy of its log."""

    certified: bool = True
    """True if a bound on what any schedule could achieve is proved for it."""

    forecast: bool = False
    """True if the starts of its waiting jobs are forecast, as no plan states them."""

    gives_reasons: bool = False
    """True if lists of its jobs show the newest reason of each, which the cluster reports repeatedly."""

    servers_return: bool = False
    """True if a server without an end of its outage may return."""

    parameter_servers: bool = True
    """True if its servers can hold parameter servers."""

    @property
    def recorded(self) -> bool:
        """True if a connection records it, from a real cluster: the opposite of `simulated`."""
        return not self.simulated


MODES = {
    mode.name: mode
    for mode in (
        RunMode(BATCH),
        RunMode(LIVE, paced=True),
        RunMode(
            MIRROR, simulated=False, dated=True, polled=True, looks_ahead=False, inputs_in_log=True, continued=True,
            forked_by_cut=True, certified=False, forecast=True, gives_reasons=True, servers_return=True,
            parameter_servers=False,
        ),
    )
}  # fmt: skip


def modes_where(**rules: Any) -> tuple[str, ...]:
    """Names of the modes with these rules: `modes_where(simulated=True)`."""
    return tuple(
        name for name, mode in MODES.items() if all(getattr(mode, rule) == value for rule, value in rules.items())
    )
