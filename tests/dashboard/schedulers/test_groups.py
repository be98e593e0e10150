"""Groups of co-located jobs: what the page receives, and the subtasks of a window."""

from collections import defaultdict
from itertools import pairwise

import pytest

from dashboard.readmodels import job_table
from scheduling.colocation.subtasks import COMP, of_group
from scheduling.workloads import generate
from tests.dashboard.builders import played
from tests.twin.runtime.queues import work
from twin.analysis import certificate_task
from twin.eventlog import event_log
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios.store import store_generated


@pytest.fixture
def grouped_run(make_run) -> Run:
    """Eight jobs under Harmony, to the end."""
    return played("harmony", jobs=8, servers=10, seed=4)


def first_group(run):
    return next(
        event
        for batch in event_log.after(run.pk, 0)
        for event in batch
        if event.kind == "grouped" and event.data["jobs"]
    )


def test_the_subtasks_are_those_of_the_group_and_no_two_meet_on_a_track(viewer, grouped_run):
    event = first_group(grouped_run)
    begin = event.at_ms + 60_000
    address = f"/api/runs/{grouped_run.pk}/groups/{event.data['group']}/subtasks/"
    answer = viewer.get(address, {"at": event.at_ms, "from": begin, "to": begin + 120_000}).json()
    expected = of_group(event.data, event.at_ms, begin, begin + 120_000)
    assert answer["whole"] is True
    assert [(job, kind, k) for job, kind, k, _, _ in answer["bars"]] == [
        (event.data["jobs"][b.job], b.kind, b.iteration) for b in expected
    ]
    tracks = defaultdict(list)
    for _, kind, _, start, end in answer["bars"]:
        tracks[0 if kind == COMP else 1].append((start, end))
    for track, start, end, cause in answer["idle"]:
        tracks[track].append((start, end))
        assert cause in ("cpu", "net", "job")
    for bars in tracks.values():
        bars.sort()
        assert all(end <= start + 0.01 for (_, end), (start, _) in pairwise(bars))
        covered = sum(min(end, begin + 120_000) - max(start, begin) for start, end in bars)
        assert covered == pytest.approx(120_000, abs=5)


def test_a_group_that_is_not_there_is_said(viewer, grouped_run):
    answer = viewer.get(f"/api/runs/{grouped_run.pk}/groups/999/subtasks/", {"at": 5})
    assert (
        answer.status_code,
        f"Run {grouped_run.pk} has no group 999 at 00:00:00.005; groups.csv has its groups.",
    ) == (
        404,
        answer.json()["detail"],
    )


def test_the_page_learns_that_jobs_share_machines(viewer, grouped_run):
    static = viewer.get(f"/api/runs/{grouped_run.pk}/static/").json()
    assert (static["scheduler"]["model"], [phase["model"] for phase in static["phases"]]) == (
        "colocation",
        ["colocation"],
    )


