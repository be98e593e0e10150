"""What-if from a mirrored run: an ordinary run on the mirror's time axis, with what was known of the cluster then."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module

import pytest
from django.apps import apps

from scheduling.kernel.parameters import UnknownName
from scheduling.model.bars import SERVER
from scheduling.model.limits import MAX_INT
from scheduling.model.values import ModelError
from tests.twin.builders import from_scratch, played_out
from tests.twin.mirror.builders import NODES, S, job, polled, running
from tests.twin.mirror.builders_stored import following
from tests.twin.mirror.whatif.builders_forty import MINUTE, at, mirrored_run
from twin.connectors.facts import DRAINING
from twin.eventlog import event_log, stored_states
from twin.eventlog.fold import JOB_FIELDS
from twin.infra.errors import Refused
from twin.mirror.whatif import moments
from twin.mirror.whatif.inputs import FORMAT
from twin.models import ClusterSpec, Connection, Run, Scenario, Trace
from twin.moments import moment_utc
from twin.runs import commands
from twin.scenarios import forks, store
from twin.scenarios.edits.preview import preview

UTC = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mirrored() -> Run:
    return mirrored_run()


def arrivals(run: Run) -> dict[str, int]:
    return {each.id: each.arrival_ms for each in store.of_run(run)[1]}


def test_a_fork_is_an_ordinary_run_that_begins_with_the_cluster_then(mirrored):
    ten = at(mirrored, 660)
    scenario, run = commands.fork_and_start(mirrored.pk, ten, "", [], True)
    played_out(run)
    assert (run.mode, run.parent, run.fork_ms, scenario.parent, scenario.fork_ms) == (
        Run.BATCH, mirrored, ten, mirrored, ten,
    )  # fmt: skip
    assert (scenario.scheduler, scenario.parameters) == ("fifo", {"backfill": True})
    slot = (ten - 1) // MINUTE * MINUTE  # in which running jobs arrive, so that they start before the waiting one
    assert arrivals(run) == {"1": slot, "2": slot, "3": ten}
    events = [event for batch in event_log.after(run.pk, 0) for event in batch]
    assert [event.kind for event in events if event.at_ms < slot] == ["run_started"]
    assert list(event_log.canonical(run.pk)) == from_scratch(run), "it depends on its scenario alone"
    ends = {
        arrival: event.at_ms for event in events if event.kind == "job_completed" for arrival in [event.data["job"]]
    }
    left = [1_500 * S - 660 * S, 1_800 * S - 660 * S, 5 * MINUTE]  # as it turned out; its limit from minute 10 on
    for index, work_ms in enumerate(left):
        assert ten + work_ms <= ends[index] <= ten + work_ms + 2 * MINUTE
    ids = [each.id for each in store.of_run(run)[1]]
    assert ids == ["1", "2", "3"], "running ones first"


def test_running_jobs_keep_running_whatever_the_order_of_the_queue():
    """The waiting job is the shortest one, and needs a whole node; running ones hold both."""
    connection = Connection.objects.create(name="full", connector="slurm")
    held = [running(str(n), 0, node=node.name, gpus=4, limit_ms=30 * MINUTE) for n, node in enumerate(NODES)]
    waits = job("9", gpus=4, limit_ms=5 * MINUTE)
    one = following(connection, first := polled(0, *held, waits))
    for each in (first, polled(610, *held, waits)):
        one.apply(each)
    options = {"scheduler": "easy", "parameters": {"order": "shortest"}}
    _, run = commands.fork_and_start(connection.run.pk, None, "", [], True, options=options)
    played_out(run)
    starts = stored_states.at(run.pk).jobs.rows[:, JOB_FIELDS.index("start_ms")].tolist()
    assert starts[0] == starts[1] <= run.fork_ms < run.fork_ms + 15 * MINUTE < starts[2]


def test_what_is_down_then_is_not_available(mirrored):
    _, run = commands.fork_and_start(mirrored.pk, at(mirrored, 1_260), "", [], True)
    assert [(server.name, server.away) for server in store.of_run(run)[0].servers] == [
        ("edge1", ()), ("cloud1", ((0, MAX_INT),)),
    ]  # fmt: skip
    assert [server.site for server in store.of_run(run)[0].servers] == ["edge", "cloud"]
    assert ": 2 nodes, 1 of them unavailable from then on; " in run.scenario.trace.report["notes"][0]
    played_out(run)
    bars = {
        bar[SERVER] for batch in event_log.after(run.pk, 0) for event in batch for bar in event.data.get("bars", ())
    }
    assert bars == {0}


def test_a_node_that_is_draining_then_is_named_in_a_note():
    connection = Connection.objects.create(name="drains", connector="slurm")
    draining = replace(NODES[0], state=DRAINING, reason="disk")
    held = running("1", 0, node=draining.name, gpus=4)
    one = following(connection, first := polled(0, held))
    for each in (first, polled(610, held, job("2", gpus=1), nodes=(draining, *NODES[1:]))):
        one.apply(each)
    scenario, _ = commands.fork_and_start(connection.run.pk, None, "", [], False)
    (note,) = [note for note in scenario.trace.report["notes"] if note.startswith("Draining")]
    assert re.fullmatch(
        rf"Draining at {UTC}: {draining.name}. The cluster places no new job there; the cut does.", note
    )


def test_a_held_job_is_left_out_while_it_is_held_and_said_to_be(mirrored):
    scenario, _ = commands.fork_and_start(mirrored.pk, at(mirrored, 780), "", [], False)
    assert scenario.trace.report["skipped_counts"] == {"held": 1, "arrives_later": 1}
    assert scenario.trace.report["notes"][-2] == "Jobs not included: 1 arrived later; 1 held."
    scenario, _ = commands.fork_and_start(mirrored.pk, at(mirrored, 960), "", [], False)
    assert scenario.trace.job_count == 3


def test_the_notes_say_what_is_believed(mirrored):
    scenario, _ = commands.fork_and_start(mirrored.pk, at(mirrored, 660), "", [], False, options={"arrivals": True})
    moment_ = moment_utc(mirrored.epoch_ms + at(mirrored, 660))
    assert moment_.endswith(" UTC")
    assert scenario.trace.report["notes"] == [
        f"Cut from run {mirrored.pk} at {moment_}: 2 nodes; 2 running jobs, 1 waiting job, 1 job that arrived later.",
        f"Jobs that were running at {moment_} arrive first, with their remaining work, and are placed again on any "
        "node. A copy of such a job that an edit adds has that work, too.",
        "Durations: actual for 1 job, from the time limit for 3 jobs.",
        "Sampled, because the cluster does not state them: training epochs, global batch size, mini-batches per chunk, "
        "model, utility, workers per parameter server.",
        "Slots are 1m long: a slotted scheduler starts jobs only when a slot begins, and a job holds its resources to "
        "the end of a slot.",
    ]
    assert scenario.trace.report["provenance"]["minibatch_ms"] == {"actual": 1, "limit": 3}


def test_another_scheduler_edits_and_options(mirrored):
    eleven = at(mirrored, 660)
    edits = [{"verb": "fail_servers", "servers": "edge1", "for_ms": MINUTE, "at_ms": eleven + MINUTE}]
    options = {"scheduler": "srtf", "durations": "limit", "arrivals": True}
    scenario, run = commands.fork_and_start(mirrored.pk, eleven, "mine", edits, True, options=options)
    assert (scenario.name, scenario.scheduler, run.edits[0]["verb"]) == ("mine", "srtf", "fail_servers")
    assert arrivals(run)["4"] == at(mirrored, 1_800)
    fails = moment_utc(mirrored.epoch_ms + eleven + MINUTE)
    (row,) = (row for row in forks.family(mirrored) if row["id"] == run.pk)
    assert row["edits"] == [f"From {fails}: fail edge1 for 1m"], "in UTC, as every time of the cut"
    too_late = [{**edits[0], "servers": "edge9"}]
    rows, _ = preview(store.base(scenario), too_late, epoch_ms=scenario.epoch_ms)
    assert rows[0]["error"].startswith(f"no server matches 'edge9' at {fails}; servers: ")
    played_out(run)
    assert {event.kind for batch in event_log.after(run.pk, 0) for event in batch} >= {"edited", "server_changed"}


def test_a_fork_of_a_fork_goes_on_from_it(mirrored):
    eleven = at(mirrored, 660)
    _, run = commands.fork_and_start(mirrored.pk, eleven, "", [], True)
    played_out(run)
    edits = [{"verb": "change_scheduler", "scheduler": "drf", "at_ms": eleven + 5 * MINUTE}]
    _, second = commands.fork_and_start(run.pk, eleven + 5 * MINUTE, "", edits, True)
    assert second.last_seq > 0
    played_out(second)
    assert list(event_log.canonical(second.pk)) == from_scratch(second)


def test_cuts_and_their_forks_and_copies_have_the_times_of_the_real_cluster(mirrored):
    eleven = at(mirrored, 660)
    utc = moment_utc(mirrored.epoch_ms + eleven)
    scenario, run = commands.fork_and_start(mirrored.pk, eleven, "", [], True)
    assert scenario.name == f"{mirrored.scenario.name}, cut of run {mirrored.pk} at {utc}"
    assert (scenario.trace.name, scenario.cluster.source) == (
        f"{mirrored.scenario.name} at {utc}", f"run {mirrored.pk} at {utc}",
    )  # fmt: skip
    played_out(run)
    later = eleven + 5 * MINUTE
    fork, second = commands.fork_and_start(run.pk, later, "", [], True)
    assert fork.name == f"{scenario.name}, fork of run {run.pk} at {moment_utc(mirrored.epoch_ms + later)}"
    copy = commands.start_run(Scenario.objects.create(
        name="copy", cluster=scenario.cluster, trace=scenario.trace, scheduler="fifo",
    ))  # fmt: skip
    for one in (run, second, copy):
        again = Run.objects.get(pk=one.pk)
        assert (again.began_at, again.epoch_ms) == (mirrored.began_at, mirrored.epoch_ms)
        assert again.moment(eleven) == utc


def test_the_times_of_a_cut_are_known_without_its_run_and_without_its_jobs(mirrored, django_assert_num_queries):
    scenario, _ = commands.fork_and_start(mirrored.pk, at(mirrored, 660), "", [], False)
    Scenario.objects.filter(pk=scenario.pk).update(parent=None)
    run = Run.objects.select_related("scenario").get(pk=commands.start_run(Scenario.objects.get(pk=scenario.pk)).pk)
    with django_assert_num_queries(1) as asked:
        assert (run.began_at, run.epoch_ms) == (mirrored.began_at, mirrored.epoch_ms)
    assert '"jobs"' not in asked[0]["sql"]
    with django_assert_num_queries(1):
        assert Run.objects.select_related("scenario__trace").get(pk=run.pk).epoch_ms == mirrored.epoch_ms


def test_cuts_that_were_made_before_are_dated(mirrored):
    scenario, _ = commands.fork_and_start(mirrored.pk, at(mirrored, 660), "", [], False)
    Trace.objects.update(began_at=None)
    import_module("twin.migrations.0038_times_of_cuts").dated(apps, None)
    assert Trace.objects.get(pk=scenario.trace_id).began_at == mirrored.began_at
    assert Trace.objects.exclude(pk=scenario.trace_id).get().began_at is None


def test_the_same_cut_is_stored_once_and_goes_with_its_last_fork(mirrored):
    runs = [commands.fork_and_start(mirrored.pk, at(mirrored, 660), "", [], True)[1] for _ in range(2)]
    assert Trace.objects.filter(format=FORMAT).count() == 1
    assert ClusterSpec.objects.filter(source__startswith="run").count() == 1
    commands.discard(runs[0])
    assert Trace.objects.filter(format=FORMAT).count() == 1
    commands.discard(runs[1])
    assert not Trace.objects.filter(format=FORMAT).exists()
    assert not ClusterSpec.objects.filter(source__startswith="run").exists()
    assert Scenario.objects.filter(pk=mirrored.scenario_id).exists()


def test_moments_at_which_the_cluster_is_not_known_are_refused(mirrored):
    with pytest.raises(Refused, match=rf"has reached {UTC}, not {UTC}; choose a time up to that"):
        commands.fork_and_start(mirrored.pk, mirrored.sim_ms + 1, "", [], False)
    with pytest.raises(Refused, match=rf"shows the cluster from {UTC} on, so no cut can be made at {UTC};"):
        commands.fork_and_start(mirrored.pk, at(mirrored, 0) - 1, "", [], False)
    assert commands.fork_and_start(mirrored.pk, None, "", [], False)[0].fork_ms == mirrored.sim_ms


def test_the_present_is_the_newest_look_even_if_nothing_changed_in_it(mirrored):
    Connection.objects.update(health={"seen_ms": polled(3_000).at_ms})
    assert moments.reached_ms(mirrored) == at(mirrored, 3_000) > mirrored.sim_ms
    fork, _ = commands.fork_and_start(mirrored.pk, None, "", [], False)
    assert fork.fork_ms == at(mirrored, 3_000)
    Run.objects.filter(pk=mirrored.pk).update(status=Run.FINISHED)
    mirrored.refresh_from_db()
    assert moments.reached_ms(mirrored) == mirrored.sim_ms


def test_what_a_fork_cannot_be(mirrored):
    for options, error, words in (
        ({"scheduler": "observed"}, ModelError, "cannot be simulated"),
        ({"scheduler": "best"}, UnknownName, "known: "),
        ({"durations": "guess"}, ModelError, "must be one of actual, limit, got .guess."),
        ({"assumed_ms": 0}, ModelError, "1,?000"),
    ):
        with pytest.raises(error, match=words):
            commands.fork_and_start(mirrored.pk, None, "", [], False, options=options)
    assert not Scenario.objects.filter(parent=mirrored).exists()
    plain, run = commands.fork_and_start(mirrored.pk, None, "", [], True)
    with pytest.raises(Refused, match="only for cuts of a live cluster, and run"):
        commands.fork_and_start(run.pk, plain.fork_ms, "", [], False, options={"arrivals": True})
    with pytest.raises(Refused, match="mirrors a real cluster"):
        commands.promote(run)


def test_a_moment_without_open_jobs_is_refused():
    connection = Connection.objects.create(name="idle", connector="slurm")
    following(connection, polled(0)).apply(polled(0))
    connection.run.refresh_from_db()
    with pytest.raises(Refused, match="has no job that runs or waits at"):
        commands.fork_and_start(connection.run.pk, None, "", [], False)
