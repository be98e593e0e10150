"""Classes by name: modules of a package, each with one class of the same base that has the name of its file."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from scheduling.kernel import menus
from scheduling.kernel.parameters import parse_declared

T = TypeVar("T")


class Menu(menus.Menu[type[T]]):
    """The classes below `base` in the modules of `package`; modules without such a class are parts of others."""

    def __init__(self, noun: str, package: ModuleType, base: type) -> None:
        """noun: of one of them, for messages."""
        super().__init__(noun, package.__name__, self._own_class)
        self.base: Any = base

    def build(self, name: str, given: Mapping[str, Any]) -> T:
        """One with parameters from `given` (text or values); UnknownName and ModelError say what would work."""
        cls: Any = self.named(name)
        built: T = cls(parse_declared(f"{self.noun} {name}", cls.Parameters, given))
        return built

    def _own_class(self, module: ModuleType) -> list[tuple[str, type[T]]] | str:
        found = menus.defined(module, self.base)
        name = module.__name__.rpartition(".")[2]
        if found and [cls.name for cls in found] != [name]:
            has = ", ".join(cls.name for cls in found)
            return f"{menus.file_of(module)} must define one {self.noun}, named {name!r}; it has {has}"
        return [(name, cls) for cls in found]
