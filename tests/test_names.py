"""Names: a bound is MAX_ or MIN_ and what it bounds, columns and parts of tuples have names, some words have others."""

import re
import subprocess
from pathlib import Path

import pytest

from scheduling.reporting.metric_table import METRICS

ROOT = Path(__file__).resolve().parents[1]
SUPERLATIVES = "MOST|LEAST|LARGEST|SMALLEST|LONGEST|SHORTEST|HIGHEST|LOWEST|GREATEST|FEWEST"
# at the beginning of a line, also exported, in a tuple or in a class
CONSTANT = re.compile(
    rf"^\s*(?:export )?(?:const )?[\[(]?(?:[A-Z_]+, )*?((?:AT_)?(?:{SUPERLATIVES})(?:_[A-Z_]+)?)\b.*[^=]=[^=>]"
)
# words for bounds, of constants that are numbers
WORDS = "PATIENCE|LIMIT|CAP|BOUND|ENOUGH|FEW|MANY|KEPT|SHOWN|NAMED"
OTHER_BOUND = re.compile(
    rf"^\s*(?:export )?(?:const )?_?((?:[A-Z]+_)*?(?:{WORDS})(?:_(?:S|MS|H|DAYS|PX|MB|JOBS))?)(?:: \w+)? = -?\d"
)
# SHORTEST: of queues, the shortest job first; the end of a whisker; Slurm's name of a value; a parameter of Harmony;
# lengths of time for which something is kept or shown; a status of HTTP
NO_BOUNDS = {"SHORTEST", "CAP_PX", "NO_LIMIT_S", "PATIENCE", "KEPT_DAYS", "KEPT_MS", "KEPT_S", "SHOWN_MS", "TOO_MANY"}


def bounds_under_other_names(source: str) -> list[str]:
    found = [match[1] for line in source.splitlines() if (match := CONSTANT.match(line) or OTHER_BOUND.match(line))]
    return [name for name in found if name not in NO_BOUNDS and not name.startswith(("MAX_", "MIN_"))]


