"""The table of metrics names what runs produce, once each, and nothing else does."""

import re
from pathlib import Path

import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.reporting.metric_table import BY_KEY, COMPARISON, HIGHER, JOB, LOWER, METRICS, RUN, UNITS, value_of
from scheduling.reporting.metrics import summarize
from scheduling.workloads import generate

ROOT = Path(__file__).resolve().parents[3]
OPEN = ("lanes.busy",)  # keys below it are names of sites and of worker types


def keys_of(metrics, before=""):
    """The paths of all values."""
    for name, value in metrics.items():
        path = before + name
        if isinstance(value, dict) and path not in OPEN:
            yield from keys_of(value, path + ".")
        else:
            yield path


def slotted():
    return "oasis", *generate("oasis", num_jobs=8, num_servers=4, seed=1)


def typed_workers():
    return "a_online", *generate("a-online", num_jobs=8, num_servers=4, seed=1)


def colocation():
    return "harmony", *generate("harmony", num_jobs=8, num_servers=8, seed=1)


@pytest.fixture(scope="module")
def produced():
    """{family: metrics of a run}"""
    found = {}
    for family in (slotted, typed_workers, colocation):
        scheduler, cluster, jobs = family()
        found[family.__name__] = summarize(simulate(cluster, jobs, build(scheduler), 0), cluster, jobs)
    return found


@pytest.mark.parametrize("family", ["slotted", "typed_workers", "colocation"])
def test_every_key_of_a_run_is_in_the_table(produced, family):
    assert [key for key in keys_of(produced[family]) if key not in BY_KEY or BY_KEY[key].scope != RUN] == []


def test_every_key_of_the_table_is_produced_by_a_run_of_some_family(produced):
    assert {metric.key for metric in METRICS if metric.scope == RUN} == {
        key for run in produced.values() for key in keys_of(run)
    }


def test_a_value_is_found_by_its_key(produced):
    assert value_of(produced["colocation"], "groups.moves") == produced["colocation"]["groups"]["moves"]
    assert value_of(produced["slotted"], "groups.moves") is None
    assert value_of({"jobs": 3}, "jobs.of") is None


def test_every_row_is_whole():
    assert len(BY_KEY) == len({metric.title for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.title
        assert metric.unit in UNITS
        assert metric.direction in (HIGHER, LOWER, None)
        assert metric.scope in (RUN, COMPARISON, JOB)
        assert re.fullmatch(r"[^.]\S.*\.", metric.definition), metric.key
        assert ". " not in metric.definition, f"{metric.key}: one sentence"


def sources():
    """What the browser gets, and what answers it."""
    yield from (path for path in sorted((ROOT / "static" / "js").rglob("*.js")))
    yield from sorted((ROOT / "templates").rglob("*.html"))
    for package in ("dashboard", "twin"):
        yield from sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric.scope != JOB], ids=lambda metric: metric.key)
def test_no_other_file_writes_a_title(metric):
    """As a text of its own: within a sentence the words are free."""
    written = re.compile(rf"""(["'`>]){re.escape(metric.title)}["'`<]""")
    assert [str(path.relative_to(ROOT)) for path in sources() if written.search(path.read_text())] == []
