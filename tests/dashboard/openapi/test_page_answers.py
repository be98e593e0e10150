"""Answers of the API that the unit tests of the browser's modules read: tests/fixtures/page_answers.json.gz.

They are those of the API: this test compares their shapes. TWIN_WRITE_FIXTURES=1 rewrites the file.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.utils import timezone

from scheduling.workloads import generate
from tests.dashboard.builders import post
from tests.dashboard.builders_answers import OF_RUN, recorded
from tests.twin.runtime.queues import work
from twin.models import Alert, AlertRule, Run, Scenario
from twin.runs import runner
from twin.scenarios.store import store_generated

FILE = Path(__file__).parents[2] / "fixtures" / "page_answers.json.gz"
H = 3_600_000
RUNS = {  # name -> (workload, scheduler, edits)
    "slotted": ("oasis", "oasis", []),
    "other": ("oasis", "fifo", []),
    "typed": ("a-online", "a_online", []),
    "groups": ("harmony", "harmony", []),
    "handed": ("oasis", "oasis", [{"verb": "change_scheduler", "scheduler": "srtf", "at_ms": 3 * H}]),
}
LISTS = (
    "metrics/", "schedulers/", "edits/", "runs/?size=50", "runs/?size=24", "scenarios/?size=100",
    "scenarios/?size=500", "clusters/?size=200", "clusters/?size=500", "traces/?size=200", "traces/?size=500",
    "audit/?q=&user=&action=&since=&until=&page=1&size=50", "sweeps/?size=100", "runs/?q=&size=50",
    "alerts/?state=open&size=200", "alerts/?state=ended&page=1&size=25", "alerts/status/", "alert-rules/kinds/",
    "alert-rules/?size=500", "connections/?size=500", "runs/?size=200",
)  # fmt: skip


def finished(name: str) -> Run:
    workload, scheduler, edits = RUNS[name]
    found = Scenario.objects.filter(trace__name=workload).first()
    spec, trace = (
        (found.cluster, found.trace)
        if found
        else store_generated(workload, *generate(workload, num_jobs=8, num_servers=4, seed=2), 2)
    )
    # with bounds from history OASiS rejects all of so few jobs
    given = {"estimate_from": "clairvoyant"} if scheduler == "oasis" else {}
    scenario = Scenario.objects.create(
        name=name, cluster=spec, trace=trace, scheduler=scheduler, parameters=given, edits=edits, seed=1
    )
    run = Run.objects.create(scenario=scenario, edits=edits)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED, run.message
    return run


def shape(value: Any, depth: int = 5) -> Any:
    """The keys of an answer, of a list those of its first element."""
    if isinstance(value, dict) and depth:
        return {key: shape(one, depth - 1) for key, one in sorted(value.items()) if one not in (None, [], {})}
    if isinstance(value, list) and depth and value and isinstance(value[0], dict):
        return [shape(value[0], depth - 1)]
    return ""


@pytest.fixture
def answers(operator) -> dict[str, Any]:
    runs = {name: finished(name) for name in RUNS}
    found: dict[str, Any] = {"runs": {name: run.pk for name, run in runs.items()}}
    paths = [f"/api/{path}" for path in LISTS]
    paths += [f"/api/runs/{run.pk}/{path}" for run in runs.values() for path in OF_RUN]
    both = f"{runs['slotted'].pk},{runs['other'].pk}"
    paths += [f"/api/compare/?runs={both}", f"/api/compare/kinds/?runs={both}",
              f"/api/compare/jobs/?runs={both}&run={runs['other'].pk}&page=1&size=25".replace(",", "%2C")]  # fmt: skip
    scenario = runs["slotted"].scenario
    paths += [
        f"/api/scenarios/{scenario.pk}/",
        f"/api/clusters/{scenario.cluster_id}/",
        f"/api/traces/{scenario.trace_id}/",
    ]
    paths += [f"/api/scenarios/{scenario.pk}/edits/"]
    axes = [{"parameter": "floor_scale", "values": [1, 2]}]
    sweep = orjson.loads(
        post(operator, "/api/sweeps/", {"scenario": scenario.pk, "axes": axes, "seeds": [0, 1]}).content
    )
    work()
    found["sweep"] = sweep["id"]
    paths += [f"/api/sweeps/{sweep['id']}/points/"]
    alert = {"rule": "server_unavailable", "target": f"run {runs['slotted'].pk}", "run": runs["slotted"],
             "level": "serious", "code": "server_unavailable", "subject": "w0", "began_at": timezone.now(),
             "values": {"server": 0, "name": "w0", "site": "edge", "since_ms": 0}}  # fmt: skip
    Alert.objects.create(**alert)
    Alert.objects.create(**alert, ended_at=timezone.now(), ending=Alert.CLEARED)
    AlertRule.objects.create(rule="server_unavailable", target=f"run {runs['slotted'].pk}", parameters={"away_s": 60})
    found["answers"] = {path: recorded(operator, path) for path in paths}
    return found


@pytest.mark.slow
def test_the_answers_that_the_browsers_tests_read_are_those_of_the_api(answers):
    if os.environ.get("TWIN_WRITE_FIXTURES") == "1":
        FILE.write_bytes(gzip.compress(orjson.dumps(answers), mtime=0))
    kept = orjson.loads(gzip.decompress(FILE.read_bytes()))
    pairs = zip(kept["answers"].values(), answers["answers"].items(), strict=True)  # ids differ with what ran before
    for before, (path, answer) in pairs:
        assert shape(before) == shape(answer), f"{path}: write the fixture again with TWIN_WRITE_FIXTURES=1"
