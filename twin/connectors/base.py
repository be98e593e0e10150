"""The connector: what the twin asks of a real cluster. A file here with one named subclass is enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from scheduling.kernel.parameters import Parameters, UnknownName
from twin import connectors
from twin.connectors.constraints import NO_CONSTRAINTS, Constraints
from twin.connectors.facts import ConnectorError, Contact, Found, JobFact, Snapshot
from twin.infra.menu import Menu


class Connector(ABC):
    """Reader of one cluster; it never changes it.

    An instance lives as long as its connection is followed, and may keep open sockets and child processes until
    `close`. Every method raises ConnectorError, with one sentence, when the cluster does not answer as it should.
    """

    name: ClassVar[str]  # as typed on the command line, and the name of its file
    title: ClassVar[str]  # as printed on screen
    summary: ClassVar[str]  # one sentence an operator understands
    posts: ClassVar[bool] = False  # whether the cluster posts by itself; its data are as old as its newest post
    cold: ClassVar[bool] = True  # a second instance sees the same cluster at any time; False: a recording
    Parameters: ClassVar[type] = Parameters  # its settings, declared by scheduling.kernel.parameters.parameter
    numbers_jobs: ClassVar[bool] = False  # whether keys are numbers that grow with the time of submission
    settled_ms: ClassVar[int] = 0  # time from the end of a job until history() has it
    times_controller: ClassVar[bool] = False  # whether `ms` of cost() is the controller's own time

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()

    def longest_poll_ms(self) -> int:
        """Time after which a follower has polled every part of the cluster again; default 0: it is a stream."""
        return 0

    @abstractmethod
    def check(self) -> Found:
        """Test of the connection: version, clock, permissions, what is missing and the command that grants it."""

    @abstractmethod
    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        """Complete current state; with `nodes` also the nodes."""

    def changes(self) -> Iterator[Snapshot] | None:
        """Stream of changes after the last `snapshot`, each a partial or a whole snapshot; None: poll the cluster.

        The iterator blocks until something changes, yields an empty partial snapshot at least every 5 s as a sign of
        life, and raises ConnectorError when the stream is lost: the follower then takes a snapshot and asks again.
        """
        return None

    def details(self, keys: Sequence[str]) -> list[JobFact]:
        """Data that are requested once per start, such as the GPU indices of running jobs; default: none."""
        return []

    def history(self, since_ms: int, until_ms: int) -> Iterator[JobFact]:
        """Jobs that ended in the interval, with all attempts, from the cluster's accounting; default: none."""
        yield from ()

    def accounted(self, keys: Sequence[str]) -> Iterator[JobFact]:
        """Jobs with these keys by the cluster's accounting, ended or not, with all attempts; default: none.

        A job is in the state of its newest record, which may be older than that of the queue.
        """
        yield from ()

    def estimate(self) -> Mapping[str, int]:
        """The cluster's own expected start of waiting jobs at the last poll, {key: Unix ms}; default: it has none.

        Each is later than the poll; a job without an expected start is left out, and so are the tasks of an array
        after its next one. They follow from time limits, so most jobs start earlier.
        """
        return {}

    def constraints(self) -> Constraints:
        """Licences, limits of queues and what jobs ask for beside amounts, for forecasts; default: none are known."""
        return NO_CONSTRAINTS

    def cost(self) -> Mapping[str, float]:
        """Load on the cluster's controller, as plain numbers, e.g. {"calls": 120, "ms": 31}; default: unknown."""
        return {}

    def contact(self) -> Contact | None:
        """Newest contact of a cluster that reports by itself; default: None, it answers polls."""
        return None

    def unsafe(self) -> str:
        """Reason why only users with a shell on this host may choose a parameter, its first word; "": anybody may."""
        return ""

    def close(self) -> None:
        """Release of open resources."""
        return  # most hold nothing open


MENU: Menu[Connector] = Menu("connector", connectors, Connector)
names, connector_class, build = MENU.names, MENU.named, MENU.build


def title_of(name: str) -> str:
    """Title of the connector; its name if this version does not have the connector."""
    try:
        return connector_class(name).title
    except UnknownName:
        return name


__all__ = ["Connector", "ConnectorError", "build", "connector_class", "names", "title_of"]
