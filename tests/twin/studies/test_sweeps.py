"""Sweeps: the points of a grid, cancel and resume, and what is refused."""

from __future__ import annotations

import csv
import io

import pytest
from django.db import connection
from django.db.models import ProtectedError

from tests.twin.builders import H, from_scratch, played_out, scenario_of
from twin.eventlog import event_log
from twin.infra.errors import Refused
from twin.models import Run, Scenario, Sweep
from twin.runs import commands
from twin.studies import sweep_results, sweeps

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_point_is_a_run_of_its_own():
    scenario = scenario_of("oasis", "fifo", jobs=12, servers=6)
    commands.edit(scenario.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2.0, "at_ms": 0}]})
    scenario.refresh_from_db()
    axes = [{"edit": 1, "field": "factor", "values": [0.5, 4]}, {"parameter": "backfill", "values": ["true", "false"]}]
    sweep = sweeps.start(scenario, "", axes, [3, 4])
    points = list(sweep.points.select_related("run__scenario"))
    assert [(p.place, p.seed) for p in points] == [([i, j], seed) for i in (0, 1) for j in (0, 1) for seed in (3, 4)]
    made = points[-1].run.scenario
    assert (made.edits[0]["factor"], made.parameters, made.seed, made.unlisted) == (4, {"backfill": False}, 4, True)
    for point in points:
        played_out(point.run)
    points_of = sweep_results.points_of(sweep)
    assert all(row["figures"]["completed"] == points[i].run.metrics["completed"] for i, row in enumerate(points_of))
    slow, fast = points_of[0]["figures"], points_of[-1]["figures"]
    assert slow["makespan_ms"] > fast["makespan_ms"], "jobs that come eight times as fast are done sooner"
    rows = list(csv.DictReader(io.StringIO("".join(sweep_results.as_csv(sweep)))))
    assert len(rows) == 8
    assert (rows[0]["edit 1: scale arrivals, factor"], rows[0]["backfill"], rows[0]["seed"], rows[0]["status"]) == (
        "0.5",
        "true",
        "3",
        "finished",
    )
    assert float(rows[0]["makespan_ms"]) == slow["makespan_ms"]


def test_a_cancelled_sweep_goes_on_and_keeps_what_is_finished():
    scenario = scenario_of("oasis", "fifo", jobs=8, servers=6)
    sweep = sweeps.start(scenario, "mine", [{"parameter": "backfill", "values": [True, False]}], [])
    first, second = sweep.points.all()
    played_out(first.run)
    with pytest.raises(Refused, match="has 1 unfinished run; cancel it before deleting it"):
        sweeps.delete(sweep)
    assert sweeps.cancel(sweep) == 1
    assert sweeps.resume(sweep) == 1
    second.refresh_from_db()
    played_out(second.run)
    first.refresh_from_db()
    assert first.run.status == second.run.status == Run.FINISHED
    assert sweeps.resume(sweep) == 0
    sweeps.delete(sweep)
    assert list(Scenario.objects.all()) == [scenario]
    assert not Sweep.objects.exists()


