"""Groups of co-located jobs: what the page is told, and the subtasks of a window."""

from collections import defaultdict
from itertools import pairwise

import pytest

from scheduling.harmony.subtasks import COMP, of_group
from scheduling.workloads import generate
from tests.twin.runtime.conftest import work
from twin import eventlog, runner
from twin.models import Run, Scenario
from twin.scenarios import store_generated


@pytest.fixture
def grouped_run(make_run) -> Run:
    """Eight jobs under Harmony, to the end."""
    spec, trace = store_generated("groups", *generate("harmony", num_jobs=8, num_servers=10, seed=4), 4)
    scenario = Scenario.objects.create(name="groups", cluster=spec, trace=trace, scheduler="harmony", seed=4)
    run = Run.objects.create(scenario=scenario)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    return run


def first_group(run):
    return next(event for batch in eventlog.after(run.pk, 0) for event in batch if event.kind == "grouped" and event.data["jobs"])


def test_the_subtasks_are_those_of_the_group_and_no_two_meet_on_a_lane(viewer, grouped_run):
    event = first_group(grouped_run)
    begin = event.at_ms + 60_000
    address = f"/api/runs/{grouped_run.pk}/groups/{event.data['group']}/subtasks/"
    answer = viewer.get(address, {"at": event.at_ms, "from": begin, "to": begin + 120_000}).json()
    expected = of_group(event.data, event.at_ms, begin, begin + 120_000)
    assert answer["whole"] is True
    assert [(job, kind, k) for job, kind, k, _, _ in answer["bars"]] == [
        (event.data["jobs"][b.job], b.kind, b.iteration) for b in expected
    ]
    lanes = defaultdict(list)
    for _, kind, _, start, end in answer["bars"]:
        lanes[0 if kind == COMP else 1].append((start, end))
    for lane, start, end, cause in answer["idle"]:
        lanes[lane].append((start, end))
        assert cause in ("cpu", "net", "job")
    for bars in lanes.values():
        bars.sort()
        assert all(end <= start + 0.01 for (_, end), (start, _) in pairwise(bars))
        covered = sum(min(end, begin + 120_000) - max(start, begin) for start, end in bars)
        assert covered == pytest.approx(120_000, abs=5)


def test_a_group_that_is_not_there_is_said(viewer, grouped_run):
    answer = viewer.get(f"/api/runs/{grouped_run.pk}/groups/999/subtasks/", {"at": 5})
    assert (answer.status_code, f"Run {grouped_run.pk} has no group 999 at 5 ms.") == (404, answer.json()["detail"])


def test_the_page_is_told_that_jobs_share_machines(viewer, grouped_run):
    static = viewer.get(f"/api/runs/{grouped_run.pk}/static/").json()
    assert (static["scheduler"]["groups"], static["scheduler"]["lanes"]) == (True, False)
