"""Names of constants: a bound is MAX_ or MIN_ and what it bounds."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SUPERLATIVES = "MOST|LEAST|LARGEST|SMALLEST|LONGEST|SHORTEST|HIGHEST|LOWEST|GREATEST|FEWEST"
# at the beginning of a line, also exported, in a tuple or in a class
CONSTANT = re.compile(
    rf"^\s*(?:export )?(?:const )?[\[(]?(?:[A-Z_]+, )*?((?:AT_)?(?:{SUPERLATIVES})(?:_[A-Z_]+)?)\b.*[^=]=[^=>]"
)
ORDERS = {"SHORTEST"}  # of queues: the shortest job first


def bounds_under_other_names(source: str) -> list[str]:
    return [match[1] for line in source.splitlines() if (match := CONSTANT.match(line)) and match[1] not in ORDERS]


@pytest.mark.parametrize(("line", "names"), [
    ("LEAST_MS = 5", ["LEAST_MS"]), ("export const MOST = 3;", ["MOST"]), ("LONGEST: int = 3", ["LONGEST"]),
    ("[LARGEST_PX, SMALLEST_PX] = [1, 2]", ["LARGEST_PX"]), ("    AT_LEAST = 3", ["AT_LEAST"]),
    ("A, SHORTEST = 1, 2", []), ("MAX_LARGEST_MS = 1", []), ("if LEAST_MS == 5:", []), ("MAX_MS = 3", []),
])  # fmt: skip
def test_a_bound_under_another_name_is_found(line, names):
    assert bounds_under_other_names(line) == names


def test_bounds_are_max_or_min():
    listed = subprocess.run(["git", "ls-files", "*.py", "*.js"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.splitlines() if not name.startswith("static/vendor/")]
    assert len(files) > 1000
    found = {name: names for name in files if (names := bounds_under_other_names((ROOT / name).read_text()))}
    assert found == {}
