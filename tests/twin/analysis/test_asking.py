"""Preview of a job: the scheduler's own answer, the jobs that would be displaced, and that nothing is stored."""

from __future__ import annotations

import re

import orjson
import pytest

from scheduling.model.values import Job, ModelError
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from twin.files.jobs_jsonl import job_to_dict
from twin.infra.errors import Refused
from twin.models import AuditEntry, Checkpoint, EventBatch, Run, Scenario
from twin.runs import commands, runner
from twin.scenarios.store import store_cluster
from twin.studies import ask

pytestmark = pytest.mark.django_db(transaction=True)


def paused(scheduler, jobs: list[Job], steps: int, **options) -> Run:
    """A live run of the jobs on two GPUs after so many instants."""
    from twin.files.job_table import JobTable
    from twin.files.packed_jobs import pack_jobs
    from twin.models import Trace

    spec = store_cluster(cluster(worker_server("w"), ps_server("p"), horizon=20), "test")
    trace = Trace.objects.create(
        name="few", status=Trace.READY, job_count=len(jobs), jobs=pack_jobs([JobTable.of(jobs)])
    )
    scenario = Scenario.objects.create(name="asked", cluster=spec, trace=trace, scheduler=scheduler, **options)
    run = commands.start_run(scenario, mode=Run.LIVE, speed=1e-6)
    runner.advance(run.pk)
    commands.pause(run)
    runner.advance(run.pk)
    for _ in range(steps):
        runner.step(run.pk)
    run.refresh_from_db()
    return run


def test_a_job_that_fits_beside_displaces_nobody():
    run = paused("fifo", [job("a", workers=1, slots=4), job("late", 15_000)], 0)
    assert run.status == Run.PAUSED
    before = (run.last_seq, EventBatch.objects.count(), Checkpoint.objects.count(), AuditEntry.objects.count())
    answer = ask.ask(run, ask.job_of(run, "a", {"minibatches_per_chunk": 2}))
    assert (answer["verdict"], answer["start_ms"], answer["finish_ms"]) == ("started", 1_000, 3_000)
    assert (answer["workers"], answer["servers"], answer["complete"]) == (1, ["w"], True)
    assert answer["displaced"] == {"later": 0, "later_ms": 0, "open": 0, "rejected": 0, "rows": []}
    run.refresh_from_db()
    assert (run.last_seq, EventBatch.objects.count(), Checkpoint.objects.count(), AuditEntry.objects.count()) == before


