"""The sampler: what the twin asks about the use of a cluster. A file here with one named subclass is enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from scheduling.kernel.parameters import Parameters, parameter
from twin import samplers
from twin.connectors.facts import Finding
from twin.infra.menu import Menu
from twin.samplers.facts import Occupancy, Sample

MIN_INTERVAL_S, MAX_INTERVAL_S = 60, 3_600  # at most one sample of a server a minute: the log has a bound
STALE_INTERVALS = 3  # an older sample does not count


def sample_interval() -> Any:
    """The parameter `interval_s` of a sampler."""
    return parameter(
        60, "Time between two samples", low=MIN_INTERVAL_S, high=MAX_INTERVAL_S, unit="s", title="Sample interval"
    )


class Sampler(ABC):
    """Reader of the use of one cluster; it never changes it.

    It is called in a thread of its own. Every method raises ConnectorError, with one sentence, when the source does not
    answer as it should. The parameters have `interval_s` (`sample_interval`).
    """

    name: ClassVar[str]  # as typed on the command line, and the name of its file
    title: ClassVar[str]  # as printed on screen
    summary: ClassVar[str]  # one sentence an operator understands
    Parameters: ClassVar[type] = Parameters  # its settings, declared by scheduling.kernel.parameters.parameter

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()

    @abstractmethod
    def check(self, occupancy: Occupancy) -> tuple[Finding, ...]:
        """Test of the source: of how many nodes it has samples, which are missing, and what gives them."""

    @abstractmethod
    def sample(self, occupancy: Occupancy) -> Sample:
        """The present use of the nodes, as far as it is known."""

    def unsafe(self) -> str:
        """Reason why only users with a shell on this host may choose a parameter, its first word; "": anybody may."""
        return ""

    def close(self) -> None:
        """Release of open resources."""
        return  # most hold nothing open


MENU: Menu[Sampler] = Menu("sampler", samplers, Sampler)
names, sampler_class, build = MENU.names, MENU.named, MENU.build