@pytest.mark.parametrize(("axes", "seeds", "sentence"), [
    ([{"parameter": "backfill", "values": list(range(1000))}], list(range(1000)),
     "parameter backfill (Backfilling) must be true or false"),
    ([{"edit": 1, "field": "factor", "values": list(range(1, 1001))}], list(range(1000)),
     "at most 500 points, got 1,000,000"),
    ([{"edit": 2, "field": "factor", "values": [1]}], [], "got 2; the scenario has 1"),
    ([{"edit": 1, "field": "speed", "values": [1]}], [], "field must be one of at_ms, factor, got 'speed'"),
    ([{"edit": 1, "field": "factor", "values": [1, 1]}], [], "values must be distinct"),
    ([{"parameter": "speed", "values": [1]}], [], "unknown parameter 'speed'"),
    ([{"values": []}], [], "a non-empty list"),
    ([], [], "one or two axes, got 0"),
    ([{"edit": True, "field": "factor", "values": [1]}], [], "got True; the scenario has 1"),
    ([{"parameter": "backfill", "edit": 1, "field": "factor", "values": [1]}], [],
     "must contain a parameter of the scheduler, or an edit"),
    ([{"parameter": "backfill", "values": [True]}] * 2, [], "the axes must differ, but both are “Backfilling”"),
    ([{"parameter": "backfill", "values": [None]}], [],
     "parameter backfill (Backfilling) must be true or false, got None"),
    ([{"parameter": "backfill", "values": ["x" * 1000]}], [], "xxx..."),
    ([{"edit": 1, "field": "factor", "values": [0]}], [], "parameter factor must be at least 0.001, got 0"),
])  # fmt: skip
def test_what_cannot_be_swept_is_said_and_nothing_is_kept(axes, seeds, sentence):
    scenario = scenario_of("oasis", "fifo", jobs=4, servers=6)
    Scenario.objects.filter(pk=scenario.pk).update(edits=[{"verb": "scale_arrivals", "factor": 1.0, "at_ms": 0}])
    scenario.refresh_from_db()
    with pytest.raises(ValueError, match=r"\w") as caught:
        sweeps.start(scenario, "", axes, seeds)
    assert sentence in str(caught.value)
    assert (Sweep.objects.count(), Run.objects.count(), Scenario.objects.count()) == (0, 0, 1)


def test_points_of_a_fork_have_the_past_that_is_theirs():
    """Only a point equal to the fork until its moment begins with the parent's log; all logs are as of full runs."""
    scenario = scenario_of("oasis", "fifo", jobs=30, servers=6)
    scenario = commands.edit(scenario.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2, "at_ms": 5 * H}]})
    parent = played_out(commands.start_run(scenario))
    fork, _ = commands.fork_and_start(
        parent.pk, 20 * H, "", [{"verb": "scale_arrivals", "factor": 3, "at_ms": 20 * H}], False
    )
    for axis, inherits in (
        ({"edit": 1, "field": "factor", "values": [2, 4]}, [True, False]),
        ({"edit": 2, "field": "at_ms", "values": [10 * H, 30 * H]}, [False, True]),
        ({"parameter": "backfill", "values": [True, False]}, None),
    ):
        sweep = sweeps.start(fork, "", [axis], [])
        runs = [played_out(point.run) for point in sweep.points.select_related("run__scenario")]
        if inherits is not None:
            assert [run.parent_id == parent.pk for run in runs] == inherits, axis
        assert sum(run.parent_id == parent.pk for run in runs) == 1, axis
        for run in runs:
            assert list(event_log.canonical(run.pk)) == from_scratch(run), axis


def test_a_run_that_ends_meanwhile_does_not_keep_a_sweep_from_being_cancelled(monkeypatch):
    sweep = sweeps.start(
        scenario_of("oasis", "fifo", jobs=4, servers=6),
        "",
        [{"parameter": "backfill", "values": [True, False]}],
        [1, 2],
    )
    ended = sweep.points.all()[1].run
    before = commands.cancel_all

    def late(runs, user):
        played_out(ended)
        return before(runs, user)

    monkeypatch.setattr(commands, "cancel_all", late)
    assert sweeps.cancel(sweep) == 3
    assert set(Run.objects.exclude(pk=ended.pk).values_list("wanted", flat=True)) == {Run.CANCELLED}


def test_a_sweep_of_before_whose_edit_is_gone_cannot_make_new_points():
    scenario = scenario_of("oasis", "fifo", jobs=4, servers=6)
    scenario = commands.edit(scenario.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2, "at_ms": H}]})
    sweep = sweeps.start(scenario, "", [{"edit": 1, "field": "factor", "values": [2, 4]}], [])
    commands.delete(played_out(sweep.points.all()[0].run))
    sweep.pinned["edits"] = []  # as the migration found the scenario
    with pytest.raises(
        Refused, match="edit 1 of its scenario is no longer “Scale the arrival rate”; start a new sweep"
    ):
        sweeps.resume(sweep)


