"""Findings about real runs and mirrored clusters become alerts: once, until they were absent for a while."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from tests.twin.alerts.builders import computed, live_run
from tests.twin.mirror.builders import NODES, S, polled, running
from tests.twin.mirror.builders_stored import following
from tests.twin.runtime.queues import messages, work
from twin.alerts import evaluation, evaluation_task, stored_rules
from twin.alerts.base import Finding, build, names
from twin.alerts.evaluation import MAX_FINDINGS, settle
from twin.alerts.rules import server_unavailable
from twin.alerts.seeing import TargetFacts
from twin.alerts.targets import CLUSTER, Target, of_run, watched
from twin.connectors.facts import DOWN
from twin.eventlog import stored_states
from twin.models import Alert, AlertNotice, AlertRule, AlertWork, AuditEntry, Connection, Run, Scenario
from twin.scenarios import store
from twin.studies import demo
from twin.ticker import Ticker

FRESH = {"last_look_at": 4e9}  # of a follower that polled a moment ago, whenever the test runs


@pytest.fixture
def lab(db):
    """A live cluster of two nodes with a running job, and who follows it."""
    connection = Connection.objects.create(name="lab", connector="slurm", health=FRESH)
    one = following(connection, polled(0))
    one.apply(polled(3_600, running("1", 3_590)))
    return one


def lose(lab, second: int) -> None:
    """The second node is down in the next poll."""
    lab.apply(polled(second, running("1", 3_590), nodes=(NODES[0], replace(NODES[1], state=DOWN))))
    Connection.objects.update(health=FRESH)


def test_a_lost_server_is_one_alert_until_it_was_back_for_a_while(lab, at):
    at(0)
    assert Alert.objects.count() == 0
    lose(lab, 3_610)
    at(5)
    alert = Alert.objects.get()
    assert (alert.rule, alert.target, alert.subject, alert.level) == (
        "server_unavailable", "connection lab", NODES[1].name, "serious",
    )  # fmt: skip
    run = Connection.objects.get().run
    assert (alert.run, alert.began_ms, alert.values["server"]) == (run, run.sim_ms, 1)
    at(10)
    lab.apply(polled(3_620, running("1", 3_590)))
    Connection.objects.update(health=FRESH)
    at(15)
    alert.refresh_from_db()
    assert alert.absent_at is not None
    lose(lab, 3_630)
    at(20)
    lab.apply(polled(3_640, running("1", 3_590)))
    Connection.objects.update(health=FRESH)
    for seconds in (25, 54):
        at(seconds)
    assert Alert.objects.get().ended_at is None  # absent since 25 for 29 s
    at(55)
    alert = Alert.objects.get()
    assert (alert.ending, (alert.ended_at - alert.began_at).total_seconds()) == ("cleared", 50)
    entries = AuditEntry.objects.filter(action__startswith="alert.").order_by("id")
    assert list(entries.values_list("action", "user")) == [("alert.open", None), ("alert.end", None)]
    assert AuditEntry.objects.get(action="alert.end").detail["ending"] == "cleared"
    assert AlertNotice.objects.count() == 0  # there is no receiver


def test_the_alert_of_a_server_ends_when_the_cluster_no_longer_has_it(lab, at):
    lose(lab, 3_610)
    at(0)
    assert Alert.objects.get().ended_at is None
    lab.apply(polled(3_620, running("1", 3_590), nodes=NODES[:1]))
    Connection.objects.update(health=FRESH)
    for seconds in (5, 35):
        at(seconds)
    assert Alert.objects.get().ending == "cleared"


def test_an_available_server_that_the_cluster_no_longer_has_is_no_alert(lab, at):
    lab.apply(polled(3_610, running("1", 3_590), nodes=NODES[:1]))
    Connection.objects.update(health=FRESH)
    at(0)
    assert Alert.objects.count() == 0


def test_an_alert_survives_the_border_between_two_runs_of_a_cluster(lab, at):
    lose(lab, 3_610)
    at(0)
    before = Alert.objects.get()
    other = Run.objects.create(scenario=before.run.scenario, mode=Run.MIRROR, status=Run.RUNNING)
    settle(
        Target("connection lab", CLUSTER, other), 5, stored_rules.applying(AlertRule.objects.all(), "connection lab"),
        {"server_unavailable": [Finding("server_unavailable", before.values, before.subject)]},
    )  # fmt: skip
    after = Alert.objects.get()
    assert (after.pk, after.run, after.began_ms) == (before.pk, other, before.began_ms)


def test_old_data_are_an_alert_of_the_cluster_also_before_its_first_run(db, at):
    connection = Connection.objects.create(name="lab", connector="slurm", health={"last_look_at": time.time() - 90})
    Connection.objects.create(name="off", connector="slurm", health={"last_look_at": 5.0}, wanted=Connection.PAUSED)
    at(0)
    alert = Alert.objects.get()
    assert (alert.rule, alert.target, alert.run, alert.began_ms) == ("data_old", "connection lab", None, None)
    Connection.objects.filter(pk=connection.pk).update(wanted=Connection.PAUSED)
    at(1)
    assert Alert.objects.get().ending == "unwatched"


def test_a_live_run_is_watched_and_a_batch_run_only_for_its_progress(make_run, at, heartbeats):
    live, batch = live_run(make_run), make_run()
    assert [(target.name, target.about) for target in watched()] == [
        (f"run {live.pk}", "run"),
        (f"run {batch.pk}", "batch"),
    ]
    at(0)
    assert Alert.objects.count() == 0
    Run.objects.update(created_at="2026-01-01T00:00Z")
    at(5)
    assert sorted(Alert.objects.values_list("rule", "code", "target")) == [
        ("run_stalled", "waiting", f"run {live.pk}"), ("run_stalled", "waiting", f"run {batch.pk}"),
    ]  # fmt: skip
    Run.objects.update(status=Run.FINISHED)
    at(6)
    assert set(Alert.objects.values_list("ending", flat=True)) == {"unwatched"}


def test_alerts_of_the_demo_are_shown_and_neither_recorded_nor_sent(make_run, at, heartbeats, settings):
    settings.ALERT_WEBHOOK_URL = "http://127.0.0.1:9/"
    shown, own = live_run(make_run), live_run(make_run)
    Scenario.objects.filter(pk=shown.scenario_id).update(name=demo.NAME)
    Run.objects.update(created_at="2026-01-01T00:00Z")
    at(0)
    Run.objects.update(status=Run.FINISHED)
    at(5)
    found = dict(Alert.objects.filter(rule="run_stalled").values_list("target", "quiet"))
    assert found == {f"run {shown.pk}": True, f"run {own.pk}": False}
    entries = AuditEntry.objects.filter(action__startswith="alert.")
    assert [(entry.action, entry.detail["target"]) for entry in entries.order_by("id")] == [
        ("alert.open", f"run {own.pk}"), ("alert.end", f"run {own.pk}"),
    ]  # fmt: skip
    assert set(AlertNotice.objects.values_list("alert__target", flat=True)) == {f"run {own.pk}"}


def test_a_computed_run_has_the_findings_of_its_newest_time(db):
    run = computed("oasis", work)
    AlertRule.objects.create(rule="rejections", target=f"run {run.pk}", parameters={"jobs": 1})
    target = of_run(run)
    found = evaluation.findings_now(TargetFacts(target), target)
    recent = TargetFacts(target).situation.shown["rejected"]["recent"]
    assert recent > 0
    assert [(rule.rule, one.values["jobs"]) for rule, one in found if rule.rule == "rejections"] == [
        ("rejections", recent)
    ]
    assert Alert.objects.count() == 0


def test_prices_are_those_of_the_present_slot_and_only_of_schedulers_that_set_them(db):
    run = computed("oasis", work)
    state = stored_states.at(run.pk)
    row = state.prices.get(run.sim_ms // store.of_run(run)[0].slot_ms, state.default_prices)
    means = [price for price in row[1] if price is not None]
    prices = TargetFacts(of_run(run)).situation.facts.prices
    assert means
    assert [price for site in ("edge", "cloud") for price in prices[site].values()] == means
    assert TargetFacts(of_run(computed("fifo", work))).situation.facts.prices is None


def test_a_rule_that_fails_is_named_and_stops_no_other(lab, at, monkeypatch):
    lose(lab, 3_610)
    at(0)

    def broken(*_):
        raise ZeroDivisionError("of this test")

    AlertRule.objects.filter(rule="data_old").update(parameters={"seconds": "many"})  # of another version
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_unavailable.ServerUnavailable, "check", broken)
        Connection.objects.update(drift={"run": Connection.objects.get().run_id, "checked_at": 1.0, "count": 2,
                                         "compared": 5, "differences": [], "error": ""})  # fmt: skip
        at(100)
    assert AlertRule.objects.get(rule="server_unavailable").error == ("connection lab: ZeroDivisionError: of this test")
    assert "parameter seconds must be a number" in AlertRule.objects.get(rule="data_old").error
    assert sorted(Alert.objects.filter(ended_at=None).values_list("rule", flat=True)) == ["drift", "server_unavailable"]
    at(101)
    assert AlertRule.objects.get(rule="server_unavailable").error == ""


def test_a_rule_of_a_target_replaces_that_for_everything(lab, at):
    lose(lab, 3_610)
    stored_rules.ensure_defaults()
    own = stored_rules.create({"rule": "server_unavailable", "target": "connection lab", "enabled": False})
    at(0)
    assert Alert.objects.count() == 0
    stored_rules.change(own, {"enabled": True, "level": "notable"})
    at(5)
    assert Alert.objects.get().level == "notable"
    stored_rules.change(own, {"enabled": False})
    at(6)
    assert Alert.objects.get().ending == "off"
    stored_rules.remove(own)
    at(7)
    assert Alert.objects.filter(ended_at=None).get().level == "serious"


def test_a_hundred_lost_servers_are_fifty_alerts_and_a_number(lab, at):
    stored_rules.ensure_defaults()
    rules = stored_rules.applying(AlertRule.objects.all(), "connection lab")
    target = watched()[0]

    def findings(numbers) -> dict:
        values = {"server": 0, "site": "edge", "since_ms": 0}
        return {
            "server_unavailable": [Finding("server_unavailable", values | {"name": f"n{i}"}, f"n{i}") for i in numbers]
        }

    settle(target, 0, rules, findings(range(60, 100)))
    settle(target, 0, rules, findings(range(100)))
    kept = set(Alert.objects.filter(ended_at=None).values_list("subject", flat=True))
    assert len(kept) == MAX_FINDINGS + 1
    assert {f"n{i}" for i in range(60, 100)} < kept  # those that were open stay
    assert Alert.objects.get(code="more").values == {"findings": 50}


def test_the_database_allows_one_open_alert_of_a_subject_whoever_writes(lab):
    lose(lab, 3_610)
    evaluation.evaluate()
    alert = Alert.objects.get()
    fields = {name: getattr(alert, name) for name in ("rule", "target", "subject", "level", "code", "began_at")}
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(**fields)
    Alert.objects.create(**fields, ended_at=alert.began_at)  # of earlier ones there may be any number
    evaluation.evaluate()
    assert Alert.objects.filter(ended_at=None).count() == 1


def test_targets_that_its_time_did_not_reach_are_first_in_the_next_evaluation(make_run, monkeypatch):
    runs = [live_run(make_run) for _ in range(3)]
    looked = []
    monkeypatch.setattr(evaluation, "check", lambda facts, target, rules, errors: looked.append(target.name) or {})
    ordered = sorted(f"run {run.pk}" for run in runs)
    for left in (2, 2, 2, 2):
        assert evaluation.evaluate(budget_s=-1) == (3, left)
    assert looked == [ordered[0], ordered[1], ordered[2], ordered[0]]
    assert AlertWork.objects.get().left == 2


@pytest.mark.parametrize("gone_s", [-1, 3_600], ids=["ran out", "from before the clock was set back"])
def test_one_worker_evaluates_at_a_time_and_one_that_died_is_replaced(db, monkeypatch, gone_s):
    turns = []
    monkeypatch.setattr(evaluation, "evaluate", lambda: turns.append(1))
    evaluation_task.work()
    AlertWork.objects.update(evaluating_until=time.time() + 5)
    evaluation_task.work()
    assert len(turns) == 1
    AlertWork.objects.update(evaluating_until=time.time() + gone_s)
    evaluation_task.work()
    assert (len(turns), AlertWork.objects.get().evaluating_until) == (2, 0)


def test_the_ticker_requests_an_evaluation_every_few_seconds(db, heartbeats):
    ticker = Ticker()
    ticker.tick()
    ticker.checked_at = float("-inf")
    ticker.tick()
    assert messages("io") == [("twin.tasks.evaluate_alerts", 0)]
    assert work("io") == 0
    ticker.alerts.when = ticker.checked_at = float("-inf")
    ticker.tick()
    assert work("io") == 1
    assert AlertWork.objects.get().evaluated_at is not None
    assert set(AlertRule.objects.values_list("rule", flat=True)) == set(names())


def test_a_quiet_evaluation_writes_only_that_it_was(lab, at, django_assert_max_num_queries):
    lose(lab, 3_610)
    at(0)
    with django_assert_max_num_queries(40) as queries:
        at(5)
    writes = [one["sql"].split()[1] for one in queries if one["sql"].startswith(("UPDATE", "INSERT", "DELETE"))]
    assert writes == ['"twin_alertwork"']


def test_a_situation_is_read_once_for_all_rules_also_one_that_cannot_be_read(lab, at, monkeypatch):
    read = []

    def fail(run):
        read.append(run.pk)
        raise ValueError("event 3 has the unknown kind 'x'")

    monkeypatch.setattr("twin.analysis.situation.situation", fail)
    evaluation.evaluate()
    assert len(read) == 1
    failed = AlertRule.objects.exclude(error="").values_list("rule", flat=True)
    assert set(failed) == {"queue_grows", "rejections", "server_unavailable", "suspended_long", "waiting_long"}
    monkeypatch.undo()
    before = TargetFacts(watched()[0])
    assert before.situation is before.situation


def test_parameters_of_a_version_without_one_of_them_are_its_defaults(db):
    rule = AlertRule(rule="queue_grows", parameters={"waiting": 7})
    assert build(rule.rule, rule.parameters).parameters.factor == 2.0


def test_ended_alerts_are_deleted_after_a_while(db, at):
    old = {"rule": "drift", "target": "run 1", "level": "serious", "code": "drift", "began_at": "2026-01-01T00:00Z"}
    for ended_at in ("2026-08-24T00:00Z", "2026-08-26T00:00Z"):
        Alert.objects.create(**old, ended_at=ended_at, subject=ended_at)
    at(0)
    assert Alert.objects.get().subject.startswith("2026-08-26")


def test_the_time_of_a_cluster_is_that_of_its_newest_poll(lab):
    before = TargetFacts(watched()[0]).now_ms
    seen_ms = round(watched()[0].run.clock_wall.timestamp() * 1000) + before
    Connection.objects.update(health={**FRESH, "seen_ms": seen_ms + 60 * S})
    assert TargetFacts(watched()[0]).now_ms == before + 60 * S
