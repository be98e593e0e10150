"""Replays of a live cluster by the model of its own policy: what is compared, when one is due, what is kept."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from scheduling import algorithms
from scheduling.kernel import registry
from scheduling.slotted.slurm.passes import moments_of
from tests.twin.mirror.builders import EPOCH, S, ended, job, polled, running
from tests.twin.mirror.builders_stored import following
from tests.twin.studies.builders_shadows import (
    END_S,
    MINUTE,
    busy_cluster,
    busy_cluster_with_passes,
    computed,
    poll,
    seen,
)
from twin.connectors.constraints import Constraints
from twin.infra.errors import Refused
from twin.mirror.forecasts.learning import Learned
from twin.models import AuditEntry, Connection, Forecasting, Run, Scenario, Shadow, ShadowSet
from twin.scenarios import store
from twin.studies.shadows import eligibility, replays, retention, sets, task
from twin.studies.shadows.window import window_of

pytestmark = pytest.mark.django_db(transaction=True)
REPLAY = ShadowSet.REPLAY


def replayed(connection: Connection, **asked) -> ShadowSet:
    """A replay after a worker has computed it, in this process."""
    return computed(connection, length_ms=replays.DAY_MS, purpose=REPLAY, **asked)


def test_easy_replays_the_window_beside_what_happened():
    """24 jobs of 10 minutes on 4 places: the cluster takes two seconds for each start, the model none."""
    of = replayed(busy_cluster())
    found = of.facts["replay"]
    assert (of.facts["slot_ms"], found["jobs"], found["within_ms"]) == (1_000, 20, 30_000)
    assert found["makespan_real_ms"] - found["makespan_ms"] == pytest.approx(10_000, abs=1_000)
    assert abs(found["makespan_error"]) < 0.02
    assert found["wait_real_ms"] - found["wait_ms"] == pytest.approx(6_000, abs=1_000)
    assert (found["within"], found["order"], found["first"]) == (1.0, 1.0, None)
    (shadow,) = of.shadows.all()
    assert (shadow.scheduler, shadow.status, shadow.durations) == ("easy", Shadow.DONE, sets.ACTUAL)
    scenario = Scenario.objects.get(runs=shadow.run)
    assert (scenario.parameters["order"], scenario.unlisted) == ("utility", True)
    assert "replay by EASY" in scenario.name


@pytest.fixture
def without_easy(tmp_path, monkeypatch):
    """The schedulers without the file of EASY."""
    folder = tmp_path / "schedulers"
    shutil.copytree(Path(algorithms.__path__[0]), folder, ignore=shutil.ignore_patterns("easy.py", "__pycache__"))
    monkeypatch.setattr(algorithms, "__path__", [str(folder)])
    registry.names.cache_clear()
    registry._imported.cache_clear()
    yield
    registry.names.cache_clear()
    registry._imported.cache_clear()


@pytest.mark.usefixtures("without_easy")
def test_a_replay_without_the_model_of_the_policy_states_the_reason():
    of = replayed(busy_cluster())
    assert (of.status, of.message) == (
        ShadowSet.FAILED, "scheduler 'easy' is not available: no file easy.py is installed with the schedulers",
    )  # fmt: skip


PASSES = {"main_ms": 3_000, "backfill_ms": 30_000, "resolution_ms": 60_000, "window_ms": 86_400_000, "depth": 500}


def test_a_slurm_that_reports_its_settings_is_replayed_by_its_own_model():
    """The cluster starts a job 2 s after the end that it waited for; the model at once, or in step within 30 s."""
    connection = busy_cluster()
    Forecasting.objects.create(
        connection=connection, constraints=Constraints(backfill_ms=30_000, passes=PASSES).plain()
    )
    of = replayed(connection)
    (shadow,) = of.shadows.all()
    assert (shadow.scheduler, shadow.status) == ("slurm", Shadow.DONE), shadow.message
    found = of.facts["replay"]
    assert (found["jobs"], found["in_step"], found["within"]) == (20, 1.0, 1.0)
    assert (of.facts["parameters"]["depth"], of.facts["parameters"]["spread"]) == (500, True)
    cluster, jobs = store.of_run(shadow.run)
    assert [server.queues for server in cluster.servers] == [("edge",), ("cloud",)]
    assert {(job.requested_workers, job.worker[0]) for job in jobs} == {(1, 2_000)}, "a worker is a node"
    assert any("main scheduler runs at most once every 3 s" in text for text in of.facts["sentences"])


def test_the_backfill_passes_that_the_cluster_reports_are_those_of_the_replay():
    """A pass every 30 s from second 7 on."""
    connection = busy_cluster_with_passes(30, 7)
    Forecasting.objects.create(
        connection=connection, constraints=Constraints(backfill_ms=30_000, passes=PASSES).plain()
    )
    of = replayed(connection)
    text = of.facts["parameters"]["known_passes"]
    known = moments_of(text, 30_000)
    first_ms = EPOCH + 7 * S - round(connection.run.clock_wall.timestamp() * 1000) + 500
    assert text == f"{first_ms}*{len(known)}"
    assert len(known) == 113, "up to the last event"
    assert any(f"the times of {len(known)} passes are known" in text for text in of.facts["sentences"])
    assert of.facts["replay"]["jobs"] == 20
    short = Constraints(backfill_ms=2_000, passes=PASSES | {"backfill_ms": 2_000})
    Forecasting.objects.update(constraints=short.plain())
    of = replayed(connection)
    assert of.facts["parameters"]["known_passes"] == "", "too close for whole seconds"


def test_a_start_that_the_model_would_have_made_earlier_does_not_agree():
    """The cluster takes 2 s for each start: too many with a tolerance of 1 s."""
    connection = busy_cluster()
    settings = PASSES | {"backfill_ms": 1_000}
    Forecasting.objects.create(
        connection=connection, constraints=Constraints(backfill_ms=1_000, passes=settings).plain()
    )
    assert replayed(connection).facts["replay"]["in_step"] == 0.0
    Forecasting.objects.update(constraints=Constraints(backfill_ms=2_000, passes=settings).plain())
    assert replayed(connection).facts["replay"]["in_step"] == 1.0


def test_jobs_hold_their_nodes_for_the_usual_pause_which_is_no_part_of_their_run_times():
    """With the two seconds that the cluster takes for each start, the model starts each job when the cluster did."""
    connection = busy_cluster()
    learned = Learned()
    learned.pauses = [2_000] * 9
    Forecasting.objects.create(connection=connection, learned=learned.pack())
    of = replayed(connection)
    found = of.facts["replay"]
    assert found["makespan_real_ms"] - found["makespan_ms"] == pytest.approx(2_000, abs=1_000)
    assert found["wait_real_ms"] - found["wait_ms"] == pytest.approx(2_000, abs=1_000)
    assert any("holds its nodes for 2 s more" in text for text in of.facts["sentences"])


def test_a_job_that_waits_for_a_dependency_arrives_when_it_became_eligible():
    """A job of the first minute that depends on another until minute 30 delays no other job before."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    late = job("late", submitted_ms=EPOCH + 60 * S, reason="Dependency", user="u9", limit_ms=60 * MINUTE)
    eligible = replace(late, reason="Priority")
    ran = ended(running("late", 1_900, node="cloud1", **{
        name: getattr(late, name) for name in ("submitted_ms", "user", "limit_ms")
    }), 2_500)  # fmt: skip
    for each in (polled(0), polled(90, *poll(90).jobs, late), polled(1_800, *poll(1_800, 4).jobs, eligible)):
        one.apply(each)
    one.apply(polled(END_S, *poll(END_S, 4).jobs, ran))
    connection = seen(connection)
    of = replayed(connection)
    (shadow,) = of.shadows.all()
    _, jobs = store.of_run(shadow.run)
    assert {job.id: job.arrival_ms for job in jobs}["late"] == 1_800 * S + EPOCH - round(
        connection.run.clock_wall.timestamp() * S
    )
    assert any("1 job first waited for something other than resources" in text for text in of.facts["sentences"])


