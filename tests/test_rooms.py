"""Circles of imports between the folders of a part: none but those named here.

Sets of exceptions are exact: who removes one takes it off its list.
"""

import ast
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "static" / "js"
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*['"](\.[^'"?]+)""")
CIRCLES = {
    # the registry looks up algorithms; rules, reasons and metrics of all models are joined in tables
    "scheduling": [{"algorithms", "colocation", "kernel", "observed", "reporting", "run_times", "slotted",
                    "typed_workers", "verification"}],
    "experiments": [],
    # live clusters are runs, and runs may be those of live clusters
    "twin": [{"analysis", "connectors", "eventlog", "files", "mirror", "processes", "push", "runs", "samplers",
              "scenarios", "traces"}],
    "dashboard": [{"auth", "openapi", "readmodels"}],
    "static/js": [],
}  # fmt: skip


def circles(arrows: Mapping[str, set[str]]) -> list[set[str]]:
    """Sets of folders that reach each other."""

    def reached(first: str) -> set[str]:
        found: set[str] = set()
        ahead = [first]
        while ahead:
            for other in arrows.get(ahead.pop(), set()) - found:
                found.add(other)
                ahead.append(other)
        return found

    reach = {folder: reached(folder) for folder in arrows}
    found: list[set[str]] = []
    for folder in sorted(arrows):
        circle = {other for other in reach[folder] if folder in reach.get(other, set())}
        if circle and circle not in found:
            found.append(circle)
    return found


def between(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    arrows: dict[str, set[str]] = {}
    for a, b in pairs:
        if a != b:
            arrows.setdefault(a, set()).add(b)
    return arrows


def script_arrows() -> dict[str, set[str]]:
    def pairs():
        for path in SCRIPTS.rglob("*.js"):
            for target in IMPORT.findall(path.read_text()):
                full = Path(os.path.normpath(path.parent / target))
                if full.is_relative_to(SCRIPTS):
                    yield path.relative_to(SCRIPTS).parts[0], full.relative_to(SCRIPTS).parts[0]

    return between(pairs())


def python_arrows(part: str) -> dict[str, set[str]]:
    """Of the folders and modules at the root of a part; imports within functions and for types count as well."""

    def pairs():
        for path in (ROOT / part).rglob("*.py"):
            own = path.relative_to(ROOT / part).parts[0].removesuffix(".py")
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [f"{node.module}.{alias.name}" for alias in node.names]
                else:
                    continue
                for name in names:
                    if name.startswith(f"{part}.") and own != "__init__":
                        yield own, name.split(".")[1]

    return between(pairs())


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": {"c"}}) == []


@pytest.mark.parametrize("part", CIRCLES)
def test_there_are_no_other_circles(part):
    assert circles(script_arrows() if part == "static/js" else python_arrows(part)) == CIRCLES[part]
