"""No branch on the execution model outside the rooms of the models, and none on the mode of a run or a plan's scope.

Whoever needs one asks the model, a table by model, or a rule of the mode or of the scope, which are declared once.

Sets of exceptions are exact: who removes one takes it off its list.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduling.kernel.execution_model import ExecutionModel
from scheduling.kernel.plan_scopes import SCOPES
from scheduling.kernel.registry import recorders, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from twin.models.run_modes import MODES

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("scheduling/slotted", "scheduling/typed_workers", "scheduling/colocation", "scheduling/observed")
PYTHON = ("scheduling", "twin", "dashboard", "benchmarks", "experiments")
EVERY = [*schedulers().values(), *recorders().values()]
MODELS = {cls.model.name for cls in EVERY}
CLASSES = {type(cls.model) for cls in EVERY}
# as execution.py of each model names its own
INSTANCES = {name.upper() for name in MODELS} | {cls.__name__ for cls in CLASSES}
# rules that only one model has
FIELDS = {name for cls in CLASSES for name in cls.__annotations__} - set(ExecutionModel.__annotations__)
FLAGS = {"lanes", "groups"} | FIELDS  # of a scheduler, in place of its model
SCHEDULERS = {"scheduler", "cls", "before", "BaseScheduler"}  # what a scheduler is called, also with something in front
BASES = {"ReallocatingScheduler", "GroupedScheduler"} | {cls.__name__ for cls in CLASSES}
RECORDING = {cls.__name__ for cls in EVERY if cls.model.records}
MODE_CONSTANTS = {name.upper() for name in MODES}  # of Run
SCOPE_CONSTANTS = {"OF_JOBS", "OF_WORKERS", "OF_HISTORY"}
LOOKUPS = {"filter", "exclude", "get", "Q"}
DECLARED = {"twin/models/run_modes.py", "scheduling/kernel/plan_scopes.py"}
VERIFIER = {  # it shares no rules with what it verifies, so it has a fold of its own
    "scheduling/colocation/verification/group_replay.py": 2, "scheduling/verification/replay.py": 1,
}  # fmt: skip
DECLARED_FOR_PAGES = {"util/run-modes.js", "core/columns/frames.js"}
PAGES = {  # what a page can decide by a name
    "mode": re.compile(
        r"\bmode(?:\.value)?\)?\s*[!=]==?|[!=]==?\s*\w+\??\.mode\b|['\"`]mirror['\"`]"
        r"|(?:includes|has)\([\w.?]*\bmode\)"
    ),
    "scope": re.compile(r"\bscope\s*[!=]==\s*['\"](?:job|worker|observed)\b|(?:includes|has)\([\w.?]*\bscope\)"),
}
TEMPLATE = re.compile(r"\bmode\s*(?:[!=]=|in\b)")


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
    if isinstance(node, ast.Call) and ends(node.func) in ("getattr", "hasattr") and len(node.args) > 1:
        owner, which = node.args[:2]
        if isinstance(owner, ast.Attribute) and owner.attr == "parameters" and is_scheduler(owner.value):
            return f"parameter {ast.literal_eval(which)} of a scheduler" if isinstance(which, ast.Constant) else None
    if isinstance(node, ast.Call) and ends(node.func) in ("isinstance", "issubclass") and len(node.args) == 2:
        kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        if any(ends(kind) in BASES for kind in kinds):
            return "comparison with the base class of a model"
    return None


def names_mode(node: ast.AST) -> bool:
    """Whether it is `Run.LIVE` or the name of a mode, or holds one of them as an item."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(names_mode, node.elts))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in MODES
    return isinstance(node, ast.Attribute) and node.attr in MODE_CONSTANTS and ends(node.value) in ("Run", "run_modes")


def states(node: ast.AST, what: str) -> bool:
    """Whether it is the mode, or the scope, of something: run.mode, mode, data["mode"]."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == what
    return ends(node) == what


def names_scope(node: ast.AST) -> bool:
    """Whether it is a constant of plan_scopes.py or the name of a scope, or holds one of them as an item."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(names_scope, node.elts))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in SCOPES
    return ends(node) in SCOPE_CONSTANTS or (
        isinstance(node, ast.Attribute) and node.attr == "name" and ends(node.value) in SCOPE_CONSTANTS
    )


def looked_up(node: ast.AST) -> bool:
    """Whether it is a query for runs of a mode by its name: filter(mode=...); modes_where(...) gives names by rules."""
    return (
        isinstance(node, ast.Call)
        and ends(node.func) in LOOKUPS
        and any(
            word.arg == "mode" or (word.arg == "mode__in" and ends(word.value) != "modes_where")
            for word in node.keywords
        )
    )


def named_in(node: ast.AST) -> str | None:
    """What the node decides by the name of a mode or of a scope, or None."""
    if looked_up(node):
        return "query by a mode"
    if isinstance(node, ast.Dict) and any(isinstance(key, ast.Attribute) and names_mode(key) for key in node.keys):
        return "table by mode"
    for what, names in (("mode", names_mode), ("scope", names_scope)):
        if isinstance(node, ast.Compare) and any(map(names, sides(node))):
            constants = [side for side in sides(node) if names(side) and not isinstance(side, ast.Constant)]
            if any(states(side, what) for side in sides(node)) or any(ends(side) for side in constants):
                return f"comparison with a {what}"
        if isinstance(node, ast.Match) and states(node.subject, what):
            return f"comparison with a {what}"
    return None


