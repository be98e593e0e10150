"""What the docs list is what there is."""

import re
from pathlib import Path

import pytest

import experiments
from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers
from scheduling.model.provenance import FORMER, PROVENANCES
from scheduling.reporting.metric_table import METRICS
from twin.alerts.base import names, rule_class
from twin.files.jobs_jsonl import JOB_KEYS
from twin.push.vocabulary import EVENT_TYPES, JobData
from twin.traces import importers
from twin.traces.importing.reading import UNIT_NAMES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def cells(path: Path, column: int = 0) -> set[str]:
    """The names in backquotes of a column of the tables of a page."""
    rows = [line.split("|")[1:-1] for line in path.read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[column])}


def test_every_trace_format_is_listed():
    assert cells(DOCS / "traces.md") == set(importers.formats())


def test_the_facts_of_a_trace_format_state_its_unit():
    rows = [line.split("|")[1:-1] for line in (DOCS / "traces.md").read_text().splitlines() if line.startswith("| `")]
    facts = {row[0].strip(" `"): row[1].strip() for row in rows if len(row) == 6}
    assert set(facts) == set(importers.formats())
    units = {name: getattr(module, "TIME_UNIT", "") for name, module in importers.formats().items()}
    assert {name: facts[name].partition(";")[0] for name, unit in units.items() if unit} == {
        name: UNIT_NAMES[unit] for name, unit in units.items() if unit
    }


def test_every_scheduler_is_listed():
    assert cells(ROOT / "README.md") == set(schedulers())


def test_every_experiment_is_documented():
    tables = [cells(page) for page in sorted((DOCS / "papers").glob("*.md"))]
    assert set().union(*tables) == set(experiments.names())


def test_the_screen_credits_the_papers_that_the_readme_credits():
    rows = [line.split("|")[1:-1] for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `")]
    titles = {name.strip(" `"): re.findall('"([^"]+)"', source) for name, _, source in rows}
    assert titles["pd_ors"] == ["Toward Efficient Online Scheduling for Distributed Machine Learning Systems"]
    assert titles["batch_sche"] == ["Online Scheduling of Heterogeneous Distributed Machine Learning Jobs"]
    papers = {name: cls.paper for name, cls in schedulers().items()}
    assert [(name, title) for name, named in titles.items() for title in named if title not in papers[name]] == []
    assert "Yu, Liu, Wu, Ji, Bentley" in papers["pd_ors"]


def test_the_table_of_metrics_is_that_of_the_code():
    rows = [
        f"| `{metric.key}` | {metric.title} | {metric.unit or '–'} | {metric.direction or '–'} | {metric.scope} "
        f"| {metric.definition} |"
        for metric in METRICS
    ]
    assert [line for line in (DOCS / "metrics.md").read_text().splitlines() if line.startswith("| `")] == rows


def test_the_table_of_pushed_events_is_that_of_the_code():
    fields = {name: kind.data.__struct_fields__ for name, kind in EVENT_TYPES.items()}
    common = JobData.__struct_fields__
    own = {n: [f for f in names if not n.startswith("job.") or f not in common] for n, names in fields.items()}
    rows = [f"| `{name}` | {kind.about} | {', '.join(own[name]) or '–'} |" for name, kind in EVENT_TYPES.items()]
    page = (DOCS / "push.md").read_text()
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
    assert all(f"`{field}`" in page for field in common)


def test_the_table_of_alert_rules_is_that_of_the_code():
    rows = []
    for name in names():
        rule = rule_class(name)
        thresholds = [f"{one['help']}: {one['default']:g} {one['unit']}".rstrip() for one in describe(rule.Parameters)]
        about, listed = ", ".join(rule.about), "; ".join(thresholds)
        rows.append(f"| `{name}` | {rule.title} | {rule.level} | {about} | {rule.summary} | {listed} |")
    assert [line for line in (DOCS / "alerts.md").read_text().splitlines() if line.startswith("| `")] == rows


def test_the_fields_of_a_job_are_those_of_the_code():
    section = (DOCS / "formats.md").read_text().partition("## jobs.jsonl")[2].partition("\n## ")[0]
    listed = re.search(r"schedulers need:\s+`([^`]+)`", section)[1].replace("\n", " ").split(", ")
    own = ["id", "arrival_ms"]
    assert own + listed == list(JOB_KEYS)
    assert {*PROVENANCES, *FORMER} <= set(re.findall(r"`(\w+)`", section))


def test_every_event_of_the_kernel_is_in_the_vocabulary():
    kernel = "".join(path.read_text() for path in (ROOT / "scheduling" / "kernel").glob("*.py"))
    emitted = set(re.findall(r'\.emit\([^"]*"(\w+)"', kernel))
    assert emitted >= {"job_arrived", "plan_changed", "server_changed"}
    assert emitted <= cells(DOCS / "formats.md")


@pytest.mark.parametrize("page", [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