@pytest.mark.parametrize(
    ("decisions", "found"),
    [
        ([(5, "waits", "Dependency"), (9, "waits", "Priority"), (12, "started", "")], {0: 9}),
        ([(5, "held", "JobHeldUser"), (9, "started", "")], {0: 9}),
        ([(5, "waits", "Resources"), (9, "started", "")], {}),
        ([(5, "waits", "Nodes required for job are DOWN, DRAINED or reserved"), (9, "started", "")], {}),
        ([(5, "waits", "ReqNodeNotAvail, UnavailableNodes:n1"), (9, "waits", "")], {0: 9}),
        ([(5, "waits", "BeginTime"), (6, "waits", "None"), (7, "waits", "BeginTime"), (9, "started", "")], {0: 9}),
        ([(5, "waits", "Licenses")], {0: 100}),
        ([(5, "waits", "Dependency"), (9, "started", ""), (20, "waits", "BeginTime")], {0: 9}),
        ([(-9, "waits", "Dependency"), (-5, "started", ""), (20, "waits", "BeginTime"), (30, "started", "")], {0: 30}),
        ([(-9, "waits", "Dependency"), (-5, "waits", "")], {}),
    ],
)
def test_a_job_is_eligible_after_its_last_reason_besides_resources(decisions, found):
    rows = [(at_ms, 0, code, reason) for at_ms, code, reason in decisions]
    assert eligibility._eligible(rows, 0, 100) == found


