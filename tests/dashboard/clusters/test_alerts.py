"""Alerts and their rules over the API, and what pages show of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone

from dashboard.pages import health
from tests.dashboard.builders import post
from tests.twin.mirror.builders import NODES, polled, running
from tests.twin.mirror.builders_stored import following
from twin.alerts import evaluation, stored_rules
from twin.alerts.base import names
from twin.alerts.base import sentence as words
from twin.connectors.facts import DOWN
from twin.models import Alert, AlertRule, AuditEntry, Connection, Run, Team

JSON = "application/json"


@pytest.fixture
def lab(db):
    """A live cluster of which a server is down."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    one.apply(polled(3_600, running("1", 3_590)))
    one.apply(polled(3_610, running("1", 3_590), nodes=(NODES[0], replace(NODES[1], state=DOWN))))
    Connection.objects.update(health={"last_look_at": 4e9})
    evaluation.evaluate()
    return Connection.objects.get()


def rule(name: str) -> AlertRule:
    stored_rules.ensure_defaults()
    return AlertRule.objects.get(rule=name, target="")


def changed(client, name: str, body: dict):
    return client.patch(f"/api/alert-rules/{rule(name).pk}/", body, content_type=JSON)


def test_an_open_alert_says_what_where_since_when_and_leads_there(lab, viewer):
    found = viewer.get("/api/alerts/?state=open").json()
    assert found["count"] == 1
    row = found["results"][0]
    assert row["sentence"] == words("server_unavailable", row["code"], row["values"])
    assert NODES[1].name in row["sentence"]
    assert (row["title"], row["level"], row["target"]) == ("Unavailable server", "serious", "connection lab")
    assert (row["subject"], row["address"]) == (NODES[1].name, f"/runs/{lab.run_id}/servers/1/")
    assert (row["ended_at"], row["acknowledged_by"]) == (None, None)
    assert viewer.get("/api/alerts/?state=ended").json()["count"] == 0
    assert viewer.get("/api/alerts/?target=connection+lab&rule=drift").json()["count"] == 0
    assert viewer.get(f"/api/alerts/{row['id']}/").json() == row


def test_an_acknowledged_alert_stays_open_and_is_not_counted(lab, operator, viewer):
    status = viewer.get("/api/alerts/status/").json()
    assert (status["open"], status["watched"], status["left"]) == ({"serious": 1, "notable": 0}, 1, 0)
    assert status["webhook"]["receiver"] is None
    alert = Alert.objects.get()
    row = operator.post(f"/api/alerts/{alert.pk}/acknowledge/").json()
    assert (row["acknowledged_by"], row["ended_at"]) == ("olga", None)
    again = operator.post(f"/api/alerts/{alert.pk}/acknowledge/").json()
    assert again["acknowledged_at"] == row["acknowledged_at"]
    assert AuditEntry.objects.filter(action="alert.acknowledge").count() == 1
    assert viewer.get("/api/alerts/status/").json()["open"] == {"serious": 0, "notable": 0}
    evaluation.evaluate()
    assert Alert.objects.get().acknowledged_at is not None
    Alert.objects.update(ended_at=timezone.now(), acknowledged_at=None)
    refused = operator.post(f"/api/alerts/{alert.pk}/acknowledge/")
    assert (refused.status_code, refused.json()["detail"]) == (
        400, f"alert {alert.pk} has ended; only open alerts can be acknowledged",
    )  # fmt: skip


def test_there_is_a_rule_of_each_name_after_the_migration(viewer):
    found = viewer.get("/api/alert-rules/?size=100").json()["results"]
    kinds = {one["rule"]: one for one in viewer.get("/api/alert-rules/kinds/").json()}
    assert [row["rule"] for row in found] == sorted(names()) == sorted(kinds)
    for row in found:
        kind = kinds[row["rule"]]
        assert (row["target"], row["enabled"], row["error"], row["level"]) == ("", True, "", kind["level"])
        assert row["parameters"] == {one["name"]: one["default"] for one in kind["parameters"]}


def test_thresholds_level_and_switch_of_a_rule_can_be_changed(operator):
    row = changed(operator, "data_old", {"parameters": {"seconds": "120"}, "level": "notable"}).json()
    assert (row["parameters"], row["level"], row["clear_s"]) == ({"seconds": 120.0}, "notable", 30)
    row = changed(operator, "data_old", {"enabled": False, "clear_s": 0}).json()
    assert (row["parameters"], row["enabled"], row["clear_s"]) == ({"seconds": 120.0}, False, 0)
    entries = AuditEntry.objects.filter(action="alert_rule.change").order_by("id")
    assert [entry.detail for entry in entries] == [
        {"name": "data_old", "target": "everything", "seconds": 120.0, "level": "notable"},
        {"name": "data_old", "target": "everything", "enabled": False, "clear_s": 0},
    ]
    changed(operator, "data_old", {"enabled": False})
    assert entries.count() == 2  # nothing was changed


