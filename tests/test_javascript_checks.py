"""The checks of JavaScript: ESLint, Prettier and the check of types see every module of the repository."""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_OURS = "static/vendor/"
UNTYPED = "tests/js/"  # tests hand over parts of values on purpose


def modules() -> set[str]:
    """The JavaScript of the repository, without that of others."""
    names = subprocess.run(["git", "ls-files", "*.js"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in names.split() if not name.startswith(NOT_OURS)}


def covered(names: set[str], places: list[str]) -> set[str]:
    return {name for name in names if any(name == place or name.startswith(f"{place}/") for place in places)}


def arguments(text: str, tool: str) -> list[str]:
    """The files and folders that a command gives to the tool."""
    words = re.search(rf"{tool}\S* (.*?)(?:\"|$)", text, re.MULTILINE)
    assert words, tool
    return [word for word in words[1].split() if not word.startswith("-") and word != "warn"]


def test_eslint_and_prettier_see_every_module():
    command = (ROOT / "bin/test").read_text()
    scripts = json.loads((ROOT / "package.json").read_text())["scripts"]
    for text, tool in [
        (command, "eslint/bin/eslint.js"),
        (command, "prettier/bin/prettier.cjs"),
        (scripts["lint"], "eslint"),
        (scripts["format"], "prettier"),
    ]:
        assert modules() - covered(modules(), arguments(text.replace('"$node" ', ""), tool)) == set(), tool


def test_the_check_of_types_sees_every_module_but_the_tests():
    include = json.loads((ROOT / "tsconfig.all.json").read_text())["include"]
    rest = modules() - covered(modules(), include)
    assert {name for name in rest if not name.startswith(UNTYPED)} == set()


def test_prettier_is_told_to_ignore_none_of_them():
    """Its list of ignored files ignores everything, and takes back the folders that are ours."""
    back = [line.removeprefix("!") for line in (ROOT / ".prettierignore").read_text().split() if line.startswith("!")]
    places = [pattern.removesuffix("/**/*.js") for pattern in back]
    assert modules() - covered(modules(), places) == set()
