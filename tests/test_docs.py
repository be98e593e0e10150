"""What the docs list is what there is."""

import re
from pathlib import Path

import pytest

from scheduling.registry import schedulers
from twin import importers

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def cells(path: Path, column: int = 0) -> set[str]:
    """The names in backquotes of a column of the tables of a page."""
    rows = [line.split("|")[1:-1] for line in path.read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[column])}


def test_every_trace_format_is_listed():
    assert cells(DOCS / "traces.md") == set(importers.formats())


def test_every_scheduler_is_listed():
    assert cells(ROOT / "README.md") == set(schedulers())


def test_every_event_of_the_kernel_is_in_the_vocabulary():
    told = set(re.findall(r'self\._tell\([^"]*"(\w+)"', (ROOT / "scheduling" / "simulation.py").read_text()))
    assert told >= {"job_arrived", "planned", "server_changed"}
    assert told <= cells(DOCS / "formats.md")


@pytest.mark.parametrize("page", [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