@pytest.mark.parametrize(
    ("name", "body", "field", "sentence"),
    [
        ("data_old", {"parameters": {"seconds": 1}}, "parameters.seconds",
         "parameter seconds must be at least 5 s, got 1.0"),
        ("data_old", {"parameters": {"seconds": "old"}}, "parameters.seconds",
         "alert rule data_old: parameter seconds must be a number, got 'old'"),
        ("data_old", {"parameters": {"second": 9}}, "parameters.second",
         "alert rule data_old: unknown parameter 'second'; known: seconds"),
        ("forecast_off", {"parameters": {"low_percent": 90}}, "parameters.low_percent",
         "parameter low_percent must be at most high_percent (85), got 90"),
        ("drift", {"level": "urgent"}, "level", "level must be one of serious, notable, got 'urgent'"),
        ("drift", {"clear_s": -1}, "clear_s", "clear_s must be 0 to 86,400 s, got -1"),
        ("drift", {"clears": 1}, "clears", "unknown field of the body 'clears'; did you mean 'clear_s'?"),
        ("drift", {"target": "run 1"}, "target", "unknown field of the body 'target'"),
        ("drift", {"parameters": [1]}, "parameters", "must be a JSON object."),
    ],
)  # fmt: skip
def test_a_wrong_change_is_refused_with_the_field_the_rule_and_the_value(operator, name, body, field, sentence):
    answer = changed(operator, name, body)
    assert answer.status_code == 400
    assert sentence in answer.json()["detail"]
    assert answer.json()[field][0].removeprefix("This field ").startswith(sentence)
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"rule": "drif", "target": "connection lab"}, "rule",
         "unknown alert rule 'drif'; did you mean 'drift'? known: data_old, drift, "),
        ({"rule": "drift", "target": "lab"}, "target",
         "target must be an existing `connection NAME` or `run NUMBER`, got 'lab'"),
        ({"rule": "drift", "target": "run 99999"}, "target", "target must be an existing"),
        ({"rule": "drift", "target": "run {batch}"}, "target",
         "the rule drift applies to a live cluster; run {batch} is a batch run"),
        ({"rule": "run_stalled", "target": "connection lab"}, "target",
         "the rule run_stalled applies to a live run or a batch run; connection lab is a live cluster"),
        ({"rule": "drift", "target": "run {mirror}"}, "target",
         "run {mirror} mirrors a live cluster; name its connection: connection NAME"),
        ({"rule": "drift"}, "target", "This field is required."),
    ],
)  # fmt: skip
def test_a_rule_of_a_wrong_target_is_refused(lab, operator, finished_run, body, field, sentence):
    numbers = {"batch": finished_run.pk, "mirror": lab.run_id}
    answer = post(operator, "/api/alert-rules/", {name: value.format(**numbers) for name, value in body.items()})
    assert answer.status_code == 400
    assert answer.json()[field][0].startswith(sentence.format(**numbers))


def test_a_rule_of_a_target_is_added_once_and_removed(lab, operator):
    body = {"rule": "server_unavailable", "target": "connection lab", "parameters": {"away_s": 60}}
    made = post(operator, "/api/alert-rules/", body)
    assert (made.status_code, made.json()["created_by"], made.json()["level"]) == (201, "olga", "serious")
    twice = post(operator, "/api/alert-rules/", body)
    assert twice.json()["target"] == ["connection lab already has a rule server_unavailable; change that one"]
    assert operator.delete(f"/api/alert-rules/{made.json()['id']}/").status_code == 204
    refused = operator.delete(f"/api/alert-rules/{rule('drift').pk}/")
    assert (refused.status_code, refused.json()["detail"]) == (
        400, "the rule drift applies to all targets and cannot be removed; switch it off instead",
    )  # fmt: skip


def test_a_rule_of_another_version_is_listed_with_its_name(viewer):
    AlertRule.objects.create(rule="of_later", parameters={"x": 1}, error="unknown")
    row = next(r for r in viewer.get("/api/alert-rules/?size=100").json()["results"] if r["rule"] == "of_later")
    assert (row["title"], row["parameters"]) == ("of_later", {"x": 1})


def test_the_attention_of_a_watched_cluster_is_its_open_alerts(lab, viewer):
    found = viewer.get(f"/api/runs/{lab.run_id}/situation/").json()["attention"]
    alert = Alert.objects.get()
    assert [(row["alert"], row["level"], row["rule"], row["acknowledged"]) for row in found] == [
        (alert.pk, "serious", "server_unavailable", False)
    ]
    Alert.objects.update(ended_at=timezone.now())
    assert viewer.get(f"/api/runs/{lab.run_id}/situation/").json()["attention"] == []


