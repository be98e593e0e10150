"""Directions of imports: dashboard -> twin -> experiments -> scheduling, which is pure, and those between folders.

Sets of exceptions are exact: who removes one takes it off its list.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PURE = {"numpy", "scipy", "highspy", "scheduling"} | sys.stdlib_module_names
IMPURE = {
    "socket",
    "asyncio",
    "subprocess",
    "multiprocessing",
    "threading",
    "sqlite3",
    "urllib",
    "http",
    "random",
    "datetime",
}
EXECUTION_MODELS = {"scheduling.slotted", "scheduling.typed_workers", "scheduling.colocation", "scheduling.observed"}
PRODUCT = ("scheduling", "experiments", "twin", "dashboard")
BENCHMARKS = ("benchmarks",)  # they measure the twin and are no part of it
BENCHMARK_COMMANDS = {f"twin/management/commands/{name}.py" for name in ("bench", "reproduce", "screenshots")}
MAX_MODULES = 16  # in one folder
LISTS = {  # folders whose files are entries of one list: a scheduler, a format, a chart, a command
    "benchmarks", "experiments", "scheduling/algorithms", "static/js/charts", "static/js/gantt/layers",
    "twin/alerts/rules", "twin/management/commands", "twin/scenarios/edits", "twin/traces/importers",
}  # fmt: skip


def imports_of(node: ast.AST, package: list[str]) -> Iterator[str]:
    """The full names of the modules, or of what is taken out of them, that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) + 1 - node.level] if node.level else []
        base += [node.module] if node.module else []
        yield from (".".join([*base, alias.name]) for alias in node.names)


@cache
def imported(path: Path, at_load: bool = False) -> frozenset[str]:
    """Full names of what a file imports, also in functions and for types; with at_load only what loading imports."""
    tree = ast.parse(path.read_text(), str(path))
    package = list(path.relative_to(ROOT).parent.parts)
    return frozenset(name for node in (tree.body if at_load else ast.walk(tree)) for name in imports_of(node, package))


def within(name: str, packages: set[str]) -> set[str]:
    """Those of the packages that have this module in them."""
    return {package for package in packages if name == package or name.startswith(package + ".")}


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports_from(folder: str, to: set[str]) -> set[tuple[str, str]]:
    """(file, package) of each file in the folder that imports one of the packages."""
    return {
        (name_of(path), package) for path in files(folder) for name in imported(path) for package in within(name, to)
    }


def folders_but(*own: str) -> set[str]:
    """The folders and root modules of scheduling/ other than these."""
    children = {path.stem for path in (ROOT / "scheduling").iterdir() if path.is_dir() or path.suffix == ".py"} - {
        "__init__",
        "__pycache__",
    }
    return {f"scheduling.{name}" for name in children} - {f"scheduling.{name}" for name in own}


@pytest.mark.parametrize("path", files("scheduling"), ids=name_of)
def test_scheduling_imports_only_numpy_solvers_and_the_pure_part_of_the_standard_library(path: Path):
    names = {name.split(".")[0] for name in imported(path)}
    assert names <= PURE
    assert not names & IMPURE


@pytest.mark.parametrize("path", files("experiments"), ids=name_of)
def test_experiments_import_only_the_core(path: Path):
    """They run in the command, in workers and in pages (docs/decisions/0024)."""
    names = {name.split(".")[0] for name in imported(path)}
    assert names <= PURE | {"experiments"}
    assert not names & IMPURE


def test_experiments_import_helpers_but_not_each_other():
    """So the digest of an experiment covers its code."""
    theirs = {f"experiments.{path.stem}" for path in files("experiments") if not path.stem.startswith("_")}
    assert imports_from("experiments", theirs) == set()


def test_twin_never_imports_dashboard():
    assert imports_from("twin", {"dashboard"}) == set()


def test_scheduling_reads_no_clock_for_its_decisions():
    """perf_counter measures the kernel's hooks and enters no event; it ends long questions, which decide nothing."""
    clocks = sorted(path for path, _ in imports_from("scheduling", {"time"}))
    assert clocks == [
        "scheduling/kernel/decisions.py",
        "scheduling/kernel/quotes.py",
        "scheduling/slotted/counterfactuals.py",
    ]


def test_the_model_imports_no_other_folder():
    assert imports_from("scheduling/model", folders_but("model")) == set()


def test_the_kernel_imports_only_the_model():
    """The registry lists the schedulers; what depends on an execution model is asked of that model."""
    assert imports_from("scheduling/kernel", folders_but("kernel", "model")) == {
        ("scheduling/kernel/registry.py", "scheduling.algorithms"),
    }


@pytest.mark.parametrize("model", sorted(EXECUTION_MODELS))
def test_execution_models_do_not_import_each_other(model):
    assert imports_from(model.replace(".", "/"), EXECUTION_MODELS - {model}) == set()


def test_read_models_know_no_http():
    http = {"dashboard.http", "dashboard.pages", "dashboard.api", "rest_framework", "django.http"}
    assert imports_from("dashboard/readmodels", http) == set()


def test_nothing_but_their_commands_imports_benchmarks():
    found = {file for folder in PRODUCT for file, _ in imports_from(folder, set(BENCHMARKS))}
    assert found == BENCHMARK_COMMANDS
    assert imports_from("benchmarks", {"experiments"}) == set()


@pytest.mark.parametrize("command", sorted(BENCHMARK_COMMANDS))
def test_their_commands_import_them_when_they_run(command):
    assert {name.split(".")[0] for name in imported(ROOT / command, at_load=True)}.isdisjoint(BENCHMARKS)


def test_charts_import_no_panels():
    """A chart draws what it is given: the rooms of pages import it, and never the other way round."""
    shared = {"core", "models", "ui", "util", "vendor"}
    found = {
        (name_of(path), target)
        for path in (ROOT / "static/js/charts").glob("*.js")
        for target in re.findall(r"""(?:from|import) ["'](?:\.\./)+(.*?)["']""", path.read_text())
        if target.split("/")[0] not in shared
    }
    assert found == set()


def test_a_folder_holds_no_more_modules_than_can_be_looked_over():
    folders = {path.parent for root in (*PRODUCT, *BENCHMARKS) for path in files(root)}
    folders |= {path.parent for path in (ROOT / "static/js").rglob("*.js")}
    crowded = {
        name_of(folder)
        for folder in folders
        if folder.name != "migrations"
        and len([path for path in folder.iterdir() if path.suffix in (".py", ".js") and path.name != "__init__.py"])
        > MAX_MODULES
    }
    assert crowded - LISTS == set()
