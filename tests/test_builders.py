"""Tests are no library: what several of them share stands in builders."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent


def imported(path: Path) -> Iterator[str]:
    """The dotted names that a test module imports, also within functions; relative ones in full."""
    package = ".".join(path.relative_to(TESTS.parent).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_no_test_module_is_imported():
    modules = {".".join(path.relative_to(TESTS.parent).with_suffix("").parts) for path in TESTS.rglob("test_*.py")}
    guilty = {
        f"{path.relative_to(TESTS)} imports {name}"
        for path in TESTS.rglob("*.py")
        for name in imported(path)
        if any(name == module or name.startswith(f"{module}.") for module in modules)
    }
    assert sorted(guilty) == []