def test_the_open_alerts_of_other_clusters_are_shown_with_every_run(lab, finished_run, viewer):
    now = timezone.now()
    team = Team.objects.create(name="red")
    for name, more in (("away", {}), ("seen", {"acknowledged_at": now}), ("red", {"team": team})):
        target = {"rule": "data_old", "target": f"connection {name}", "level": "serious"}
        Alert.objects.create(**target, code="no_data", values={"message": "no answer"}, began_at=now, **more)
    Alert.objects.create(rule="queue_grows", target="run 77", level="notable", code="grows", began_at=now)

    def found(run):
        rows = viewer.get(f"/api/runs/{run}/situation/").json()["elsewhere"]
        return [(row["cluster"], row["rule"], row["address"]) for row in rows]

    away = ("away", "data_old", "/live/away/")
    assert found(lab.run_id) == [away], "not its own, nor what was acknowledged, or is of another team"
    assert ("lab", "server_unavailable") in [one[:2] for one in found(finished_run.pk)]
    Alert.objects.filter(target="connection away").update(ended_at=now)
    assert found(lab.run_id) == []


def test_the_attention_of_an_ended_run_is_what_the_same_rules_find(finished_run, viewer):
    address = f"/api/runs/{finished_run.pk}/situation/"
    rejected = viewer.get(address).json()["rejected"]["recent"]
    rule("rejections")
    AlertRule.objects.filter(rule="rejections").update(parameters={"jobs": max(1, rejected)})
    found = viewer.get(address).json()["attention"]
    assert [(row["alert"], row["began_at"], row["rule"]) for row in found] == (
        [(None, None, "rejections")] if rejected else []
    )
    AlertRule.objects.filter(rule="rejections").update(parameters={"jobs": rejected + 1})
    assert viewer.get(address).json()["attention"] == []
    assert not Alert.objects.exists()


def test_a_run_that_has_just_ended_states_a_finding_once(finished_run, viewer):
    """Its alert is open until the next evaluation, and the same rule finds it at the newest time, with other values."""
    rejected = viewer.get(f"/api/runs/{finished_run.pk}/situation/").json()["rejected"]["recent"]
    rule("rejections")
    AlertRule.objects.filter(rule="rejections").update(parameters={"jobs": 1})
    assert rejected
    values = {"jobs": rejected + 4, "reasons": [], "window_ms": 86_400_000}
    alert = Alert.objects.create(
        rule="rejections", target=f"run {finished_run.pk}", level="notable", code="rejections", values=values,
        began_at=timezone.now(),
    )  # fmt: skip
    found = viewer.get(f"/api/runs/{finished_run.pk}/situation/").json()["attention"]
    assert [(row["alert"], row["rule"]) for row in found] == [(alert.pk, "rejections")]


def test_an_open_alert_has_the_values_of_now_or_says_that_it_is_no_longer_found(finished_run, viewer):
    address = f"/api/runs/{finished_run.pk}/situation/"
    rejected = viewer.get(address).json()["rejected"]["recent"]
    rule("rejections")
    values = {"jobs": rejected + 4, "reasons": [], "window_ms": 86_400_000}
    Alert.objects.create(
        rule="rejections", target=f"run {finished_run.pk}", level="notable", code="rejections", values=values,
        began_at=timezone.now(),
    )  # fmt: skip

    def shown(least: int) -> tuple[str, bool]:
        AlertRule.objects.filter(rule="rejections").update(parameters={"jobs": least})
        (row,) = viewer.get(address).json()["attention"]
        return row["sentence"].split(":")[0].split(" in ")[0], row["found"]

    assert shown(1) == (f"{rejected} jobs rejected", True)
    assert shown(rejected + 1) == (f"{rejected + 4} jobs rejected", False)
    AlertRule.objects.filter(rule="rejections").update(enabled=False)
    assert [row["found"] for row in viewer.get(address).json()["attention"]] == [True]  # not checked: as it was stored


def test_a_batch_run_in_progress_has_its_stored_alerts_and_present_findings(finished_run, viewer):
    Run.objects.filter(pk=finished_run.pk).update(status=Run.RUNNING)
    Alert.objects.create(
        rule="run_stalled", target=f"run {finished_run.pk}", level="serious", code="held", began_at=timezone.now()
    )
    found = viewer.get(f"/api/runs/{finished_run.pk}/situation/").json()["attention"]
    assert [row["rule"] for row in found].count("run_stalled") == 1
    assert found[0]["sentence"] == words("run_stalled", "held", {})


def test_the_header_has_the_number_of_open_alerts_and_the_public_health_has_not(lab, viewer, client, monkeypatch):
    monkeypatch.setattr(health, "_latest", (float("-inf"), {}))
    assert viewer.get("/healthz/shared").json()["alerts"] == {"serious": 1, "notable": 0}
    assert "alerts" not in client.get("/healthz").json()
