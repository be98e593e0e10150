"""No branch on the execution model outside the rooms of the models.

Whoever needs one asks the model, or a table of its family.

Sets of exceptions are exact: who removes one takes it off its list.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduling.kernel.execution_model import ExecutionModel
from scheduling.kernel.registry import ELSEWHERE, scheduler_class, schedulers
from scheduling.kernel.scheduler import BaseScheduler

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("scheduling/slotted", "scheduling/typed_workers", "scheduling/colocation", "scheduling/observed")
PYTHON = ("scheduling", "twin", "dashboard", "benchmarks", "experiments")
EVERY = [*schedulers().values(), *map(scheduler_class, ELSEWHERE)]
MODELS = {cls.model.name for cls in EVERY}
CLASSES = {type(cls.model) for cls in EVERY}
# as execution.py of each family names its own
INSTANCES = {name.upper() for name in MODELS} | {cls.__name__ for cls in CLASSES}
# rules that only one model has
FIELDS = {name for cls in CLASSES for name in cls.__annotations__} - set(ExecutionModel.__annotations__)
FLAGS = {"lanes", "groups"} | FIELDS  # of a scheduler, in place of its model
SCHEDULERS = {"scheduler", "cls", "before", "BaseScheduler"}  # what a scheduler is called, also with something in front
BASES = {"GangScheduler", "GroupedScheduler"} | {cls.__name__ for cls in CLASSES}
RECORDING = {cls.__name__ for cls in EVERY if cls.model.records}


def ends(node: ast.AST) -> str:
    """The last name of an expression: `scheduler` of self.scheduler, `scheduler_class` of scheduler_class(name)."""
    if isinstance(node, ast.Call):
        return ends(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def names_model(node: ast.AST) -> bool:
    """Whether an expression is the name of a model, its instance, or holds one of them as an item."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(names_model(item) for item in node.elts)
    if isinstance(node, ast.Constant):
        return node.value in MODELS if isinstance(node.value, str) else False
    return ends(node) in INSTANCES or (
        isinstance(node, ast.Attribute) and node.attr == "name" and names_model(node.value)
    )


def is_own(node: ast.AST) -> bool:
    """Whether it is `self.model`: a scheduler may ask for the rules that it has chosen itself."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def is_scheduler(node: ast.AST) -> bool:
    return ends(node) in SCHEDULERS | {"scheduler_class", "build"}


def is_scope(node: ast.AST) -> bool:
    """Whether it is the scope of a plan, which says what the plan replaces: a job, a worker, or observed bars."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "scope"


def compares_scheduler(node: ast.AST) -> bool:
    """Whether it is the class, or the name, of a scheduler that records what a real cluster did."""
    return ends(node) in RECORDING or (
        isinstance(node, ast.Attribute) and node.attr == "name" and compares_scheduler(node.value)
    )


def sides(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def found_in(node: ast.AST) -> str | None:
    """What the node decides by the model, or None."""
    if isinstance(node, ast.Compare) and any(map(compares_scheduler, sides(node))):
        return "comparison with the scheduler of a model"
    if isinstance(node, ast.Compare) and not is_scope(node.left) and any(map(names_model, sides(node))):
        return "comparison with a model"
    if isinstance(node, ast.MatchValue) and names_model(node.value):
        return "comparison with a model"
    if isinstance(node, ast.Dict) and any(key is not None and names_model(key) for key in node.keys):
        return "table by model"
    if isinstance(node, ast.Attribute) and node.attr in FLAGS and is_scheduler(node.value):
        return f"flag {node.attr} of a scheduler"
    if (
        isinstance(node, ast.Attribute)
        and node.attr in FIELDS
        and ends(node.value) == "model"
        and not is_own(node.value)
    ):
        return f"rule {node.attr} of a model"
    if isinstance(node, ast.Call) and ends(node.func) == "getattr" and len(node.args) > 1:
        flag = node.args[1]
        if isinstance(flag, ast.Constant) and flag.value in FLAGS and is_scheduler(node.args[0]):
            return f"flag {flag.value} of a scheduler"
    if isinstance(node, ast.Call) and ends(node.func) in ("isinstance", "issubclass") and len(node.args) == 2:
        kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        if any(ends(kind) in BASES for kind in kinds):
            return "comparison with the base class of a family"
    return None


def branches(source: str) -> Iterator[tuple[int, str]]:
    """(line, what it is) of every branch on the execution model."""
    for node in ast.walk(ast.parse(source)):
        if (what := found_in(node)) is not None:
            yield node.lineno, what


def outside_the_rooms() -> dict[str, int]:
    """{file: branches} of every file that has some."""
    found = {}
    for folder in PYTHON:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(ROOMS) and (count := len(list(branches(path.read_text())))):
                found[name] = count
    return found


@pytest.mark.parametrize(("text", "what"), [
    ('if execution["model"] == "colocation": pass', "comparison with a model"),
    ('slow = "typed_workers" != scheduler.model.name', "comparison with a model"),
    ('x = model in ("slotted", "other")', "comparison with a model"),
    ("x = cls.model is TYPED_WORKERS", "comparison with a model"),
    ("x = execution.COLOCATION in models", "comparison with a model"),
    ("x = name == SLOTTED.name", "comparison with a model"),
    ('match model:\n    case "slotted": pass', "comparison with a model"),
    ('TITLES = {"slotted": "Slots"}', "table by model"),
    ("if self.scheduler.lanes: pass", "flag lanes of a scheduler"),
    ("x = scheduler_class(name).groups", "flag groups of a scheduler"),
    ('x = getattr(scheduler, "lanes", False)', "flag lanes of a scheduler"),
    ("x = isinstance(scheduler, (int, GroupedScheduler))", "comparison with the base class of a family"),
    ("x = isinstance(cls.model, Slotted)", "comparison with the base class of a family"),
    ("x = cls.model == TypedWorkers(fixed=True)", "comparison with a model"),
    ("if self.scheduler.fixed: pass", "flag fixed of a scheduler"),
    ("x = 1 if scheduler.model.fills else 2", "rule fills of a model"),
    ('x = phase.model == "observed"', "comparison with a model"),
    ("x = OBSERVED in models", "comparison with a model"),
    ("x = cls is ObservedScheduler", "comparison with the scheduler of a model"),
    ("x = scenario.scheduler == ObservedScheduler.name", "comparison with the scheduler of a model"),
])  # fmt: skip
def test_a_branch_is_found(text, what):
    assert [found for _, found in branches(text)] == [what]


@pytest.mark.parametrize("text", [
    'name = "slotted"', "model = SLOTTED", "x = decision.workers", "x = pool.groups", "x = typed.lanes(cluster, 0)",
    'x = data["groups"]', "model = TypedWorkers(fixed=True)", "x = cls.model.supports", "x = pool.fills",
    "x = self.model.cloud", 'x = scheduler.model.ledger(cluster, jobs, scheduler)', "x = RULES[execution['model']]",
    'x = kind == "grouped"', 'x = data["scope"] == "observed"', "x = cls.model.records",
])  # fmt: skip
def test_what_is_no_branch_is_not(text):
    assert list(branches(text)) == []


def test_what_only_one_model_has_is_declared_by_that_model():
    assert {"chunks", "cloud", "fixed", "fills"} == FIELDS
    assert not any(hasattr(BaseScheduler, name) for name in FIELDS | {"supports"})


def test_no_branch_on_the_model_outside_the_rooms_of_the_families():
    assert outside_the_rooms() == {}
