"""The command verify_run: finished runs of the database pass, and a changed log is found."""

import pytest

from tests.twin.builders import H, played_out, run, scenario_of
from twin.eventlog import event_log
from twin.eventlog.batch_codec import decode, encode
from twin.models import EventBatch, Run
from twin.runs import commands
from twin.scenarios import store

pytestmark = pytest.mark.django_db(transaction=True)


def forked(scheduler, edit):
    """A finished run that continues one of FIFO with an edit at hour 3."""
    parent = played_out(commands.start_run(scenario_of("oasis", "fifo")))
    _, fork = commands.fork_and_start(parent.pk, 2 * H, "", [edit(parent) | {"at_ms": 3 * H}], True)
    return played_out(fork)


def failing(parent):
    return {"verb": "fail_servers", "servers": store.of_run(parent)[0].servers[0].name, "for_ms": H}


def handed_over(parent):
    return {"verb": "change_scheduler", "scheduler": "drf"}


@pytest.mark.parametrize("edit", [failing, handed_over])
def test_a_fork_with_an_edit_is_verified(edit):
    fork = forked("fifo", edit)
    assert run("verify_run", fork.pk) == (0, [f"run {fork.pk}: no problems found"], [])


def test_a_changed_log_is_found():
    fork = forked("fifo", failing)
    batch = next(
        row for row in EventBatch.objects.filter(run=fork) if b"job_completed" in b"".join(lines_of(row.payload))
    )
    events = decode(batch.payload)
    place = next(i for i, event in enumerate(events) if event.kind == "job_completed")
    events[place] = events[place]._replace(at_ms=events[place].at_ms + 1)
    EventBatch.objects.filter(pk=batch.pk).update(payload=encode(events))
    code, problems, summary = run("verify_run", fork.pk)
    assert code == 1
    assert any("when its last worker stops" in line for line in problems), problems
    assert summary == [f"verify_run: {len(problems)} problem{'s' * (len(problems) > 1)} in run {fork.pk}"]


def lines_of(payload):
    return map(event_log.event_line, decode(payload))


def test_a_run_that_cannot_be_verified_is_refused():
    queued = commands.start_run(scenario_of("oasis", "fifo"))
    assert run("verify_run", queued.pk) == (
        2, [], [f"verify_run: run {queued.pk} is queued: only finished runs can be verified"]
    )  # fmt: skip
    mirrored = Run.objects.create(scenario=queued.scenario, mode="mirror")
    assert run("verify_run", mirrored.pk)[2] == [
        f"verify_run: run {mirrored.pk} records a live cluster: its drift audit compares it with the cluster"
    ]
    assert run("verify_run", 9_999)[2] == ["verify_run: there is no run 9999"]
