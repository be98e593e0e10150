"""Reads of a run whose log grows meanwhile: a job that the state has is among the jobs that are read with it."""

import pytest

from dashboard.readmodels import downloads, job_story, job_table, run_summary
from tests.twin.mirror.builders import running
from tests.twin.mirror.builders_stored import following
from tests.twin.mirror.whatif.builders_forty import polled, polls
from twin.analysis.situation import _situation, past
from twin.analysis.thumbnail import _thumbnail
from twin.eventlog import state_cache
from twin.models import Connection

pytestmark = pytest.mark.django_db
READS = {
    "situation": lambda run: _situation(run, run.sim_ms),
    "loads of servers": lambda run: past.loads_at(run, 10**9),
    "thumbnail": _thumbnail,
    "metrics of now": run_summary.now,
    "table of jobs": lambda run: job_table.page(run, {}),
    "story of a job": lambda run: job_story.story(run, 0),
    "schedule.csv": lambda run: b"".join(downloads.schedule(run).lines),
    "perfetto": lambda run: b"".join(downloads.perfetto(run).lines),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_job_that_comes_while_the_run_is_read_is_no_error(monkeypatch, read):
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polls()[0])
    one.apply(polls()[0])
    run = connection.run
    run.refresh_from_db()
    folded, more = state_cache.at, [polled(50, *(running(f"9{n}", 40) for n in range(3)))]

    def grown(*args, **kwargs):
        if more:
            one.apply(more.pop())
        return folded(*args, **kwargs)

    monkeypatch.setattr(state_cache, "at", grown)
    state_cache.forget()
    assert read(run)
    assert not more
