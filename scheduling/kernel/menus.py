"""Menus: what the files of a folder offer by name.

A file that cannot be used disables only what it offers, with the reason. A name that is defined twice is not offered at
all, because either file could be meant.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from scheduling.kernel.parameters import UnknownName
from scheduling.model.known_names import unknown

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
IMPORTING = {__file__, importlib.__file__}  # files whose lines only pass an error on


class Unavailable(UnknownName):
    """Error for something that cannot be used; the message gives the reason and a remedy."""


class Menu(Generic[T]):
    """Entries by name from the modules of a package, which are imported when an entry is first needed."""

    def __init__(self, noun: str, package: str, offered: Callable[[ModuleType], Iterable[tuple[str, T]] | str]) -> None:
        """noun: of one entry, for messages. offered: (name, entry) of a module, or the reason why it has none."""
        self.noun, self.package, self.offered = noun, package, offered
        self._read: tuple[dict[str, T], dict[str, str]] | None = None

    def available(self) -> Mapping[str, T]:
        """{name: entry} in alphabetical order."""
        return self._entries()[0]

    def unavailable(self) -> Mapping[str, str]:
        """{name: reason} of entries that cannot be used; of a file whose entries are not known, its own name."""
        return self._entries()[1]

    def names(self) -> tuple[str, ...]:
        """Names of the entries in alphabetical order."""
        return tuple(self.available())

    def named(self, name: str, others: Sequence[str] = ()) -> T:
        """The entry called `name`; Unavailable gives the reason, UnknownName the names that would work.

        others: names that would work as well.
        """
        if name in self.available():
            return self.available()[name]
        if name in self.unavailable():
            raise Unavailable(self._refusal(name))
        raise UnknownName(unknown(self.noun, name, [*others, *self.names()]) + self.notice())

    def notice(self) -> str:
        """The end of a sentence that lists the names: what is not available, and why; "" if all is."""
        listed = "; ".join(f"{name}: {reason}" for name, reason in self.unavailable().items())
        return f"; not available: {listed}" if listed else ""

    def refusals(self) -> list[str]:
        """A sentence about each name that is not available."""
        return [self._refusal(name) for name in self.unavailable()]

    def forget(self) -> None:
        """Forgetting of what was read, so that the folder is read again."""
        self._read = None

    def _refusal(self, name: str) -> str:
        return f"{self.noun} {name!r} is not available: {self.unavailable()[name]}"

    def _entries(self) -> tuple[dict[str, T], dict[str, str]]:
        if self._read is None:
            package = importlib.import_module(self.package)
            found: dict[str, list[tuple[Path, T]]] = {}
            reasons: dict[str, str] = {}
            for module, paths in modules(package).items():
                loaded = imported(package, module, paths)
                offered = loaded if isinstance(loaded, str) else self.offered(loaded)
                if isinstance(offered, str):
                    reasons[module] = offered
                    continue
                for name, entry in offered:
                    found.setdefault(name, []).append((paths[0], entry))
            for name, entries in found.items():
                if len(entries) > 1:
                    reasons[name] = defined_twice([path for path, _ in entries])
            entries_by_name = {name: entries[0][1] for name, entries in sorted(found.items()) if len(entries) == 1}
            self._read = entries_by_name, dict(sorted(reasons.items()))
        return self._read


def modules(package: ModuleType) -> dict[str, list[Path]]:
    """{name: files} of the modules of a package; those that begin with _ are parts of others."""
    found: dict[str, list[Path]] = {}
    for path in (path for folder in package.__path__ for path in sorted(Path(folder).glob("*"))):
        name = path.name.removesuffix(".py")
        file = path if path.suffix == ".py" else path / "__init__.py"
        if name[0] != "_" and "." not in name and file.is_file():
            found.setdefault(name, []).append(file)
    return dict(sorted(found.items()))


def imported(package: ModuleType, name: str, files: Sequence[Path]) -> ModuleType | str:
    """The module of that name, or the reason why it cannot be used."""
    if len(files) > 1:
        return defined_twice(files)
    try:
        return importlib.import_module(f"{package.__name__}.{name}")
    except (Exception, SystemExit) as error:
        if isinstance(error, ImportError) and (missing := _foreign(error, package)):
            return needs_package(missing, error)
        return f"{shown(files[0])} cannot be imported: {type(error).__name__}: {error}{_elsewhere(error, files[0])}"


def defined(module: ModuleType, base: type[Any]) -> list[Any]:
    """Classes below `base` that a module defines itself and gives a name."""
    return [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
        and "name" in vars(value)
    ]  # fmt: skip


def defined_twice(files: Iterable[Path]) -> str:
    """Reason why a name cannot be used that several files define, with the remedy."""
    return f"this name is defined more than once: {' and '.join(map(shown, files))}; rename one"


def needs_package(package: str, error: Exception) -> str:
    """Reason why something cannot be used without a package, with the remedy."""
    why = f"it needs the package {package}, which cannot be imported ({error})"
    return f"{why}: pip install -r requirements.txt installs it"


def lacks(module: ModuleType, names: Sequence[str]) -> str:
    """Reason why a module without some of these names cannot be used; "" if it has all."""
    missing = [name for name in names if not hasattr(module, name)]
    return f"{file_of(module)} must define {', '.join(names)}; it lacks {', '.join(missing)}" if missing else ""


def file_of(module: ModuleType) -> str:
    """File of a module, as messages name it."""
    return shown(Path(module.__file__ or module.__name__))


def shown(path: Path) -> str:
    """A path as messages name it: from the folder of the product on."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _foreign(error: ImportError, package: ModuleType) -> str:
    """Name of the missing package; "" if it is part of the product, whose file has an error."""
    own = {name.partition(".")[0] for name in (package.__name__, __name__)}
    root = (error.name or "").partition(".")[0]
    return "" if root in own else root


def _elsewhere(error: BaseException, file: Path) -> str:
    """Place of an error that another file raises than the one that was to be imported; "" if it is that file."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename[0] != "<"]
    last = [one for one in frames if one.filename not in IMPORTING][-1:]
    return "".join(f" ({shown(Path(one.filename))}, line {one.lineno})" for one in last if Path(one.filename) != file)