def test_a_resumed_sweep_uses_the_scenario_as_it_was_when_the_sweep_was_started():
    """Rows of one table are of one scenario, whatever was edited, cancelled and deleted in between."""
    scenario = scenario_of("oasis", "fifo", jobs=12, servers=6)
    scenario = commands.edit(scenario.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 2, "at_ms": H}]})
    axes = [{"parameter": "backfill", "values": [True, False]}]
    undisturbed = [played_out(point.run) for point in sweeps.start(scenario, "", axes, [3, 4]).points.all()]
    sweep = sweeps.start(scenario, "", axes, [3, 4])
    first, second, third, _ = (point.run for point in sweep.points.all())
    commands.delete(played_out(first))
    played_out(second)
    commands.edit(scenario.pk, 2, {"name": "renamed"})
    sweep = Sweep.objects.get(pk=sweep.pk)
    assert sweeps.edited(sweep) is None, "another name changes no run"
    commands.edit(scenario.pk, 3, {"edits": [{"verb": "scale_arrivals", "factor": 9, "at_ms": H}]})
    sweep = Sweep.objects.get(pk=sweep.pk)
    assert sweeps.edited(sweep) == (
        "The scenario was edited after this sweep was started: it is at version 4. All points, also resumed ones, use "
        "version 2."
    )
    assert sweeps.cancel(sweep) == 2
    assert [row["status"] for row in sweep_results.points_of(sweep)] == [
        "deleted",
        "finished",
        "cancelled",
        "cancelled",
    ]
    assert sweeps.resume(sweep) == 3
    again = [played_out(point.run) for point in sweep.points.select_related("run__scenario")]
    assert again[1] == second
    assert again[2] != third
    for one, other in zip(again, undisturbed, strict=True):
        assert list(event_log.canonical(one.pk)) == list(event_log.canonical(other.pk))
        assert (one.metrics, one.scenario.name) == (other.metrics, other.scenario.name)


def test_a_point_of_a_sweep_cannot_be_edited():
    sweep = sweeps.start(
        scenario_of("oasis", "fifo", jobs=4, servers=6), "", [{"parameter": "backfill", "values": [True]}], []
    )
    made = sweep.points.get().run.scenario
    with pytest.raises(Refused, match=f"scenario {made.pk} belongs to a sweep"):
        commands.edit(made.pk, 1, {"name": "other"})


def test_runs_are_created_few_at_a_time_and_checked_before_the_database_is_locked(monkeypatch):
    sizes, locked = [], []

    def counted(entered, user):
        sizes.append(len(entered))
        return start(entered, user)

    def checked(scenario, edits):
        locked.append(connection.in_atomic_block)
        return check(scenario, edits)

    start, check = commands.start_runs, sweeps.store.check
    monkeypatch.setattr(commands, "start_runs", counted)
    monkeypatch.setattr(sweeps.store, "check", checked)
    scenario = scenario_of("oasis", "fifo", jobs=4, servers=6)
    sweep = sweeps.start(scenario, "", [{"parameter": "backfill", "values": [True, False]}], list(range(12)))
    assert sweep.points.exclude(run=None).count() == 24
    assert sizes == [10, 10, 4]
    assert locked[:24] == [False] * 24, "later checks of the same values find their result"


def test_the_ticker_creates_the_runs_that_a_process_has_left_uncreated(monkeypatch):
    def killed(entered, user):
        if Run.objects.exists():
            raise SystemExit
        return start(entered, user)

    start = commands.start_runs
    scenario = scenario_of("oasis", "fifo", jobs=4, servers=6)
    axes = [{"parameter": "backfill", "values": [True, False]}]
    with monkeypatch.context() as patch:
        patch.setattr(commands, "start_runs", killed)
        with pytest.raises(SystemExit):
            sweeps.start(scenario, "", axes, list(range(12)))
    sweep = Sweep.objects.get()
    assert Run.objects.count() == 10
    assert [row["status"] for row in sweep_results.points_of(sweep)] == ["queued"] * 24
    commands.edit(scenario.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 9, "at_ms": H}]})
    assert [sweeps.create_waiting() for _ in range(3)] == [10, 4, 0]
    runs = [point.run for point in sweep.points.select_related("run__scenario")]
    assert len({run.pk for run in runs}) == Run.objects.count() == 24
    assert all(run.scenario.edits == [] for run in runs)
    assert [(run.scenario.parameters["backfill"], run.scenario.seed) for run in runs] == [
        (value, seed) for value in (True, False) for seed in range(12)
    ]


