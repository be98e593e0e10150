"""Classes by name: modules of a package, each with one class of the same base that has the name of its file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

from scheduling.kernel.parameters import UnknownName, parse_declared

T = TypeVar("T")


class Menu(Generic[T]):
    """The classes below `base` in the modules of `package`; modules that begin with _ are parts of others."""

    def __init__(self, noun: str, package: ModuleType, base: type) -> None:
        """noun: of one of them, for messages."""
        self.noun, self.package = noun, package
        self.base: Any = base
        self._names: tuple[str, ...] | None = None

    def names(self) -> tuple[str, ...]:
        """All names in alphabetical order."""
        if self._names is None:
            modules = (info.name for info in pkgutil.iter_modules(self.package.__path__))
            self._names = tuple(sorted(name for name in modules if name[0] != "_" and self._classes(name)))
        return self._names

    def named(self, name: str) -> type[T]:
        """The class called `name`; UnknownName lists the names that would work."""
        if name not in self.names():
            raise UnknownName(f"unknown {self.noun} {name!r}; known: {', '.join(self.names())}")
        return self._classes(name)[0]

    def build(self, name: str, given: Mapping[str, Any]) -> T:
        """One with parameters from `given` (text or values); UnknownName and ModelError say what would work."""
        cls: Any = self.named(name)
        built: T = cls(parse_declared(f"{self.noun} {name}", cls.Parameters, given))
        return built

    def _classes(self, name: str) -> list[type[T]]:
        module = importlib.import_module(f"{self.package.__name__}.{name}")
        found: list[type[T]] = [
            value for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, self.base) and value.__module__ == module.__name__
            and "name" in vars(value)
        ]  # fmt: skip
        return found