def test_the_job_arrives_when_the_clock_says_between_two_events():
    """The newest event is at 0 and the next one at 4 s: the job arrives by the clock, before the next event."""
    run = paused("fifo", [job("a", workers=1, slots=4), job("late", 15_000)], 0)
    assert (run.sim_ms, run.next_event_ms) == (0, 4_000)
    for clock_ms, now_ms in ((2_500, 2_500), (9_000, 3_999)):
        Run.objects.filter(pk=run.pk).update(clock_sim_ms=clock_ms)
        run.refresh_from_db()
        answer = ask.ask(run, ask.job_of(run, "a", {"minibatches_per_chunk": 2}))
        first_slot = -(-(now_ms + 1) // 1_000) * 1_000
        assert (answer["at_ms"], answer["start_ms"], answer["finish_ms"]) == (now_ms, first_slot, first_slot + 2_000)


def test_a_job_that_goes_first_makes_others_wait():
    """FIFO: `b` arrives at 2 s, after the job that is asked about, and needs both GPUs, so it waits for that job."""
    run = paused("fifo", [job("a", workers=1, slots=2), job("b", 2_000, workers=2, slots=1)], 0)
    answer = ask.ask(run, ask.job_of(run, "a", {"minibatches_per_chunk": 6}))
    assert answer["finish_ms"] == 7_000
    assert answer["displaced"] == {
        "later": 1,
        "later_ms": 5_000,
        "open": 0,
        "rejected": 0,
        "rows": [{"id": "b", "was_ms": 3_000, "now_ms": 8_000, "rejected": False}],
    }


def test_a_rejection_of_another_job_is_no_delay():
    """The horizon is near: with the job that is asked about, `late` no longer fits, and OASiS rejects it."""
    run = paused("oasis", [job("a", workers=1, slots=1), job("late", 3_000, workers=2, slots=12)], 0)
    answer = ask.ask(run, ask.job_of(run, "a", {"num_chunks": 2, "requested_workers": 2, "minibatches_per_chunk": 8}))
    assert answer["verdict"] == "admitted"
    displaced = answer["displaced"]
    assert (displaced["later"], displaced["later_ms"], displaced["open"], displaced["rejected"]) == (0, 0, 0, 1)
    assert [(row["id"], row["now_ms"], row["rejected"]) for row in displaced["rows"]] == [("late", None, True)]


def test_every_job_that_it_does_something_to_is_counted_once():
    """By hand: b is rejected, c ends 3 ms later, d has no end when the preview stops, e ends earlier, f is rejected
    either way.
    """
    others, mine = ask.Played(), ask.Played()
    others.plans = {"b": (0, 9), "c": (0, 5), "d": (0, 7), "e": (0, 8)}
    mine.plans = {"b": (0, -1), "c": (0, 5), "d": (0, -1), "e": (0, 6), "asked": (0, 4)}
    mine.completed = {"c": 8}
    others.rejected, mine.rejected = {"f"}, {"b", "f"}
    displaced = ask._displaced(mine, others, "asked")
    assert [displaced[name] for name in ("later", "later_ms", "open", "rejected")] == [1, 3, 1, 1]
    assert [row["id"] for row in displaced["rows"]] == ["b", "d", "c"], "the worst first"


def test_oasis_says_its_price_and_what_would_reverse_it():
    run = paused("oasis", [job("a", workers=2, slots=18), job("late", 15_000)], 0)
    answer = ask.ask(run, ask.job_of(run, "a", {"minibatches_per_chunk": 10}))
    assert answer["verdict"] == "rejected"
    assert "Rejected" in answer["sentence"]
    assert {row["what"] for row in answer["counterfactuals"]} >= {"priority", "workers"}
    small = ask.ask(run, ask.job_of(run, "a", {"num_chunks": 1, "minibatches_per_chunk": 1, "requested_workers": 1}))
    assert small["verdict"] == "admitted"
    assert small["values"]["payoff"] == pytest.approx(small["values"]["utility"] - small["values"]["cost"])


def test_what_would_change_the_answer_is_of_the_time_of_the_clock():
    """A job of 12 slots fits within the horizon of 20 slots at 0 s, not at 9 s. The newest event is at 0 both times."""
    run = paused("oasis", [job("a", workers=1, slots=18), job("late", 15_000)], 0)
    asked = ask.job_of(run, "a", {"minibatches_per_chunk": 12})
    found = {}
    for clock_ms in (0, 9_000):
        Run.objects.filter(pk=run.pk).update(clock_sim_ms=clock_ms)
        run.refresh_from_db()
        assert run.sim_ms == 0
        answer = ask.ask(run, asked)
        found[clock_ms] = (answer["verdict"], answer["counterfactuals"][0]["sentence"])
    assert found == {
        0: ("admitted", "Admitted with a priority as low as 0.427; it has 10."),
        9_000: ("rejected", "Not admitted with any priority up to 1,000,000 times its own 10."),
    }


def test_the_answer_is_of_the_time_of_the_question_while_the_run_goes_on():
    """Meanwhile the run has admitted jobs that arrived after the question: they are none of its log then."""
    few = [job("a", workers=1, slots=2), job("b", 3_000, workers=1, slots=1), job("c", 4_000, workers=1, slots=1)]
    run = paused("oasis", few, 0)
    before = ask.ask(run, ask.job_of(run, "a", {"minibatches_per_chunk": 2}))["counterfactuals"]
    for _ in range(4):
        runner.step(run.pk)
    assert Run.objects.get(pk=run.pk).last_seq > run.last_seq
    answer = ask.ask(run, ask.job_of(run, "a", {"minibatches_per_chunk": 2}))
    assert answer["counterfactuals"] == before


def test_a_job_with_the_least_priority_is_admitted_and_one_below_it_is_not():
    """The job asked about is the second arrival, so the price bounds are estimated from it, too."""
    run = paused("oasis", [job("a", workers=1, slots=18), job("late", 15_000)], 0)
    utility = job_to_dict(ask.job_of(run, "a", {}))["utility"]

    def asked(priority: float) -> str:
        changes = {"minibatches_per_chunk": 12, "utility": utility | {"priority": priority}}
        return ask.ask(run, ask.job_of(run, "a", changes))["verdict"]

    assert [asked(priority) for priority in (0.4275, 0.426)] == ["admitted", "rejected"]


def test_price_bounds_are_estimated_from_the_work_that_an_edit_left():
    """FIFO has done a third of the first job when OASiS takes over."""
    to_oasis = {"verb": "change_scheduler", "scheduler": "oasis", "at_ms": 6_000}
    run = paused("fifo", [job("a", workers=1, slots=18), job("late", 7_000)], 2, edits=[to_oasis])
    assert run.sim_ms == 7_000
    utility = job_to_dict(ask.job_of(run, "a", {}))["utility"]

    def asked(priority: float) -> dict:
        changes = {"minibatches_per_chunk": 6, "utility": utility | {"priority": priority}}
        return ask.ask(run, ask.job_of(run, "a", changes))

    sentences = {row["what"]: row["sentence"] for row in asked(10)["counterfactuals"]}
    least = float(re.search(r"as low as (\S+);", sentences["priority"])[1])
    assert [asked(priority)["verdict"] for priority in (least, least * 0.99)] == ["admitted", "rejected"], sentences


def test_what_cannot_be_asked_is_said():
    run = paused("fifo", [job("a"), job("late", 15_000)], 0)
    with pytest.raises(ModelError, match="has no job 'nobody'; choose one of its jobs"):
        ask.job_of(run, "nobody", {})
    with pytest.raises(ModelError, match="epochs must be an integer"):
        ask.job_of(run, "a", {"epochs": 0})
    for changes, sentence in (
        ({"colour": "red"}, "changes: unknown field of a job 'colour'; known: model, "),
        ({"wrkr.gpu": 1}, "changes: unknown field of a job 'wrkr.gpu'; did you mean 'worker'? known: model, "),
        ({"Epochs": 1}, "changes: unknown field of a job 'Epochs'; did you mean 'epochs'? known: model, "),
        ({"worker.gpus": 1}, "changes: unknown field of a job 'worker.gpus'; did you mean 'worker'? known: model, "),
        ({"arrival_ms": 1.5}, "changes: arrival_ms cannot be changed: the copy arrives at the current time of the run"),
        ({"id": "mine"}, "changes: id cannot be changed: the copy has an id of its own; omit it"),
        ({"provenance": {}}, "changes: provenance cannot be changed: it follows from the other fields; omit it"),
    ):
        with pytest.raises(ModelError, match=f"^{re.escape(sentence)}"):
            ask.job_of(run, "a", changes)


def test_a_whole_job_is_checked_also_where_another_value_counts():
    """A line of jobs.jsonl has an id and an arrival; the previewed job has others."""
    run = paused("fifo", [job("a"), job("late", 15_000)], 0)
    line = job_to_dict(job("a"))
    asked = ask.job_of(run, "", line | {"id": "mine", "arrival_ms": 3})
    assert (asked.id, asked.arrival_ms) == ("asked", run.sim_ms)
    assert ask.job_of(run, "", line | {"id": None, "arrival_ms": None}).id == "asked"
    for wrong in (1.5, True, "3", -1, 2**54):
        with pytest.raises(ModelError, match="arrival_ms must be an integer"):
            ask.job_of(run, "", line | {"arrival_ms": wrong})
    with pytest.raises(ModelError, match="id must be text"):
        ask.job_of(run, "", line | {"id": 3})


def test_a_column_of_jobs_csv_is_answered_with_the_field_that_works():
    run = paused("fifo", [job("a"), job("late", 15_000)], 0)
    with pytest.raises(ModelError, match=r"^changes: worker\.gpu is a column of jobs\.csv, not a field") as error:
        ask.job_of(run, "a", {"worker.gpu": 3})
    field, _, value = str(error.value).partition("give the whole field: ")[2].partition(" = ")
    asked, like = ask.job_of(run, "a", {field: orjson.loads(value)}), ask.job_of(run, "a", {})
    assert asked.worker == (3_000, *like.worker[1:]) != like.worker


def test_a_run_that_has_ended_cannot_be_asked():
    run = paused("fifo", [job("a"), job("late", 15_000)], 0)
    commands.cancel(run)
    runner.advance(run.pk)
    run.refresh_from_db()
    with pytest.raises(Refused, match="is cancelled; choose an active run"):
        ask.ask(run, ask.job_of(run, "a", {}))


def test_a_fork_whose_edit_is_still_to_be_played_answers():
    jobs = [job("a", workers=2, slots=10), job("b", 1_000, workers=1, slots=1), job("late", 15_000)]
    run = paused("oasis", jobs, 1)
    edits = [{"verb": "fail_servers", "servers": "w", "at_ms": run.sim_ms, "for_ms": 5_000}]
    _, fork = commands.fork_and_start(run.pk, run.sim_ms, "", edits, True)
    assert fork is not None
    assert fork.last_seq, "the past of its parent"
    answer = ask.ask(fork, ask.job_of(fork, "a", {}))
    assert answer["counterfactuals"] == []
    assert answer["verdict"] in ("admitted", "rejected")