def test_runs_that_are_not_created_yet_are_cancelled_and_resumed(monkeypatch):
    monkeypatch.setattr(sweeps, "_create_runs", lambda sweep, user: 0)
    sweep = sweeps.start(
        scenario_of("oasis", "fifo", jobs=4, servers=6), "", [{"parameter": "backfill", "values": [True]}], [1, 2]
    )
    monkeypatch.undo()
    with pytest.raises(Refused, match="2 unfinished runs"):
        sweeps.delete(sweep)
    assert sweeps.cancel(sweep) == 2
    assert sweeps.create_waiting() == 0
    assert [row["status"] for row in sweep_results.points_of(sweep)] == ["cancelled"] * 2
    assert sweeps.resume(sweep) == 2
    assert Run.objects.count() == 2


def test_a_scenario_that_is_swept_stays():
    scenario = scenario_of("oasis", "fifo", jobs=4, servers=6)
    sweeps.start(scenario, "", [{"parameter": "backfill", "values": [True]}], [])
    with pytest.raises(ProtectedError):
        scenario.delete()


def test_points_whose_jobs_train_by_different_models_are_not_ranked():
    scenario = scenario_of("oasis", "fifo", jobs=6, servers=4)
    sweep = sweeps.start(
        scenario,
        "",
        [{"parameter": "model", "values": ["oasis", "pd-ors"]}, {"parameter": "backfill", "values": ["true", "false"]}],
        [3],
    )
    assert sweep_results.unranked(sweep) == (
        "Some points have different execution models: slotted (jobs train by chunks); slotted (jobs train by samples). "
        "The same job has different durations there, so metrics are not ranked."
    )
    load = sweeps.start(_with_rate(scenario), "", [{"edit": 1, "field": "factor", "values": [2, 4]}], [3])
    assert sweep_results.unranked(load) == (
        "“Factor of edit 1 (Scale the arrival rate)” changes the jobs of the points, so their metrics are not ranked."
    )
    alike = sweeps.start(scenario, "", [{"parameter": "backfill", "values": ["true", "false"]}], [3])
    assert sweep_results.unranked(alike) is None


def test_a_sweep_offers_the_metrics_of_its_runs_and_ranks_those_that_measure_the_same():
    """Without the cloud from the beginning, or only after the last arrival: jobs alone have it in one point."""
    scenario = scenario_of("a-online", "a_online", jobs=6, servers=4)
    last_ms = max(job.arrival_ms for job in sweeps.store.jobs_of(scenario.trace_id))
    edit = {"verb": "switch_cloud", "on": False, "at_ms": 1_000}
    Scenario.objects.filter(pk=scenario.pk).update(edits=[edit])
    scenario.refresh_from_db()
    axes = [{"edit": 1, "field": "at_ms", "values": [1_000, last_ms + 1]}]
    sweep = sweeps.start(scenario, "", axes, [3])
    assert sweep_results.figures_of(sweep_results.points_of(sweep)) == list(sweep_results.METRICS), "none has finished"
    runs = [played_out(point.run) for point in sweep.points.select_related("run__scenario")]
    figures = sweep_results.figures_of(sweep_results.points_of(sweep))
    assert {"lanes.mean_slowdown", "lanes.mean_busy"} <= set(figures)
    assert not {"utilization.gpu", "groups.moves"} & set(figures)
    first, other = (run.pk for run in runs)
    why = f"Mean slowdown is not ranked. Run {other}: a job alone takes a different time than in run {first}."
    assert sweep_results.unranked_figures(sweep, figures) == {"lanes.mean_slowdown": why}
    assert sweep_results.unranked_figures(sweep, ["mean_jct_ms"]) == {}


def _with_rate(scenario):
    Scenario.objects.filter(pk=scenario.pk).update(edits=[{"verb": "scale_arrivals", "factor": 1.0, "at_ms": 0}])
    scenario.refresh_from_db()
    return scenario
