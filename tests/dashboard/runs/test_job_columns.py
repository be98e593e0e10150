"""A column of the table of jobs is declared once: the answers, their description and the page follow."""

import importlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dashboard.openapi.answers import COMPONENTS, runs
from dashboard.openapi.answers.notation import schema
from dashboard.readmodels import job_table
from dashboard.readmodels.job_table import Column
from scheduling.model.values import Cluster, Job, Server
from tests.dashboard.builders_answers import OF_RUN, recorded
from tests.dashboard.described_answers import description, forget
from tests.twin.builders import played_out
from twin.eventlog.fold import NEVER
from twin.models import Run, Scenario
from twin.scenarios.store import store_generated

ROOT = Path(__file__).resolve().parents[3]
ADDED = (
    Column("user", "User", "text", field="user"),
    Column("gradient_mb", "Gradient", "number", field="gradient_mb"),
    Column("wait_ms", "Wait", "duration", value=lambda times: np.where(
        times["start_ms"] >= 0, times["start_ms"] - times["arrived_ms"], NEVER)),
)  # fmt: skip
CLUSTER = Cluster("two", 1000, tuple(Server(f"s{i}", "edge", (1000, 1000, 16_000, 0, 2000)) for i in range(2)))
JOBS = [
    Job(f"j{i}", 500 * i, epochs=1, num_chunks=2, minibatches_per_chunk=2, minibatch_ms=500.0, gradient_mb=0.0,
        worker=(1000, 0, 0, 0, 1000), ps=(0, 1000, 0, 0, 1000), user=user)
    for i, user in enumerate(("ada", None, "zoe", "bob"))
]  # fmt: skip


@pytest.fixture
def added(monkeypatch):
    """Three more lines in the declaration of the columns; modules that read it when they are imported read it again."""
    with monkeypatch.context() as patch:
        patch.setattr(job_table, "COLUMNS", (*job_table.COLUMNS, *ADDED))
        importlib.reload(runs)
        for name, shape in runs.SHAPES.items():
            patch.setitem(COMPONENTS, name, schema(shape))
        forget()
        yield
    importlib.reload(runs)
    forget()


@pytest.fixture
def run(db):
    spec, trace = store_generated("named", CLUSTER, JOBS, 3)
    return played_out(Run.objects.create(scenario=Scenario.objects.create(
        name="named", cluster=spec, trace=trace, scheduler="srtf")))  # fmt: skip


def test_one_line_adds_a_column_to_the_answers_and_to_the_sort(added, viewer, run):
    declared = viewer.get(f"/api/runs/{run.pk}/static/").json()["job_columns"]
    assert declared[-3:] == [
        {"key": "user", "title": "User", "format": "text"},
        {"key": "gradient_mb", "title": "Gradient", "format": "number"},
        {"key": "wait_ms", "title": "Wait", "format": "duration"},
    ]
    rows = viewer.get(f"/api/runs/{run.pk}/jobs/", {"sort": "-user"}).json()["rows"]
    assert [row["user"] for row in rows] == ["zoe", "bob", "ada", None]
    assert {row["wait_ms"] for row in rows} == {row["start_ms"] - row["arrived_ms"] for row in rows}
    waits = [row["wait_ms"] for row in viewer.get(f"/api/runs/{run.pk}/jobs/", {"sort": "wait_ms"}).json()["rows"]]
    assert waits == sorted(waits)
    job = viewer.get(f"/api/runs/{run.pk}/jobs/0/").json()
    assert (job["user"], job["wait_ms"]) == ("ada", job["start_ms"] - job["arrived_ms"])


def test_one_line_adds_a_column_to_the_description(added):
    row = description()["components"]["schemas"]["RunJobs"]["properties"]["rows"]["items"]
    assert {column.key for column in ADDED} <= set(row["required"])
    assert [row["properties"][column.key] for column in ADDED] == [
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"anyOf": [{"type": "number"}, {"type": "null"}]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    ]
    keys = description()["components"]["schemas"]["RunStatic"]["properties"]["job_columns"]["items"]["properties"]
    assert keys["key"]["enum"][-3:] == ["user", "gradient_mb", "wait_ms"]


def test_one_line_adds_a_column_to_the_page(added, viewer, run, tmp_path):
    answers = {path: recorded(viewer, path) for path in (f"/api/runs/{run.pk}/{path}" for path in OF_RUN)}
    given = tmp_path / "answers.json"
    given.write_text(json.dumps({"run": run.pk, "answers": answers}))
    command = ["node", ROOT / "tests/js/draw-run.js", given]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, first = json.loads(done.stdout)["table"]
    assert head[-3:] == ["User", "Gradient", "Wait"], "the reason follows only where it differs between rows"
    assert first[-3] == "ada"


def test_without_the_line_there_is_no_such_column(viewer, run):
    assert not {column.key for column in ADDED} & viewer.get(f"/api/runs/{run.pk}/jobs/").json()["rows"][0].keys()
    assert "wait_ms" not in description()["components"]["schemas"]["RunJobs"]["properties"]["rows"]["items"]["required"]
