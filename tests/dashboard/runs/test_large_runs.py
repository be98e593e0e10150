"""Large runs: shown by levels of detail that agree with the whole state, which is not folded for pages."""

from base64 import b64decode
from unittest.mock import Mock

import numpy as np
import pytest

from dashboard.readmodels.large import levels as page_of
from scheduling.model.bars import END, START
from scheduling.model.values import Event
from tests.dashboard.builders import downloaded
from tests.twin.eventlog.builders_golden import EVENTS as GOLDEN
from tests.twin.runtime.queues import work
from twin.analysis import levels, state_task, stored_levels, thumbnail
from twin.eventlog import event_log, large_runs, stored_states
from twin.eventlog.fold import BAR_FIELDS, DIED, NEVER
from twin.models import FoldedState, Run
from twin.processes import bounded_process, exclusive
from twin.runs import runner
from twin.scenarios import store

pytestmark = pytest.mark.django_db
MODELS = {"fifo": {}, "oasis": {"scheduler": "oasis"}, "drf": {"scheduler": "drf"}, "srtf": {"scheduler": "srtf"}}


@pytest.fixture
def large(make_run, settings, monkeypatch):
    """large(...) -> an ended run that is above the limit, with its levels, and its whole state."""
    monkeypatch.setattr(levels, "SETTLE_BARS", 3)

    def make(**scenario):
        run = make_run(**scenario)
        runner.enqueue(run.pk)
        work()
        state = stored_states.at(run.pk)
        settings.LARGE_RUN_EVENTS = state.last_seq - 1
        state_task.run(run.pk)
        run.refresh_from_db()
        assert run.status == Run.FINISHED
        return run, state

    return make


def get(client, run, path, **asked):
    return client.get(f"/api/runs/{run.pk}/{path}/", asked)


