"""Search of a batch before it is read: it misses no event that `read` gives, and skips batches without one."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from scheduling.model.values import Event
from tests.twin.eventlog.builders_golden import EVENTS
from twin.eventlog.batch_codec import encode, may_hold, read

ALL = [Event(*line) for line in EVENTS]
JOBS = range(12)


def holders(events: Iterable[Event], job: int) -> bool:
    """Whether one of the events is about the job, by what `read` gives."""
    lines, _ = read(encode(list(events)))
    return any(
        data.get("job") == job or (kind == "plan_changed" and job in [row[0] for row in data["jobs"]])
        for _, _, kind, data in lines
    )


@pytest.mark.parametrize("job", JOBS)
def test_no_event_about_a_job_is_missed(job: int) -> None:
    for event in ALL:
        if holders([event], job):
            assert may_hold(encode([event]), (), job), event


def test_batches_without_the_job_are_skipped() -> None:
    skipped = [event for event in ALL for job in JOBS if not may_hold(encode([event]), (), job)]
    assert len(skipped) > len(ALL)


def test_all_words_must_be_there() -> None:
    batch = encode(ALL)
    kinds = {event.kind for event in ALL}
    assert all(may_hold(batch, (kind,), None) for kind in kinds)
    assert not may_hold(batch, ("decided", "no_such_code"), None)
    for event in ALL:
        assert [kind for kind in kinds if may_hold(encode([event]), (kind,), None)].count(event.kind) == 1
