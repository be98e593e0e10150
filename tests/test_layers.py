"""One arrow of imports: dashboard -> twin -> scheduling; and scheduling is pure."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PURE = {"numpy", "scipy", "highspy", "scheduling"} | sys.stdlib_module_names
IMPURE = {"socket", "asyncio", "subprocess", "multiprocessing", "threading", "sqlite3", "urllib", "http", "random", "datetime"}


def imported(path: Path) -> Iterator[str]:
    """The top-level package of each import, also of those inside functions; relative ones name their own package."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0] if node.module and not node.level else path.relative_to(ROOT).parts[0]


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("path", files("scheduling"), ids=lambda p: str(p.relative_to(ROOT)))
def test_scheduling_imports_only_numpy_solvers_and_the_pure_part_of_the_standard_library(path: Path):
    names = set(imported(path))
    assert names <= PURE
    assert not names & IMPURE


def test_twin_never_imports_dashboard():
    assert [str(path.relative_to(ROOT)) for path in files("twin") if "dashboard" in set(imported(path))] == []


def test_scheduling_reads_no_clock_for_its_decisions():
    """perf_counter measures the kernel's hooks and enters no event; it ends questions that take too long, which decide nothing."""
    clocks = [str(path.relative_to(ROOT)) for path in files("scheduling") if "time" in set(imported(path))]
    assert clocks == ["scheduling/counterfactuals.py", "scheduling/questions.py", "scheduling/simulation.py"]
