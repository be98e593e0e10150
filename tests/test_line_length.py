"""Lines of at most 120 characters in code, styles, templates and prose."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAX_LENGTH = 120
EXEMPT = re.compile(r"(^|/)(migrations|vendor|fixtures)/")
FENCE = re.compile(r"\s*```")


def tracked(kind: str) -> list[str]:
    """The files of the repository that end like this, as far as they are written by hand."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", f"*.{kind}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and not EXEMPT.search(name) and (ROOT / name).is_file()]


def prose(lines: list[str]) -> list[tuple[int, str]]:
    """(number, line) of a page outside tables and blocks of code, but for lines with an address."""
    kept, fenced = [], False
    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not (fenced or line.lstrip().startswith("|") or line.startswith("    ") or "://" in line):
            kept.append((number, line))
    return kept


@pytest.mark.parametrize("kind", ["py", "js", "css", "html", "md"])
def test_no_line_is_too_long(kind):
    names = tracked(kind)
    assert names
    found = []
    for name in names:
        lines = (ROOT / name).read_text().split("\n")
        for number, line in prose(lines) if kind == "md" else enumerate(lines, 1):
            if len(line) > MAX_LENGTH:
                found.append(f"{name}:{number}")
    assert found == []


def test_tables_blocks_and_addresses_are_no_prose():
    page = ["Text", "| a | b |", "```sh", "command", "```", "    command", "See https://example.org/", "- item"]
    assert prose(page) == [(1, "Text"), (8, "- item")]
