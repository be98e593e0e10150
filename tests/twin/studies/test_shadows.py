"""Shadows of a live cluster: the window, what happened in it, every scheduler on it, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.utils import timezone

from scheduling.kernel.registry import scheduler_class, schedulers
from scheduling.model.bars import SERVER
from scheduling.model.limits import MAX_INT
from scheduling.model.provenance import ACTUAL, PREDICTED
from tests.twin.mirror.builders import job, polled
from tests.twin.mirror.builders_stored import following
from tests.twin.mirror.whatif.builders_forty import MINUTE, at, mirrored_run
from tests.twin.studies.builders_shadows import END_S, busy_cluster, computed, only, poll, replayed
from twin.connectors.facts import DOWN, Attempt
from twin.eventlog import event_log
from twin.infra.errors import Refused
from twin.mirror import stored
from twin.mirror.whatif import inputs
from twin.models import AuditEntry, ClusterSpec, Connection, Run, Scenario, Shadow, ShadowSet, Trace
from twin.runs import readers
from twin.scenarios import forks
from twin.studies.shadows import retention, sets, task
from twin.studies.shadows.believed import believed
from twin.studies.shadows.metrics import History
from twin.studies.shadows.window import MAX_SLOTS, servers_in, slot_for, window_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab() -> Connection:
    """Forty minutes, in which little happened."""
    connection = mirrored_run().connections.get()
    Connection.objects.update(health={"seen_ms": polled(2_400).at_ms})
    connection.refresh_from_db()
    return connection


def test_a_window_has_what_ran_waited_and_arrived_in_it(lab):
    window = window_of(lab, 30 * MINUTE)
    begin = at(lab.run, 2_400) - 30 * MINUTE  # minute 10
    assert (window.from_ms, window.until_ms) == (begin, at(lab.run, 2_400))
    parts = {part.known.name: (part.arrival_ms - begin, part.run_ms, part.origin) for part in window.made.cut.parts}
    assert parts["1"] == (0, 15 * MINUTE, ACTUAL), "it ran from minute 0 to 25, so that 15 minutes are left"
    # `2` has run for 30 minutes; jobs like it took 25, so a minute more is believed; `3` and `4` never ran
    assert parts["2"] == (0, 31 * MINUTE, PREDICTED)
    assert parts["3"] == (0, 5 * MINUTE, PREDICTED), "25 minutes, but its time limit is 5"
    assert parts["4"] == (20 * MINUTE, 10 * MINUTE, PREDICTED)
    edge, cloud = window.made.cluster.servers
    assert edge.away == ()
    assert cloud.away == ((at(lab.run, 1_200), MAX_INT),), "it is down to the end, although `2` stays on it"
    assert any("3 jobs had not ended" in sentence for sentence in window.sentences)
    assert ": 2 nodes, 1 of them unavailable at times; " in inputs.sentences(window.made)[0]


@pytest.mark.thorough
def test_every_scheduler_that_can_gets_an_ordinary_run_and_its_metrics():
    of = computed(busy_cluster())
    assert of.status == ShadowSet.FINISHED
    shadows = {shadow.scheduler: shadow for shadow in of.shadows.filter(durations=sets.ACTUAL)}
    assert {shadow.status for shadow in shadows.values()} == {Shadow.DONE}, [s.message for s in shadows.values()]
    assert len(shadows) + len(of.facts["cannot"]) == len(schedulers())
    assert all(shadow.run.status == Run.FINISHED and shadow.run.scenario.unlisted for shadow in shadows.values())
    real = of.facts["real"]
    # by hand: 4 jobs at a time, each place is free for 2 s between two; round n of 5 waits 2 s + n x 122 s
    assert (real["completed"], real["mean_wait_ms"], real["mean_jct_ms"]) == (20, 246_000, 846_000)
    assert real["gpu_hours"] == pytest.approx(7.5733, abs=1e-4)  # 20 jobs x 2 GPUs x 10 min, and 4 to the end
    for name in ("fifo", "easy", "conservative"):
        one = shadows[name]
        assert one.deltas["mean_wait_ms"] == -6_000, "the 2 s of the cluster, three times on average"
        assert one.figures["mean_jct_ms"] - one.figures["mean_wait_ms"] == 600_000, "as it turned out"
    assert shadows["oasis"].figures["rejected"] + shadows["oasis"].figures["completed"] >= 20
    assert shadows["srtf"].figures["gpu_hours"] is None, "typed workers count no GPUs"


def test_shadows_of_a_recording_are_those_of_the_cluster(tmp_path, monkeypatch):
    only(monkeypatch, "fifo", "easy", "srtf")
    direct, played = computed(busy_cluster()), computed(replayed(tmp_path / "hour.jsonl", "recorded"))
    assert {key: played.facts["real"][key] for key in ("completed", "mean_wait_ms", "mean_jct_ms")} == {
        "completed": 20, "mean_wait_ms": 246_000, "mean_jct_ms": 846_000,
    }  # fmt: skip
    for shadow in played.shadows.all():
        other = direct.shadows.get(scheduler=shadow.scheduler, durations=shadow.durations)
        assert (shadow.status, shadow.deltas["mean_wait_ms"]) == (Shadow.DONE, other.deltas["mean_wait_ms"])


def test_differences_are_over_the_jobs_that_completed_in_both(monkeypatch):
    only(monkeypatch, "pd_ors")
    of = computed(busy_cluster())
    shadow = of.shadows.get(scheduler="pd_ors", durations=sets.ACTUAL)
    history = History.of(of)
    assert 0 < shadow.figures["completed"] < 20
    done = {event.data["job"] for event in _events(shadow.run) if event.kind == "job_completed"}
    both = np.array([job in done for job in range(24)]) & (history.completed_ms >= 0)
    waited = (history.start_ms - history.arrived_ms)[both].mean()
    assert shadow.deltas["mean_wait_ms"] == pytest.approx(shadow.figures["mean_wait_ms"] - waited)


@pytest.mark.thorough
def test_shadows_on_beliefs_know_what_was_known():
    """Jobs of 10 minutes with limits of 60; the first one ends 602 s after the beginning, when six have arrived."""
    of = computed(busy_cluster())
    assert of.facts["beliefs"] == {"name": "similar-p90", "believed_ms": [3_600_000] * 6 + [600_000] * 18}
    shadows = {shadow.scheduler: shadow for shadow in of.shadows.filter(durations=sets.BELIEVED)}
    assert {shadow.status for shadow in shadows.values()} == {Shadow.DONE}, [s.message for s in shadows.values()]
    left_out = {one["scheduler"]: one["reason"] for one in of.facts["cannot_believe"]}
    assert left_out["a_online"] == "cannot run on predicted run times, because it places each chunk of a job separately"
    turned_out = of.shadows.filter(durations=sets.ACTUAL)
    assert len(shadows) + len(left_out) == turned_out.count()
    run = shadows["srtf"].run
    assert [event.data["believed_ms"] for event in _events(run) if event.kind == "job_arrived"][5:7] == [
        3_600_000, 600_000,
    ]  # fmt: skip
    for name in ("fifo", "tiresias_l"):  # they use no durations
        assert shadows[name].figures == turned_out.get(scheduler=name).figures
    assert shadows["srtf"].figures != turned_out.get(scheduler="srtf").figures
    with pytest.raises(Refused, match=r"uses predicted run times and cannot be forked; choose the shadow"):
        forks.fork(run.pk, None, "")


def test_what_is_believed_of_a_job_that_runs_when_the_window_begins(lab):
    """At minute 10 nothing has ended: `1` runs since minute 0 and has a limit, `3` waits with its own."""
    window = window_of(lab, 30 * MINUTE)
    parts = {part.known.name: place for place, part in enumerate(window.made.cut.parts)}
    found = believed(window, "similar-median")["believed_ms"]
    limits = {part.known.name: part.known.fact.limit_ms for part in window.made.cut.parts}
    assert found[parts["1"]] == limits["1"] - 10 * MINUTE
    assert found[parts["3"]] == limits["3"] == 5 * MINUTE
    assert found[parts["4"]] == min(25 * MINUTE, limits["4"] or 25 * MINUTE), "it comes when `1` has run for 25 minutes"


def test_the_cut_keeps_a_node_away_only_while_it_was(lab):
    run = lab.run
    window = window_of(lab, 60 * MINUTE, at(run, 600))
    assert [server.away for server in window.made.cluster.servers] == [(), ()]
    mirror = stored.load_run(run)
    mirror.jobs = []
    begin, end = at(run, 1_000), at(run, 2_400)
    assert servers_in(mirror, begin, end)[1].away == ((at(run, 1_200), MAX_INT),)
    for node in mirror.nodes.values():
        node.away = ((begin - 1, MAX_INT),)
    with pytest.raises(Refused, match=r"no node was available between .* \(2 nodes down or drained\); choose a window"):
        servers_in(mirror, begin, end)
    mirror.nodes.clear()
    with pytest.raises(Refused, match="has reported no nodes; check that its account may see them"):
        servers_in(mirror, begin, end)


def test_work_that_begins_in_an_outage_shows_that_the_node_had_returned(lab):
    """Job `2` is on the node from minute 0 to the end, `5` from second 1,500 to 1,800: the return was polled late."""
    mirror = stored.load_run(lab.run)
    begin, end, down = at(lab.run, 600), at(lab.run, 2_400), at(lab.run, 1_200)
    share = next(known for known in mirror.jobs if known.name == "2").attempts[0].shares[0]
    start, over = polled(1_500).at_ms, polled(1_800).at_ms
    mirror.jobs.append(replace(mirror.jobs[0], attempts=(Attempt(start, over, (share,)),)))
    after = (at(lab.run, 1_800), MAX_INT)
    assert servers_in(mirror, begin, end)[1].away == ((down, at(lab.run, 1_500)), after)


def test_shadows_place_nothing_on_a_node_that_is_down_while_its_job_stays_there(monkeypatch):
    """A cluster that posts `down` without the end of the job: no shadow may use the node, as no fork does."""
    only(monkeypatch, "fifo", "easy")
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    later = (END_S + 1, END_S + 600)
    nodes = tuple(replace(node, state=DOWN) if node.name == "cloud1" else node for node in polled(0).nodes or ())
    for each in (polled(0), poll(END_S), *(replace(poll(END_S), at_ms=polled(s).at_ms, nodes=nodes) for s in later)):
        one.apply(each)
    Connection.objects.update(health={"seen_ms": polled(later[-1]).at_ms})
    connection.refresh_from_db()
    of = computed(connection, length_ms=599_000)
    real = of.facts["real"]
    assert real["utilization.gpu"] == 1.0, "two jobs of 2 GPUs on the 4 that are available"
    assert real["gpu_hours"] == pytest.approx(8 * 599 / 3_600), "held, also on the node that is down"
    for shadow in of.shadows.all():
        assert shadow.status == Shadow.DONE, shadow.message
        bars = [bar for event in _events(shadow.run) if event.kind == "plan_changed" for bar in event.data["bars"]]
        assert {bar[SERVER] for bar in bars} == {0}


@pytest.mark.parametrize(
    ("hours", "slot_ms"), [(0.1, 1_000), (1, 5_000), (6, 15_000), (24, 60_000), (24 * 30, 3_600_000)]
)
def test_slots_are_as_short_as_their_number_allows(hours, slot_ms):
    until_ms = round(hours * 60) * MINUTE
    assert slot_for([], until_ms) == slot_ms
    assert until_ms <= slot_ms * MAX_SLOTS


def test_windows_that_cannot_be(lab):
    run = lab.run
    with pytest.raises(Refused, match=r"has reached 20\d\d-.* UTC, not 20\d\d-.* UTC; choose an earlier end"):
        sets.request(lab, until_ms=at(run, 2_401))
    with pytest.raises(Refused, match=r"so no window can end at .*; choose a later end"):
        sets.request(lab, until_ms=at(run, 0))
    with pytest.raises(Refused, match="must be 1 s to 168 h long, got 10 ms"):
        sets.request(lab, length_ms=10)
    fresh = Connection.objects.create(name="fresh", connector="slurm")
    with pytest.raises(Refused, match="has not been polled yet; wait for the first poll"):
        sets.request(fresh)
    idle = Connection.objects.create(name="idle", connector="slurm")
    following(idle, polled(0)).apply(polled(0))
    Connection.objects.filter(pk=idle.pk).update(health={"seen_ms": polled(60).at_ms})
    idle.refresh_from_db()
    of = sets.request(idle)
    task.prepare(of.pk)
    of.refresh_from_db()
    assert of.status == ShadowSet.FAILED
    assert "no job ran, waited or arrived between" in of.message
    assert not AuditEntry.objects.filter(action__startswith="shadows").exists(), "the twin's own are not recorded"


def test_a_window_of_too_many_jobs_is_halved_or_refused(lab, monkeypatch):
    monkeypatch.setattr("twin.studies.shadows.window.MAX_JOBS", 3)
    short = window_of(lab, 60 * MINUTE)
    assert len(short.made.cut.parts) == 3
    assert "so that it has at most 3 jobs" in " ".join(short.sentences)
    monkeypatch.setattr("twin.studies.shadows.window.MAX_JOBS", 1)
    with pytest.raises(Refused, match=r"3 jobs are open at .*; a set of shadows takes at most 1 jobs"):
        window_of(lab, 60 * MINUTE)


def test_jobs_that_no_scheduler_places_are_named(monkeypatch):
    big = Connection.objects.create(name="big", connector="slurm")
    one = following(big, polled(0))
    one.apply(polled(0, *[job(f"huge{number}", gpus=64) for number in range(2)], job("small")))
    Connection.objects.update(health={"seen_ms": polled(120).at_ms})
    big.refresh_from_db()
    slotted = ("fifo", "easy")
    monkeypatch.setattr("twin.studies.shadows.entrants.schedulers", lambda: {n: scheduler_class(n) for n in slotted})
    of = computed(big)
    assert of.facts["unplaced"] == ["huge0", "huge1"]
    monkeypatch.setattr("twin.studies.shadows.entrants.obstacle", lambda *_: "it is tired")
    of = sets.request(big)
    task.prepare(of.pk)
    of.refresh_from_db()
    assert of.message.startswith("no scheduler can run the window; the reason for ")
    assert of.message.endswith(": it is tired")


def test_one_set_at_a_time_and_a_users_request_comes_first(lab, django_user_model):
    ada = django_user_model.objects.create_user("ada")
    own = sets.request(lab)
    mine = sets.request(lab, user=ada)
    own.refresh_from_db()
    assert own.status == ShadowSet.CANCELLED
    with pytest.raises(Refused, match="are being computed; wait until they are finished, or cancel them"):
        sets.request(lab, user=ada)
    assert task.under_way() == mine
    assert sets.cancel(lab, ada).status == ShadowSet.CANCELLED
    with pytest.raises(Refused, match="no shadows of lab are being computed"):
        sets.cancel(lab, ada)
    assert list(AuditEntry.objects.values_list("action", flat=True).order_by("id")) == [
        "shadows.start", "shadows.cancel",
    ]  # fmt: skip


def test_a_killed_set_goes_on_where_it_stopped(lab):
    of = sets.request(lab)
    assert task._claim(of.pk, "host/1.1")
    assert not task._claim(of.pk, "host/2.1"), "another process has it"
    ShadowSet.objects.update(lease_until=timezone.now())
    assert task._claim(of.pk, "host/2.1")
    assert not task._renew(of.pk, "host/1.1")
    sets.cancel(lab)
    assert not task._renew(of.pk, "host/2.1"), "its process ends"


def test_a_set_from_before_the_clock_was_set_back_goes_on(lab, monkeypatch):
    of = sets.request(lab)
    with monkeypatch.context() as clock:
        clock.setattr("django.utils.timezone.now", lambda: datetime.now(UTC) + timedelta(minutes=5))
        assert task._claim(of.pk, "host/1.1")
        assert not task._claim(of.pk, "host/2.1")
    assert task._claim(of.pk, "host/2.1"), "its lease lasts longer than any"
    assert not task._claim(of.pk, "host/3.1")


def test_the_next_set_is_due_when_time_has_passed_and_something_has_happened(lab, settings):
    settings.SHADOWS_EVERY_S = 600.0
    health = {"seen_ms": polled(2_400).at_ms, "last_look_at": timezone.now().timestamp()}
    Connection.objects.update(health=health)
    lab.refresh_from_db()
    assert sets.due(lab)
    sets.end(sets.request(lab), ShadowSet.FINISHED)
    assert not sets.due(lab)
    ShadowSet.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    assert not sets.due(lab), "nothing has happened since"
    Run.objects.filter(pk=lab.run_id).update(last_seq=10_000)
    lab.refresh_from_db()
    assert sets.due(lab)
    settings.SHADOWS_EVERY_S = 0
    assert not sets.due(lab)
    settings.SHADOWS_EVERY_S = 600.0
    lab.wanted = Connection.PAUSED
    assert not sets.due(lab)


def test_kept_are_the_newest_one_an_hour_and_one_a_day():
    now = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)
    ages = [1, 11, 21, 31, 41, 25 * 60, 26 * 60, 49 * 60, 8 * 24 * 60]  # minutes
    assert retention.keep([now - timedelta(minutes=age) for age in ages], now) == {0, 3, 5, 7}


def test_what_is_not_kept_goes_with_its_runs_and_its_cut(lab, monkeypatch):
    monkeypatch.setattr(readers, "unread", list)
    only(monkeypatch, "fifo", "oasis", "srtf")
    old, new = computed(lab), computed(lab)
    runs = Run.objects.exclude(mode=Run.MIRROR)
    many = runs.count()
    assert Trace.objects.filter(format="cut of a mirrored run").count() == 1, "the same window is stored once"
    ShadowSet.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=8))
    assert retention.thin(lab) == 1
    assert runs.count() * 2 == many
    assert Scenario.objects.filter(unlisted=True).count() == runs.count()
    sets.remove([new])
    assert not runs.exists()
    assert Trace.objects.filter(format="cut of a mirrored run").count() == 0
    assert ClusterSpec.objects.count() == 1, "that of the mirror"


def _events(run):
    return [event for batch in event_log.after(run.pk, 0) for event in batch]


def test_a_set_whose_window_cannot_be_prepared_has_the_reason(lab, monkeypatch, settings):
    def broken(of):
        raise KeyError("gpu05")

    monkeypatch.setattr("twin.studies.shadows.sets.prepare", broken)
    of = sets.request(lab)
    task.prepare(of.pk)
    of.refresh_from_db()
    assert (of.status, of.message) == (ShadowSet.FAILED, "preparing its window failed: KeyError: 'gpu05'")
    settings.SHADOW_LIMIT_S = 120.0
    assert task._why("late") == "it took longer than 120 s (SHADOW_LIMIT_S)"
    assert task._why("killed") == "its process was killed, for example because the machine had no memory left"
