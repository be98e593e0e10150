"""Modes of runs: the rules of each, the same for pages, and none that nothing asks for."""

import json
import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from twin.models import Run
from twin.models.run_modes import MODES, RunMode, modes_where

ROOT = Path(__file__).resolve().parents[2]
RULES = [field.name for field in fields(RunMode) if field.name != "name"]
FOR_PAGES_ONLY = {"title", "anyEnd"}
PRINTED = "import('./static/js/util/run-modes.js').then(({ MODES }) => console.log(JSON.stringify(MODES)))"


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def test_modes_are_found_by_their_rules():
    assert modes_where(simulated=True) == ("batch", "live")
    assert modes_where(simulated=True, paced=False) == ("batch",)
    assert modes_where(inputs_in_log=True) == ("mirror",)
    assert modes_where(simulated=False, certified=True) == ()
    with pytest.raises(AttributeError, match="swift"):
        modes_where(swift=True)


def test_a_run_has_the_rules_of_its_mode():
    assert (Run().mode_rules.name, Run(mode=Run.LIVE).mode_rules.paced) == ("batch", True)
    assert [Run(mode=mode).mode_rules.recorded for mode in MODES] == [False, False, True]


def test_pages_have_the_same_modes_with_the_same_rules():
    answered = subprocess.run(["node", "-e", PRINTED], cwd=ROOT, capture_output=True, text=True, check=True)
    for_pages = json.loads(answered.stdout)
    assert list(for_pages) == list(MODES)
    for name, rules in for_pages.items():
        shared = {camel(rule): getattr(MODES[name], rule) for rule in RULES if camel(rule) in rules}
        assert len(shared) == 5
        assert {rule: value for rule, value in rules.items() if rule not in FOR_PAGES_ONLY} == shared


def test_every_rule_is_asked_for():
    sources = [path for folder in ("twin", "dashboard") for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text() for path in [*sources, *(ROOT / "templates").rglob("*.html")])
    asked = re.compile(r"(?:rules|MODES\[.+\])\.(\w+)|modes_where\((\w+)=")
    assert {name for match in asked.finditer(text) for name in match.groups()} >= {*RULES, "recorded"}
