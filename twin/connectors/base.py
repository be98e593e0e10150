"""The connector: what the twin asks of a real cluster. A file here with one named subclass is enough."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from scheduling.kernel.parameters import Parameters, UnknownName, parse_declared
from twin import connectors
from twin.connectors.facts import ConnectorError, Found, JobFact, Snapshot


class Connector(ABC):
    """Reads one cluster; it never changes it.

    An instance lives as long as its connection is followed, and may keep open sockets and child processes until
    `close`. Every method raises ConnectorError, with one sentence, when the cluster does not answer as it should.
    """

    name: ClassVar[str]  # as typed on the command line, and the name of its file
    title: ClassVar[str]  # as printed on screen
    summary: ClassVar[str]  # one sentence an operator understands
    cold: ClassVar[bool] = True  # a second instance sees the same cluster at any time; False: a recording
    Parameters: ClassVar[type] = Parameters  # its settings, declared by scheduling.kernel.parameters.parameter
    numbers_jobs: ClassVar[bool] = False  # whether keys are numbers that grow with the time of submission
    times_controller: ClassVar[bool] = False  # whether `ms` of cost() is the controller's own time

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()

    @abstractmethod
    def check(self) -> Found:
        """Test of the connection: version, clock, permissions, what is missing and the command that grants it."""

    @abstractmethod
    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        """Complete current state; with `nodes` also the nodes."""

    def changes(self) -> Iterator[Snapshot] | None:
        """Stream of changes after the last `snapshot`, each a partial or a whole look; None: poll the cluster.

        The iterator blocks until something changes, yields an empty partial look at least every 5 s as a sign of life,
        and raises ConnectorError when the stream is lost: the follower then takes a snapshot and asks again.
        """
        return None

    def details(self, keys: Sequence[str]) -> list[JobFact]:
        """Data that are requested once per start, such as the GPU indices of running jobs; default: none."""
        return []

    def history(self, since_ms: int, until_ms: int) -> Iterator[JobFact]:
        """Jobs that ended in the interval, with all attempts, from the cluster's accounting; default: none."""
        yield from ()

    def estimate(self) -> Mapping[str, int]:
        """The cluster's own expected start of waiting jobs at the last look, {key: Unix ms}; default: it has none.

        A job that is left out has none. They are worked out from time limits, so most jobs start earlier.
        """
        return {}

    def cost(self) -> Mapping[str, float]:
        """Load on the cluster's controller, as plain numbers, e.g. {"calls": 120, "ms": 31}; default: unknown."""
        return {}

    def unsafe(self) -> str:
        """Why only somebody with a shell on this host may choose a parameter, the first word; "" = anybody may."""
        return ""

    def close(self) -> None:  # noqa: B027 (most hold nothing open)
        """Release of open resources."""


@cache
def names() -> tuple[str, ...]:
    """Names of all connectors in alphabetical order."""
    found = []
    for info in pkgutil.iter_modules(connectors.__path__):
        module = importlib.import_module(f"{connectors.__name__}.{info.name}")
        if _classes(module):
            found.append(info.name)
    return tuple(sorted(found))


def connector_class(name: str) -> type[Connector]:
    """The class called `name`; UnknownName lists the names that would work."""
    if name not in names():
        raise UnknownName(f"unknown connector {name!r}; known: {', '.join(names())}")
    return _classes(importlib.import_module(f"{connectors.__name__}.{name}"))[0]


def build(name: str, given: Mapping[str, Any]) -> Connector:
    """A connector with parameters from `given` (text or values); UnknownName and ModelError say what would work."""
    cls = connector_class(name)
    return cls(parse_declared(f"connector {name}", cls.Parameters, given))


def _classes(module: Any) -> list[type[Connector]]:
    return [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Connector) and value.__module__ == module.__name__
        and "name" in vars(value)
    ]  # fmt: skip


__all__ = ["Connector", "ConnectorError", "build", "connector_class", "names"]
