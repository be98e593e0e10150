"""The sampler: what the twin asks about the use of a cluster. A file here with one named subclass is enough."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from scheduling.kernel.parameters import Parameters, UnknownName, parse_declared
from twin import samplers
from twin.connectors.facts import Finding
from twin.samplers.facts import Picture, Sample

MIN_INTERVAL_S, MAX_INTERVAL_S = 60, 3_600  # at most one sample of a server a minute: the log has a bound
STALE_INTERVALS = 3  # an older sample does not count


class Sampler(ABC):
    """Reads the use of one cluster; it never changes it.

    It is called in a thread of its own. Every method raises ConnectorError, with one sentence, when the source does not
    answer as it should. The parameters have `interval_s`.
    """

    name: ClassVar[str]  # as typed on the command line, and the name of its file
    title: ClassVar[str]  # as printed on screen
    summary: ClassVar[str]  # one sentence an operator understands
    Parameters: ClassVar[type] = Parameters  # its settings, declared by scheduling.kernel.parameters.parameter

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()

    @abstractmethod
    def check(self, picture: Picture) -> tuple[Finding, ...]:
        """Test of the source: of how many nodes it has samples, which are missing, and what gives them."""

    @abstractmethod
    def sample(self, picture: Picture) -> Sample:
        """The use of the nodes of the picture now, as far as it is known."""

    def unsafe(self) -> str:
        """Why only somebody with a shell on this host may choose a parameter, the first word; "" = anybody may."""
        return ""

    def close(self) -> None:  # noqa: B027 (most hold nothing open)
        """Release of open resources."""


@cache
def names() -> tuple[str, ...]:
    """Names of all samplers in alphabetical order."""
    modules = (info.name for info in pkgutil.iter_modules(samplers.__path__) if not info.name.startswith("_"))
    return tuple(sorted(name for name in modules if _classes(name)))


def sampler_class(name: str) -> type[Sampler]:
    """The class called `name`; UnknownName lists the names that would work."""
    if name not in names():
        raise UnknownName(f"unknown sampler {name!r}; known: {', '.join(names())}")
    return _classes(name)[0]


def build(name: str, given: Mapping[str, Any]) -> Sampler:
    """A sampler with parameters from `given` (text or values); UnknownName and ModelError say what would work."""
    cls = sampler_class(name)
    return cls(parse_declared(f"sampler {name}", cls.Parameters, given))


def _classes(name: str) -> list[type[Sampler]]:
    module = importlib.import_module(f"{samplers.__name__}.{name}")
    return [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Sampler) and value.__module__ == module.__name__
        and "name" in vars(value)
    ]  # fmt: skip
