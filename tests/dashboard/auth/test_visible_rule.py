"""The one rule by which the dashboard reads objects of teams, held against its source."""

from __future__ import annotations

import ast
from pathlib import Path

from dashboard.auth.visible import PATHS

ROOT = Path(__file__).resolve().parents[3]


def unscoped(path: Path) -> list[str]:
    """Reads of owned models that are not inside a call of `visible` or `one`, nor the rows of a viewset by OfTeams."""
    tree = ast.parse(path.read_text())
    scoped = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("visible", "one", "seen"))
        or (isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "OfTeams" for base in node.bases))
    ]
    inside = {
        id(part)
        for node in scoped
        for outer in (node.body if isinstance(node, ast.ClassDef) else [node])
        if not isinstance(outer, ast.FunctionDef)
        for part in ast.walk(outer)
    }
    inside |= {  # a new one, not one that there is
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "create"
    }
    return [
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "objects"
        and getattr(node.value, "id", "") in {model.__name__ for model in PATHS}
        and id(node) not in inside
    ]


UNSCOPED = [  # of everybody; of the team of an object that is seen; rows that were checked before; a field that checks
    "dashboard/api/experiments.py: Trace.objects",
    "dashboard/api/inputs/scenarios.py: ClusterSpec.objects",
    *["dashboard/api/inputs/traces.py: Trace.objects"] * 3,
    *["dashboard/api/sweeps.py: Sweep.objects", "dashboard/api/sweeps.py: Scenario.objects"],
    "dashboard/pages/pages.py: Trace.objects",
    "dashboard/readmodels/studies/experiments.py: Trace.objects",
]
# what is counted or recorded for the twin as a whole, what a background check reads, and rows found by a visible object
WHOLE = {
    "dashboard/api/audit.py", "dashboard/auth/accounts.py", "dashboard/auth/moved_entries.py",
    "dashboard/auth/teams.py", "dashboard/auth/tokens.py", "dashboard/auth/visible.py",
    "dashboard/readmodels/alerts.py", "dashboard/readmodels/operation.py",
    "dashboard/api/retention.py", "dashboard/pages/health.py", "dashboard/api/serializers/scenarios.py",
    "dashboard/api/serializers/traces.py",
}  # fmt: skip


def test_the_dashboard_reads_owned_objects_by_the_one_rule():
    """Where this fails: put the rows into visible(rows, user), or take a number with one(rows, user, pk=...)."""
    found = []
    for path in sorted((ROOT / "dashboard").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name in WHOLE or "migrations" in name or "/management/" in name:
            continue
        found += unscoped(path)
    assert found == UNSCOPED
