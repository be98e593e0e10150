"""Directions of imports: dashboard -> twin -> experiments -> scheduling, which is pure, and those between folders.

Sets of exceptions are exact: who removes one takes it off its list.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

from dashboard.http.static_storage import ModuleManifestStaticFilesStorage

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
LISTS = {  # folders whose files are entries of one list: a scheduler, a format, a rule, a command
    "benchmarks", "experiments", "scheduling/algorithms", "twin/alerts/rules", "twin/management/commands",
    "twin/scenarios/edits", "twin/traces/importers",
}  # fmt: skip
JS = ROOT / "static/js"
JS_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""")
SHARED_ROOMS = ("util", "core", "ui", "charts", "gantt", "models")  # of static/js, each above the ones before it
PAGE_ARROWS = {  # which of the other rooms of static/js imports which
    ("compare", "run"), ("home", "live"), ("home", "run"), ("home", "settings"), ("live", "compare"),
    ("live", "settings"), ("new-run", "scenarios"), ("scenarios", "run"), ("sweeps", "compare"),
    ("sweeps", "scenarios"), ("traces", "scenarios"),
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


def imported_when_loaded(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Full names of what loading a module imports, at any depth, but not in functions and not for types alone."""
    for child in ast.iter_child_nodes(node):
        yield from imports_of(child, package)
        for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not for_types and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imported_when_loaded(child, package)


@pytest.mark.parametrize("folder", ["twin", "dashboard", "experiments"])
def test_no_module_needs_the_file_of_a_scheduler_to_be_loaded(folder):
    """Schedulers are taken from the registry at the time of use: a missing or broken file disables only itself."""
    own = {f"scheduling.algorithms.{path.stem}" for path in files("scheduling/algorithms")}
    found = {
        (name_of(path), name)
        for path in files(folder)
        for name in imported_when_loaded(ast.parse(path.read_text()), list(path.relative_to(ROOT).parent.parts))
        if within(name, own)
    }
    assert found == (
        {("experiments/_unrepaired.py", "scheduling.algorithms.pd_ors.PdOrs")} if folder == "experiments" else set()
    )  # which its experiment imports when it is run


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


@cache
def modules() -> dict[str, frozenset[str]]:
    """Each module of static/js with those that it imports, also for their types."""
    return {
        path.relative_to(JS).as_posix(): frozenset(
            target.relative_to(JS).as_posix()
            for name in JS_IMPORT.findall(path.read_text())
            if (target := (path.parent / name).resolve()).is_relative_to(JS)
        )
        for path in JS.rglob("*.js")
    }


@cache
def rooms() -> dict[str, frozenset[str]]:
    """Each folder of static/js, at any depth, with the other folders that its modules import."""
    found: dict[str, set[str]] = {}
    for module, others in modules().items():
        found.setdefault(folder(module), set()).update(map(folder, others))
    return {room: frozenset(others - {room}) for room, others in found.items()}


def folder(module: str) -> str:
    return str(PurePosixPath(module).parent)


def top(room: str) -> str:
    return room.split("/")[0]


def test_modules_of_the_browser_import_each_other_in_no_circle_and_no_long_chain():
    """A served module is named by its content, so one that imports itself in a circle, also for a type, has no name."""
    length: dict[str, int] = {}
    for module in TopologicalSorter(modules()).static_order():  # raises CycleError, which names the modules of a circle
        length[module] = 1 + max((length[other] for other in modules()[module]), default=0)
    assert max(length.values()) < ModuleManifestStaticFilesStorage.max_post_process_passes


def test_rooms_of_the_browser_import_each_other_in_no_circle():
    """Also not a room and a room within it."""
    order = list(TopologicalSorter(rooms()).static_order())  # raises CycleError, which names the rooms of a circle
    assert order.index("core/columns") < order.index("core") < order.index("core/ranges")


def test_shared_rooms_of_the_browser_import_only_those_below_them():
    """A chart draws what it is given, and a Gantt asks the execution models that it is given."""
    for room, others in rooms().items():
        if top(room) in SHARED_ROOMS:
            below = SHARED_ROOMS[: SHARED_ROOMS.index(top(room)) + 1]
            assert {other for other in others if top(other) not in below} == set(), room


def test_rooms_of_pages_import_the_shared_ones_and_few_of_each_other():
    arrows = {
        (top(room), top(other))
        for room, others in rooms().items()
        for other in others
        if top(room) != top(other) and not {top(room), top(other)} & {*SHARED_ROOMS, "pages"}
    }
    assert arrows == PAGE_ARROWS
    assert not any("pages" in map(top, others) for room, others in rooms().items() if room != "pages")


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
