"""Preview of a job on a real cluster."""

from __future__ import annotations

import re

import pytest

from scheduling.model.values import ModelError
from tests.twin.mirror.builders import NODES, S, ended, polled, running
from tests.twin.mirror.builders_stored import following
from tests.twin.mirror.whatif.builders_forty import MINUTE, mirrored_run
from twin.infra.errors import Refused
from twin.models import Connection, EventBatch, Run, Scenario, Trace
from twin.studies import ask_mirror

pytestmark = pytest.mark.django_db(transaction=True)


def held_until(minute: int) -> Run:
    """A node with all four GPUs held by `big` until that minute; a job of two GPUs, `small`, has ended."""
    connection = Connection.objects.create(name="one", connector="slurm")
    big = running("big", 0, gpus=4, limit_ms=minute * MINUTE)
    first = polled(0, big, running("small", -300, node="cloud1"), nodes=NODES)
    one = following(connection, first)
    one.apply(first)
    one.apply(polled(60, big, ended(running("small", -300, node="cloud1"), 60), nodes=NODES[:1]))
    connection.run.refresh_from_db()
    return connection.run


def test_a_job_waits_for_what_the_real_cluster_holds():
    run = held_until(10)
    before = (run.last_seq, EventBatch.objects.count(), Scenario.objects.count(), Trace.objects.count())
    answer = ask_mirror.ask(run, "small", {})
    took_ms = 6 * MINUTE
    end_of_big = run.sim_ms + 9 * MINUTE  # at second 60 it has 9 minutes left
    assert end_of_big <= answer["start_ms"] <= end_of_big + 2 * MINUTE
    assert answer["finish_ms"] - answer["start_ms"] == took_ms, "as long as the job that it copies"
    assert (answer["verdict"], answer["servers"], answer["complete"]) == ("started", ["edge1"], True)
    assert answer["at_ms"] == run.sim_ms
    assert answer["displaced"]["rows"] == []
    assert answer["notes"][0] == "Answered by FIFO."
    assert re.fullmatch(
        r"FIFO would start it \d+m( \d+s)? after its arrival with at most 2 workers\.", answer["sentence"]
    )
    assert any("1 running job, 0 waiting jobs" in note for note in answer["notes"])
    run.refresh_from_db()
    assert (run.last_seq, EventBatch.objects.count(), Scenario.objects.count(), Trace.objects.count()) == before


def test_changes_of_the_duration_and_of_fields():
    run = held_until(1)
    short = ask_mirror.ask(run, "small", {"run_ms": MINUTE})
    assert short["finish_ms"] - short["start_ms"] == MINUTE
    narrow = ask_mirror.ask(run, "small", {"run_ms": 4 * MINUTE, "requested_workers": 1})
    assert narrow["workers"] == 1
    assert narrow["finish_ms"] - narrow["start_ms"] == 8 * MINUTE, "the same work with half of the GPUs"


def test_another_scheduler_answers_and_whom_the_job_delays():
    run = mirrored_run()
    answer = ask_mirror.ask(run, "3", {"run_ms": 1 * S}, "srtf")
    assert answer["notes"][0] == "Answered by SRTF."
    assert answer["verdict"] == "started"
    assert answer["sentence"].startswith("SRTF would start it without waiting with at most ")
    assert answer["start_ms"] == run.sim_ms + 1, "the shortest job goes first"


def test_what_cannot_be_asked():
    run = mirrored_run()
    for like, changes, words in (
        ("nobody", {}, "has no job 'nobody'"),
        ("3", {"run_ms": 0}, "run_ms must be a whole number"),
        ("3", {"run_ms": True}, "run_ms must be a whole number"),
        ("", {"run_ms": 5}, "name the job to copy"),
        ("3", {"colour": 1}, "unknown field of a job 'colour'; known: .*run_ms$"),
    ):
        with pytest.raises(ModelError, match=words):
            ask_mirror.ask(run, like, changes)
    Run.objects.filter(pk=run.pk).update(status=Run.FINISHED)
    run.refresh_from_db()
    with pytest.raises(Refused, match="is finished"):
        ask_mirror.ask(run, "3", {})