@pytest.mark.parametrize("name", MODELS)
def test_the_raster_of_the_whole_run_is_that_of_all_its_bars(viewer, large, name):
    run, state = large(**MODELS[name])
    found = get(viewer, run, "levels", columns=64).json()
    true = state.bars.rows[state.bars.rows[:, DIED] == NEVER]
    edges = np.array(found["edges"])
    raster = np.frombuffer(b64decode(found["raster"]), dtype=np.uint8).reshape(len(found["rows"]), -1)
    held = levels.held_by(run, true)
    groups, rows = thumbnail.grouped(store.of_run(run)[0].servers, levels.MAX_ROWS)
    most = thumbnail.capacity_over(run, held, store.clusters(run), groups, edges, run.sim_ms)
    whole, _ = thumbnail.raster(held, most, groups, edges)
    assert found["source"] == "stored"
    assert raster.shape == (8, 64)
    assert np.abs(raster.astype(int) - whole.astype(int)).max() <= 1, "rounded up once here, for each interval there"
    counted = np.frombuffer(b64decode(found["counted"]), dtype=np.uint8).reshape(raster.shape)
    shares = -(-thumbnail.used(held, groups, len(rows), edges) * 100 // np.maximum(most, 1))
    assert (np.take_along_axis(shares, counted[:, :, None].astype(int), 2)[:, :, 0] >= whole.astype(int) - 1).all()
    assert found["total_bars"] == len(true)
    assert raster.max() > 0


@pytest.mark.parametrize("name", MODELS)
def test_a_short_window_is_read_from_the_log_and_has_exactly_its_bars(viewer, large, name):
    run, state = large(**MODELS[name])
    rows = state.bars.rows
    for row in rows[:: max(1, len(rows) // 7)]:
        middle = int(row[START] + row[END]) // 2
        found = get(viewer, run, "levels", from_ms=middle, to_ms=middle + 20, columns=1024).json()
        inside = (rows[:, DIED] == NEVER) & (rows[:, START] < middle + 20) & (rows[:, END] > middle)
        true = rows[inside].copy()
        true[:, END] = np.minimum(true[:, END], middle + 20)
        expected = sorted(map(tuple, true[:, [BAR_FIELDS.index(name) for name in page_of.SHOWN]].tolist()))
        if run.sim_ms > middle + 20:
            assert found["source"] == "log"
            assert sorted(zip(*(found["bars"][name] for name in page_of.SHOWN), strict=True)) == expected
            servers = store.of_run(run)[0].servers
            assert found["bars"]["server_name"] == [servers[index].name for index in found["bars"]["server"]]


def test_jobs_are_counted_and_listed_from_the_levels(viewer, large, settings):
    run, _ = large(scheduler="oasis", jobs=30)
    limit, settings.LARGE_RUN_EVENTS = settings.LARGE_RUN_EVENTS, 10**9
    asked = [
        {"size": "500"},
        {"sort": "-completed_ms"},
        {"q": "1", "sort": "model"},
        {"state": "rejected", "page": "1"},
    ]
    whole = [get(viewer, run, "jobs", **one).json() for one in asked]
    settings.LARGE_RUN_EVENTS = limit
    assert [get(viewer, run, "jobs", **one).json() for one in asked] == whole
    found = get(viewer, run, "levels").json()
    assert sum(found["jobs"].values()) == found["total_jobs"] == 30
    assert sum(found["curves"]["arrived"]) == 30
    assert sum(found["curves"]["completed"]) == found["jobs"]["completed"] > 0


def test_views_that_need_the_whole_state_say_so_and_what_is_complete(viewer, large):
    run, _ = large()
    for path in ("snapshot", "now", "situation", "static"):
        answer = get(viewer, run, path)
        assert (answer.status_code, answer.json()["detail"]) == (400, str(_refusal(run)))
    assert get(viewer, run, "jobs", at_ms=1).json()["detail"] == str(_refusal(run))
    assert len(downloaded(viewer.get(f"/api/runs/{run.pk}/events.jsonl")).splitlines()) == run.last_seq
    assert get(viewer, run, "snapshot").json() == {"detail": str(_refusal(run)), "code": "large_run"}
    small = get(viewer, run, "thumbnail").json()
    assert (small["seq"], small["columns"]) == (run.last_seq, 96)
    page = viewer.get(f"/runs/{run.pk}/").content.decode()
    assert 'data-page="run-large"' in page
    assert f"{run.last_seq:,} events" in page


def _refusal(run):
    with pytest.raises(large_runs.TooLarge) as refused:
        large_runs.check(run)
    return refused.value


def test_a_cancelled_large_run_is_read_without_metrics(viewer, large):
    run, _ = large()
    for status in (Run.CANCELLED, Run.FAILED):
        Run.objects.filter(pk=run.pk).update(status=status, metrics={})
        answer = viewer.get(f"/api/runs/{run.pk}/")
        assert (answer.status_code, answer.json()["status"]) == (200, status)
        assert (answer.json()["metrics"], answer.json()["metrics_until_ms"]) == ({}, None)


def test_levels_are_due_instead_of_a_state_and_made_anew_as_the_log_grows(make_run, settings):
    settings.LARGE_RUN_EVENTS = 3
    run = make_run()
    events = [Event(*row) for row in GOLDEN]
    event_log.append(run.pk, 0, events[:6])
    Run.objects.filter(pk=run.pk).update(status=Run.RUNNING)
    assert stored_levels.of(run) is None
    assert (stored_states.due(), state_task.due()) == (None, run.pk)
    state_task.run(run.pk)
    assert FoldedState.objects.get().seq == 6
    assert state_task.due() is None
    event_log.append(run.pk, 0, events[6:7])
    assert state_task.due() is None, "one event more than six is less than a quarter"
    event_log.append(run.pk, 0, events[7:9])
    assert state_task.due() == run.pk
    assert stored_states.at(run.pk).last_seq == 9, "levels are no state"


def test_one_state_and_the_levels_of_one_run_are_computed_at_a_time(make_run, settings, monkeypatch):
    monkeypatch.setattr(stored_states, "MIN_BEHIND", 1)
    settings.LARGE_RUN_EVENTS = 3
    runs = [make_run() for _ in range(4)]
    for run, count in zip(runs, (2, 2, 6, 6), strict=True):
        event_log.append(run.pk, 0, [Event(*row) for row in GOLDEN][:count])
        Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    small, large = runs[1], runs[3]
    assert state_task.due() == small.pk
    with exclusive.held(state_task.TASK, small.pk):
        assert state_task.due() == large.pk
        with exclusive.held(state_task.TASK, large.pk):
            assert state_task.due() is None
            monkeypatch.setattr(bounded_process, "run", Mock(side_effect=AssertionError("a third one is computed")))
            for run in (runs[0], runs[2]):
                state_task.work_off(run.pk)
    with exclusive.held(state_task.TASK, large.pk):
        assert state_task.due() == small.pk, "a state does not wait for levels"
        for run in runs[:2]:
            state_task.run(run.pk)
        assert state_task.due() is None


def test_a_run_that_is_not_large_has_no_levels(viewer, make_run):
    run = make_run()
    answer = get(viewer, run, "levels")
    assert answer.status_code == 400
    assert answer.json()["detail"] == f"run {run.pk} has 0 events; levels of detail are for larger runs"


def test_levels_that_are_not_made_yet_are_announced(viewer, large):
    run, _ = large()
    FoldedState.objects.all().delete()
    assert get(viewer, run, "levels").json() == {"ready": False, "last_seq": run.last_seq}


def test_levels_that_cannot_be_made_are_refused_with_the_reason(viewer, large):
    run, _ = large()
    FoldedState.objects.filter(run_id=run.pk).delete()
    stored_states.give_up(run.pk, stored_levels.VERSION)
    answer = get(viewer, run, "levels")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(f"the log of run {run.pk} cannot be summarized")


def test_the_largest_share_of_a_cell_keeps_its_resource():
    most, place = thumbnail.largest(np.array([[[20, 70, 3], [-1, -1, -1], [-1, 130, 5]]]))
    assert most.tolist() == [[70, thumbnail.NONE, 100]]
    assert place.tolist() == [[1, 0, 1]]


def test_a_page_asks_for_levels_of_later_events_only(viewer, large):
    run, _ = large()
    known = get(viewer, run, "levels").json()
    assert (known["seq"], known["last_seq"]) == (run.last_seq, run.last_seq)
    Run.objects.filter(pk=run.pk).update(last_seq=run.last_seq + 1)
    assert get(viewer, run, "levels", after=known["seq"]).json() == {"ready": False, "last_seq": known["seq"] + 1}
    assert get(viewer, run, "levels", after=known["seq"] - 1).json()["ready"] is True


def test_a_followed_cluster_and_a_live_run_are_never_large(make_run, settings):
    settings.LARGE_RUN_EVENTS = 3
    for mode, status, expected in (
        (Run.BATCH, Run.RUNNING, True),
        (Run.LIVE, Run.RUNNING, False),
        (Run.LIVE, Run.FINISHED, True),
        (Run.MIRROR, Run.FINISHED, False),
    ):
        run = make_run(mode=mode)
        Run.objects.filter(pk=run.pk).update(status=status, last_seq=4)
        run.refresh_from_db()
        assert large_runs.is_large(run) is expected
        assert Run.objects.filter(large_runs.all_large(), pk=run.pk).exists() is expected