def test_the_states_of_jobs_in_groups(viewer, make_run):
    """Online profiling: first all are measured or wait; later run, move, are suspended; the story has all."""
    spec, trace = store_generated("online", *generate("harmony", num_jobs=12, num_servers=12, seed=2), 2)
    scenario = Scenario.objects.create(
        name="online", cluster=spec, trace=trace, scheduler="harmony", parameters={"profiling": "online"}, seed=0
    )
    run = Run.objects.create(scenario=scenario)
    runner.enqueue(run.pk)
    work()
    events = [event for batch in event_log.after(run.pk, 0) for event in batch]
    run.refresh_from_db()
    address = f"/api/runs/{run.pk}/jobs/"
    seen: dict[str, int] = {}

    def shown(at_ms: int, **asked: str) -> list[dict]:
        return job_table.page(run, {"at_ms": str(at_ms), "size": "100", **asked})["rows"]

    for number, at_ms in enumerate(sorted({event.at_ms for event in events if event.kind == "grouped"})):
        standing = {}
        for event in events:
            if event.at_ms <= at_ms and event.kind == "grouped":
                standing[event.data["group"]] = event.data
        rows = shown(at_ms)
        if number % 20 == 0:  # the API sends what is shown; a request takes longer than its answer
            assert viewer.get(address, {"at_ms": at_ms, "size": 100}).json()["rows"] == rows
        expected = {}
        for data in standing.values():
            for job, ready_ms, profiling in zip(data["jobs"], data["ready_ms"], data["profiling"], strict=True):
                expected[job] = "moving" if ready_ms > at_ms else "profiling" if profiling else "running"
        for row in rows:
            if row["index"] in expected:
                assert row["state"] == expected[row["index"]]
                data = next(data for data in standing.values() if row["index"] in data["jobs"])
                place = data["jobs"].index(row["index"])
                assert (row["here"]["group"], row["here"]["memory_gb"]) == (data["group"], data["memory_gb"][place])
            else:
                assert row["state"] in ("planned", "suspended", "completed", "queued", "unfinished")
                assert "here" not in row
            seen[row["state"]] = seen.get(row["state"], 0) + 1
        for name in ("profiling", "moving", "suspended"):
            found = [row["index"] for row in shown(at_ms, state=name)]
            assert found == [row["index"] for row in rows if row["state"] == name]
            if number % 20 == 0:
                answer = viewer.get(address, {"at_ms": at_ms, "size": 100, "state": name}).json()
                assert [row["index"] for row in answer["rows"]] == found
    assert set(seen) >= {"profiling", "running", "moving", "suspended", "completed"}
    for job in range(12):
        stretches = viewer.get(f"{address}{job}/").json()["stretches"]
        assert stretches[0]["state"] == "profiling"
        assert all(one["until_ms"] == after["from_ms"] for one, after in pairwise(stretches))
        done = next(event.at_ms for event in events if event.kind == "job_completed" and event.data["job"] == job)
        assert stretches[-1]["until_ms"] == done
        shared = [event for event in events if event.kind == "grouped" and job in event.data["jobs"]]
        for one in stretches:  # a row has one number of jobs from its beginning to its end
            within = [event for event in shared if one["from_ms"] <= event.at_ms < one["until_ms"]]
            latest = {(event.at_ms, event.data["group"]): len(event.data["jobs"]) for event in within}
            assert {count for (_, group), count in latest.items() if group == one.get("group")} <= {one.get("jobs")}
        for at_ms in range(0, done, max(1, done // 7)):  # what is known then, as in the table
            then = viewer.get(f"{address}{job}/", {"at_ms": at_ms}).json()["stretches"]
            rows = viewer.get(address, {"at_ms": at_ms, "size": 100}).json()["rows"]
            here = next((row.get("here") for row in rows if row["index"] == job), None)
            assert all(one["from_ms"] <= at_ms for one in then)
            assert all(one["until_ms"] is not None and one["until_ms"] <= at_ms for one in then[:-1])
            if here is not None:
                assert then[-1]["until_ms"] is None
                assert here.items() <= then[-1].items()


def test_the_certificate_holds_the_comparison_with_the_search(viewer, grouped_run):
    """Beside the bound on the makespan; moments that are over are not looked at again."""
    certificate_task.run(grouped_run.pk)
    certificate = viewer.get(f"/api/runs/{grouped_run.pk}/certificate/").json()["certificate"]
    assert certificate["kind"] in ("machine_work", "longest_job")
    search = certificate["search"]
    assert search["moments"][0]["at_ms"] == 0
    assert all(0 < row["score"] <= row["best"] * (1 + 1e-9) or row["jobs"] for row in search["moments"])
    assert search["regroupings"] >= len(search["moments"])
    before = {
        **certificate,
        "at_ms": certificate["at_ms"] + 1,
        "search": {"moments": [{**row, "best": 7.0} for row in search["moments"]]},
    }
    Run.objects.filter(pk=grouped_run.pk).update(certificate=before)
    certificate_task.run(grouped_run.pk)
    grouped_run.refresh_from_db()
    assert {row["best"] for row in grouped_run.certificate["search"]["moments"]} == {7.0}