@pytest.mark.parametrize(("line", "names"), [
    ("LEAST_MS = 5", ["LEAST_MS"]), ("export const MOST = 3;", ["MOST"]), ("LONGEST: int = 3", ["LONGEST"]),
    ("[LARGEST_PX, SMALLEST_PX] = [1, 2]", ["LARGEST_PX"]), ("    AT_LEAST = 3", ["AT_LEAST"]),
    ("PATIENCE_S = 2.0", ["PATIENCE_S"]), ("const FEW = 50;", ["FEW"]), ("TIME_LIMIT_S = 1", ["TIME_LIMIT_S"]),
    ("SHOWN = 20", ["SHOWN"]), ("_FEW = 4", ["FEW"]), ("MAX_KEPT = 3", []), ("SHOWN = PAIRED", []), ("KEPT_S = 3", []),
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


# a column by its number: bars[:, 4], bar[3], row[0], rows[kept, 1], itemgetter(4)
COLUMN = re.compile(
    r"\w\[:, ?-?\d\]|\b(?:bars?|row|verdict|segment)\[\d\]|\b\w*(?:rows|bars|jobs|verdicts|plans)\[\w+, ?\d\]"
    r"|\bitemgetter\(\d|\[\"bars\"\]\[\d|\b\w*(?:rows|spans|stretches)\[-1\]\[\d\]"
)
# their columns are positions on an axis, such as numbers of workers, or of servers with the cloud at the end
AXES = {
    "dashboard/readmodels/run_payloads.py", "scheduling/colocation/selection/grouping.py",
    "scheduling/slotted/solvers/hulls.py", "scheduling/slotted/solvers/multi_machine_exact.py",
    "scheduling/slotted/solvers/single_machine.py", "scheduling/slotted/solvers/slot_cost.py",
}  # fmt: skip
FIRST_BAR = {  # of a list of bars
    "benchmarks/compare.py", "scheduling/colocation/verification/group_replay.py",
}  # fmt: skip
NUMBERED = AXES | FIRST_BAR
# a part of a tuple by its number, behind an index: ends[job][0]
TUPLE_PART = re.compile(r"\w\[[\w.]*[A-Za-z_][\w.]*\]\[-?\d\]")
# what has a number there is a true position
POSITIONS = {
    "benchmarks/a_online.py": "the first of the measured runs of a size",
    "benchmarks/follower_cycle.py": "the time of the present cycle, the last of a list",
    "scheduling/algorithms/fifo.py": "the head of a line of the queue",
    "scheduling/algorithms/quota_queues.py": "the head of a heap",
}  # fmt: skip
PRODUCT = ("scheduling/", "twin/", "dashboard/", "benchmarks/", "experiments/", "static/js/")
# replaced words -> what is said
WORDS_REPLACED = {
    r"lanes?|(?:[a-z]+_)?lanes?(?:_[a-z]+)?": "worker (slot), sub-row, resource track",
    r"GangScheduler": "ReallocatingScheduler", r"PIECE\w*": "PART, BATCH, segment", r"[Mm]anner": "search",
}  # fmt: skip
WORD = re.compile("|".join(rf"\b(?:{word})\b" for word in WORDS_REPLACED))
# where stored names are (docs/decisions/0025)
STORED = re.compile(
    r"\b(?:worker_lanes|ps_lanes|lanes_was|lane_left|lanes_planned|bars_lane|called lane|lanes: workers)\b"
    r"|[`\"'.{ ]lanes?[`\"'?:.]|\.lanes\b|, lane, chunk|,lane,"
)


def columns_by_number(source: str) -> list[str]:
    code = (re.sub(r"\s+(?:#|//) .*", "", line) for line in source.splitlines())
    return [match[0] for line in code for match in COLUMN.finditer(line) if '"""' not in line]


def tuple_parts(source: str) -> list[str]:
    return [match[0] for line in source.splitlines() for match in TUPLE_PART.finditer(line)]


def replaced_words(source: str) -> list[str]:
    return [match[0] for line in source.splitlines() for match in WORD.finditer(STORED.sub("", line))]


def product() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.py", "*.js"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [n for n in listed.stdout.splitlines() if n.startswith(PRODUCT) and "/migrations/" not in n]


@pytest.mark.parametrize(("line", "found"), [
    ("ends = bars[:, 4]", ["s[:, 4]"]), ("if bar[3] <= at_ms:", ["bar[3]"]), ("bars[kept, 1]", ["bars[kept, 1]"]),
    ("row[0]", ["row[0]"]), ("verdict[2]", ["verdict[2]"]), ("one.segment[1]", ["segment[1]"]),
    ("max(bars, key=itemgetter(4))", ["itemgetter(4"]), ("itemgetter(END)", []), ("verdict[LATEST_KIND]", []),
     ("bars[:, END]", []), ("rng([seed, 2])", []),
    ('data["bars"][0]', ['["bars"][0']), ("spans[-1][1] is None", ["spans[-1][1]"]), ("spans[-1][UNTIL]", []),
    ("x = 1  # not bars[:, 4]", []),
])  # fmt: skip
def test_a_column_by_its_number_is_found(line, found):
    assert columns_by_number(line) == found


@pytest.mark.parametrize(("line", "found"), [
    ("if ends[job][0] <= at_ms:", ["s[job][0]"]), ("steps[i][1] > 0", ["s[i][1]"]), ("was[step][-1]", ["s[step][-1]"]),
    ("LEVELS[rule.level][0]", ["S[rule.level][0]"]), ("ends[job].end_ms", []), ("grid[1][2]", []),
    ("_, end = x[i]", []),
])  # fmt: skip
def test_a_part_of_a_tuple_is_found(line, found):
    assert tuple_parts(line) == found


@pytest.mark.parametrize(("line", "found"), [
    ("lane = bar.worker_slot", ["lane"]), ("for lanes in typed:", ["lanes"]), ("lane_of = 1", ["lane_of"]),
    ("class Drf(GangScheduler)", ["GangScheduler"]), ("PIECE_BYTES = 1", ["PIECE_BYTES"]), ("manner", ["manner"]),
    ('"worker_lanes": 1', []), ('columns["lane"]', []), ("metrics.get('lanes.busy')", []), ("plane", []),
])  # fmt: skip
def test_a_replaced_word_is_found(line, found):
    assert replaced_words(line) == found


def test_columns_have_names():
    found = {name for name in product() if columns_by_number((ROOT / name).read_text())}
    assert found == NUMBERED


def test_parts_of_tuples_have_names():
    assert {name for name in product() if tuple_parts((ROOT / name).read_text())} == set(POSITIONS)


def test_replaced_words_do_not_come_back():
    found = {name: words for name in product() if (words := replaced_words((ROOT / name).read_text()))}
    assert found == {}


TEXT = re.compile(r"""(["'`])([^"'`\n]+)\1""")
TITLES = {metric.title for metric in METRICS}
# the utility by which a decision was made; the field of a job; samples of the parts of pages
OTHER_QUANTITIES = {
    "static/js/run/ask.js", "static/js/run/drawer/payoff.js", "static/js/util/job-fields.js",
    "static/js/pages/styleguide.js",
}  # fmt: skip


def titles_of_metrics(source: str) -> list[str]:
    return [text for _, text in TEXT.findall(source) if text in TITLES]


@pytest.mark.parametrize(("line", "found"), [
    ("change('jct', 'JCT', 'ms')", ["JCT"]), ('Column("u", "Utility")', ["Utility"]), ("metrics.get('jct_ms')", []),
    ("title: 'Mean JCT'", ["Mean JCT"]), ("// the JCT of a job", []), ("`JCT of ${name}`", []),
])  # fmt: skip
def test_a_title_of_a_metric_is_found(line, found):
    assert titles_of_metrics(line) == found


def test_titles_of_metrics_are_in_their_table_only():
    pages = [name for name in product() if name.startswith(("static/js/", "dashboard/", "twin/"))]
    assert {name for name in pages if titles_of_metrics((ROOT / name).read_text())} == OTHER_QUANTITIES