def test_replays_and_shadows_share_no_jobs():
    connection = busy_cluster()
    of, shadows = replayed(connection), sets.request(connection, replays.DAY_MS)
    task.prepare(shadows.pk)
    shadows.refresh_from_db()
    assert of.trace_id != shadows.trace_id


def test_the_first_start_beyond_the_interval_of_backfilling_is_named():
    connection = busy_cluster()
    Forecasting.objects.create(connection=connection, constraints=Constraints(backfill_ms=3_000).plain())
    found = replayed(connection).facts["replay"]
    assert (found["within_ms"], found["within"] < 1) == (3_000, True)
    first = found["first"]
    assert first["real_ms"] - first["simulated_ms"] > 3_000


def test_the_queue_has_the_order_of_the_clusters_priorities():
    window = window_of(busy_cluster(), 60 * MINUTE)
    parts = [
        part._replace(known=_known(part.known, priority)) for priority, part in enumerate(window.made.cut.parts, -1)
    ]
    table = replays.with_priorities(window.made.table, parts)
    assert table.utility[:4, 0].tolist() == pytest.approx([1e-9, 1e-9, 2, 4], abs=1e-6)
    assert [job.utility.priority > 0 for job in table.jobs()] == [True] * len(table)


def _known(known, priority):
    from copy import copy
    from dataclasses import replace

    made = copy(known)
    made.fact = replace(known.fact, priority=max(0, priority))
    return made


def test_shadows_and_replays_do_not_stop_each_other():
    connection = busy_cluster()
    shadows, own = sets.request(connection), sets.request(connection, purpose=REPLAY)
    with pytest.raises(Refused, match="replay of lab is being computed; wait until it is finished, or cancel it"):
        sets.request(connection, purpose=REPLAY)
    assert sets.cancel(connection, purpose=REPLAY).pk == own.pk
    with pytest.raises(Refused, match="no replay of lab is being computed"):
        sets.cancel(connection, purpose=REPLAY)
    shadows.refresh_from_db()
    assert shadows.status == ShadowSet.QUEUED
    assert list(AuditEntry.objects.values_list("action", flat=True)) == ["replay.cancel"]


def test_a_replay_is_due_for_each_run_that_is_over_and_for_the_first_hour(settings):
    connection = busy_cluster()
    of = Connection.objects.select_related("run").get()
    assert replays.due(of) is None, "it is not followed"
    before = Run.objects.get(pk=connection.run_id)
    after = Run.objects.create(scenario=before.scenario, mode=Run.MIRROR, follows=before, clock_wall=before.clock_wall)
    of.run = after
    assert replays.due(of) == before
    settings.SHADOWS_EVERY_S = 0
    assert replays.due(of) is None
    settings.SHADOWS_EVERY_S = 600
    made = sets.request(connection, replays.DAY_MS, purpose=REPLAY, run=before)
    assert (made.run, replays.due(of)) == (before, None)
    ShadowSet.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert replays.due(of) is None, "it has been replayed"


def test_the_ticker_begins_a_replay_and_shadows_where_none_is_possible(monkeypatch):
    connection = busy_cluster()
    monkeypatch.setattr(sets, "due", lambda of: True)
    monkeypatch.setattr(replays, "due", lambda of: of.run)
    task._begin_due()
    assert [of.purpose for of in ShadowSet.objects.all()] == [REPLAY]
    task._begin_due()
    assert [of.purpose for of in ShadowSet.objects.all()] == [ShadowSet.SHADOWS, REPLAY], "one replay is under way"
    assert set(ShadowSet.objects.values_list("run", "created_by")) == {(connection.run_id, None)}


def test_a_run_that_is_over_is_replayed_after_the_next_one_has_begun():
    connection = busy_cluster()
    before = connection.run
    Run.objects.filter(pk=before.pk).update(status=Run.FINISHED)
    connection.run = Run.objects.create(
        scenario=before.scenario, mode=Run.MIRROR, follows=before, clock_wall=before.clock_wall
    )
    connection.save()
    before.refresh_from_db()
    of = replayed(connection, run=before)
    assert (of.status, of.run_id, of.facts["replay"]["jobs"]) == (ShadowSet.FINISHED, before.pk, 20)


def test_replays_are_thinned_apart_from_shadows():
    connection = busy_cluster()
    kept = [ShadowSet.objects.create(connection=connection, purpose=purpose, status=ShadowSet.FINISHED, length_ms=1)
            for purpose in (ShadowSet.SHADOWS, REPLAY, REPLAY)]  # fmt: skip
    old = timezone.now() - timedelta(days=8)
    ShadowSet.objects.filter(pk__in=[kept[0].pk, kept[1].pk]).update(created_at=old)
    assert retention.thin(connection, REPLAY) == 1
    assert {of.pk for of in connection.shadow_sets.all()} == {kept[0].pk, kept[2].pk}