def by_name(source: str) -> list[str]:
    """What a source decides by the names of modes and scopes."""
    return [what for node in ast.walk(ast.parse(source)) if (what := named_in(node)) is not None]


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
    ('if not hasattr(scheduler.parameters, "gain"): pass', "parameter gain of a scheduler"),
    ('x = getattr(self.scheduler.parameters, "gain", 0)', "parameter gain of a scheduler"),
    ("x = isinstance(scheduler, (int, GroupedScheduler))", "comparison with the base class of a model"),
    ("x = isinstance(cls.model, Slotted)", "comparison with the base class of a model"),
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
    'name = "slotted"', "model = SLOTTED", "x = decision.workers", "x = pool.groups", "x = typed.worker_slots(x, 0)",
    'x = data["groups"]', "model = TypedWorkers(fixed=True)", "x = cls.model.supports", "x = pool.fills",
    "x = self.model.cloud", "x = scheduler.model.ledger(cluster, jobs, scheduler)", "x = RULES[execution['model']]",
    "x = scheduler.parameters.seed", "x = getattr(scheduler.parameters, name)",
    'x = hasattr(connector.parameters, "url")',
    'x = kind == "grouped"', 'x = data["scope"] == "observed"', "x = cls.model.records",
])  # fmt: skip
def test_what_is_no_branch_is_not(text):
    assert list(branches(text)) == []


def test_what_only_one_model_has_is_declared_by_that_model():
    assert {"chunks", "cloud", "fixed", "fills"} == FIELDS
    assert not any(hasattr(BaseScheduler, name) for name in FIELDS | {"supports"})


def test_no_branch_on_the_model_outside_the_rooms_of_the_families():
    assert outside_the_rooms() == {}


@pytest.mark.parametrize(("text", "what"), [
    ("if run.mode != Run.LIVE: pass", "comparison with a mode"),
    ("x = Run.MIRROR == parent.mode", "comparison with a mode"),
    ("x = mode in (Run.BATCH, Run.LIVE)", "comparison with a mode"),
    ('x = given["mode"] == "live"', "comparison with a mode"),
    ('match run.mode:\n    case "mirror": pass', "comparison with a mode"),
    ("x = Run.objects.exclude(mode=Run.MIRROR)", "query by a mode"),
    ('x = Q(mode__in=("batch", "live"))', "query by a mode"),
    ("WORDS = {Run.LIVE: 1}", "table by mode"),
    ('if data["scope"] == "observed": pass', "comparison with a scope"),
    ('x = scope != "worker"', "comparison with a scope"),
    ("x = scope_of(data) is OF_WORKERS", "comparison with a scope"),
    ('x = data["scope"] in ("job", "observed")', "comparison with a scope"),
])  # fmt: skip
def test_a_comparison_with_a_mode_or_a_scope_is_found(text, what):
    assert by_name(text) == [what]


@pytest.mark.parametrize("text", [
    "if run.mode_rules.paced: pass", "x = Run.objects.filter(mode__in=modes_where(simulated=True))",
    "run = Run.objects.create(mode=Run.MIRROR)", 'x = price.mode == "marginal"', 'x = noun == "job"',
    "x = metric.scope == RUN", 'plan = {"scope": OF_JOBS.name}', "x = scope_of(data).restates",
    "x = about == BATCH", 'x = status == "live"',
])  # fmt: skip
def test_what_is_no_comparison_with_a_mode_or_a_scope_is_not(text):
    assert by_name(text) == []


def test_modes_and_scopes_are_asked_for_their_rules():
    found = {
        path.relative_to(ROOT).as_posix(): len(by_name(path.read_text()))
        for folder in PYTHON
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    assert {name: count for name, count in found.items() if count and name not in DECLARED} == VERIFIER


@pytest.mark.parametrize(("line", "what"), [
    ("if (run.mode === 'live') return;", "mode"), ("filter(({ mode }) => mode !== 'batch')", "mode"),
    ("const live = this.mode.value === 'live';", "mode"), ("const real = REAL.includes(run.mode);", "mode"),
    ("switch (kind) { case 'mirror': }", "mode"), ("if ('live' === status?.mode) return;", "mode"),
    ("const ofJobs = plan.scope !== 'worker';", "scope"),
])  # fmt: skip
def test_a_comparison_of_a_page_is_found(line, what):
    assert [name for name, pattern in PAGES.items() if pattern.search(line)] == [what]


@pytest.mark.parametrize("line", [
    "if (rulesOf(run).paced) return;", "this.state === 'live'", "modeText(run.mode)", "h('th', { scope: 'col' })",
    "const source = scope.input.value === 'ingest';", "again(s, 'batch', currentTarget)",
    "filter(({ scope }) => scope === 'run')",
])  # fmt: skip
def test_what_is_no_comparison_of_a_page_is_not(line):
    assert not any(pattern.search(line) for pattern in PAGES.values())


def test_pages_ask_modes_and_scopes_for_their_rules():
    scripts = {path.relative_to(ROOT / "static/js").as_posix(): path for path in (ROOT / "static/js").rglob("*.js")}
    assert len(scripts) > 100
    assert {
        f"{name}: {line.strip()}"
        for name in set(scripts) - DECLARED_FOR_PAGES
        for line in scripts[name].read_text().splitlines()
        if any(pattern.search(line) for pattern in PAGES.values())
    } == set()


def test_templates_ask_modes_for_their_rules():
    assert TEMPLATE.search('{% if run.mode != "mirror" %}')
    assert not TEMPLATE.search("{% if run.mode_rules.paced %}")
    assert [path.name for path in (ROOT / "templates").rglob("*.html") if TEMPLATE.search(path.read_text())] == []
