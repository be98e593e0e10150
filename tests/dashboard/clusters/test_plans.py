"""Plans by the API: what operators ask for, see, approve and undo, and every refusal in a sentence."""

from __future__ import annotations

import time

import pytest
from django.utils import timezone

from tests.dashboard.builders import post
from tests.twin.acting.builders import MemoryCluster, actor
from tests.twin.builders import played_out
from tests.twin.mirror.builders import EPOCH, S
from tests.twin.mirror.whatif.builders_forty import mirrored_run
from twin.acting import planning_task, rules
from twin.actuators.facts import WaitingJob
from twin.models import AuditEntry, Connection, Forecasting, Proposal, Run

pytestmark = pytest.mark.django_db(transaction=True)
ACTING, PLANS = "/api/live/lab/acting/", "/api/live/lab/proposals/"


@pytest.fixture
def operator(approver):
    """Who may also approve."""
    return approver


@pytest.fixture
def cluster(monkeypatch) -> MemoryCluster:
    """The cluster of forty minutes, in which 3 and 4 wait, as its queue shows them."""
    found = MemoryCluster(
        WaitingJob("3", EPOCH, 200, user="ann", queue="edge"),
        WaitingJob("4", EPOCH + 1_800 * S, 100, user="ben", queue="edge"),
    )
    monkeypatch.setattr(planning_task, "reader", lambda connection: found)
    return found


@pytest.fixture
def lab(cluster) -> Connection:
    mirrored_run()
    connection = Connection.objects.get(name="lab")
    connection.health = {"last_look_at": time.time() + 1_000}
    connection.save()
    rules.change(connection, {"calibrated": False})
    AuditEntry.objects.all().delete()
    return connection


def patch(client, values):
    return client.patch(ACTING, values, content_type="application/json")


def planned(operator, **body) -> dict:
    """A plan, made as the ticker and a worker make it."""
    made = post(operator, PLANS, body)
    assert made.status_code == 201, made.content
    assert made.json()["status"] == "computing"
    played_out(Run.objects.get(pk=made.json()["run"]))
    planning_task.make(made.json()["id"])
    return operator.get(f"/api/proposals/{made.json()['id']}/").json()


def test_a_cluster_that_can_have_no_plans_keeps_level_0(operator, lab):
    Connection.objects.update(connector="push")
    refused = patch(operator, {"level": 1})
    assert refused.status_code == 400
    assert refused.json()["level"][0].startswith(
        "level must be 0, got 1: plans are not available for the connector Push;"
    )
    assert operator.get(ACTING).json()["level"] == 0
    assert patch(operator, {"level": 0}).status_code == 200


def test_plans_are_off_until_an_operator_allows_them(operator, viewer, lab):
    rule = viewer.get(ACTING).json()
    assert (rule["level"], rule["stopped"]) == (0, "")
    assert (
        rule["possible"] == "plans are off for lab; an approver can set its permission level to 1 (propose) or higher"
    )
    refused = post(operator, PLANS, {})
    assert (refused.status_code, refused.json()["detail"]) == (400, rule["possible"])
    assert patch(viewer, {"level": 3}).status_code == 403
    assert patch(operator, {"level": 1}).json()["possible"] == ""
    assert [entry.action for entry in AuditEntry.objects.all()] == ["acting.change"]


def test_a_placement_without_changes_says_so(operator, lab, cluster):
    patch(operator, {"level": 3})
    cluster.jobs.clear()  # all have started
    plan = planned(operator, scheduler="srtf", kind="placement")
    message = "No waiting job needs a begin time or nodes; there is nothing to change."
    assert (plan["status"], plan["message"], plan["waiting"]) == ("ended", message, 0)


def test_a_plan_is_a_diff_with_commands_that_is_approved_as_it_was_shown(operator, lab, cluster):
    patch(operator, {"level": 2})
    plan = planned(operator, scheduler="srtf", kind="order")  # 3 takes 5 minutes, 4 takes 10
    assert operator.get(f"/api/runs/{plan['run']}/").json()["scenario_name"] == "lab, plan by SRTF"
    assert (plan["status"], plan["message"], plan["waiting"]) == (
        "ended", "The jobs already wait in this order; there is nothing to change.", 2,
    )  # fmt: skip
    cluster.jobs["3"], cluster.jobs["4"] = (
        WaitingJob("3", EPOCH, 100, user="ann", queue="edge"),
        WaitingJob("4", EPOCH + 1_800 * S, 200, user="ben", queue="edge"),
    )
    Forecasting.objects.create(connection=lab, estimates={"3": EPOCH + 9_000 * S})
    plan = planned(operator, scheduler="srtf", kind="order")
    assert [row["estimate_ms"] for row in plan["rows"]] == [EPOCH + 9_000 * S, None]
    assert (plan["status"], plan["left_out"], plan["refused"]) == (
        "proposed", [], "no acting process serves lab; start it with manage.py act lab",
    )  # fmt: skip
    assert [(row["key"], row["user"], row["command"], row["inverse"], row["state"]) for row in plan["rows"]] == [
        ("3", "ann", "set 3 nice=-100", "set 3 nice=0", ""),
        ("4", "ben", "set 4 nice=100", "set 4 nice=0", ""),
    ]
    address = f"/api/proposals/{plan['id']}/"
    refused = post(operator, f"{address}approve/", {"digest": plan["digest"]})
    assert refused.json()["detail"] == plan["refused"]
    process = actor(lab, cluster)
    process.step()
    assert operator.get(ACTING).json()["actor"]["account"] == "tester"
    wrong = post(operator, f"{address}approve/", {"digest": "x"})
    why = f"plan {plan['id']} is not the one that was shown; reload the page and check it again"
    assert wrong.json()["detail"] == why
    assert post(operator, f"{address}approve/", {"digest": plan["digest"]}).json()["status"] == "approved"
    process.step()
    applied = operator.get(address).json()
    assert (applied["status"], [row["state"] for row in applied["rows"]]) == ("applied", ["verified", "verified"])
    assert post(operator, f"{address}undo/", {}).json()["undo_wanted"] is True
    process.step()
    undone = operator.get(address).json()
    assert (undone["status"], undone["message"]) == ("undone", "Undo: an operator requested it.")
    assert [job.nice for job in cluster.jobs.values()] == [0, 0]
    assert [entry.action for entry in AuditEntry.objects.filter(action__startswith="plan.").order_by("id")] == [
        "plan.propose", "plan.propose", "plan.approve", "plan.applied", "plan.undo", "plan.undone",
    ]  # fmt: skip


def test_each_level_allows_its_kind(operator, lab, cluster):
    patch(operator, {"level": 2})
    plan = planned(operator, scheduler="fifo", kind="placement")
    actor(lab, cluster).step()
    refused = operator.get(f"/api/proposals/{plan['id']}/").json()["refused"]
    assert refused == "the permission level of lab is 2 (order); a plan of the kind placement needs 3 (place)"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"stopped": True}, "all plans are stopped; an approver can allow them again"),
        ({"max_jobs": 1}, "the plan changes 2 jobs, more than the limit of 1; make a new plan"),
    ],
)
def test_a_rule_that_changes_refuses_the_plan(operator, lab, cluster, change, why):
    patch(operator, {"level": 2})
    cluster.jobs = dict(reversed(cluster.jobs.items()))
    cluster.jobs["3"] = WaitingJob("3", EPOCH, 50)
    plan = planned(operator, scheduler="srtf")
    actor(lab, cluster).step()
    assert patch(operator, change).status_code == 200
    assert operator.get(f"/api/proposals/{plan['id']}/").json()["refused"] == why


def test_old_plans_and_old_data_are_refused(operator, lab, cluster):
    patch(operator, {"level": 2})
    cluster.jobs["3"] = WaitingJob("3", EPOCH, 50)
    plan = planned(operator, scheduler="srtf")
    actor(lab, cluster).step()
    Proposal.objects.update(planned_at=timezone.now() - timezone.timedelta(seconds=400))
    refused = operator.get(f"/api/proposals/{plan['id']}/").json()["refused"]
    assert refused == "the plan is 400 s old, more than the limit of 300 s; make a new plan"
    Connection.objects.update(health={"last_look_at": time.time() - 60})
    refused = operator.get(f"/api/proposals/{plan['id']}/").json()["refused"]
    assert refused == "lab is stale (newest data 60 s old); a plan needs fresh data"
    Connection.objects.update(health={"last_look_at": time.time() - 60, "failing_since": time.time() - 50})
    refused = operator.get(f"/api/proposals/{plan['id']}/").json()["refused"]
    assert refused == "lab is not answering (newest data 60 s old); a plan needs fresh data"


@pytest.mark.parametrize(
    ("errors", "found"),
    [
        ({}, "learning: 0 of 100 forecasts with a band are scored"),
        (
            {"calibration": "off", "coverage": {"count": 240, "share": 0.553}},
            "not calibrated: 55 % of 240 starts were inside their 80 % band",
        ),
    ],
)
def test_forecasts_that_are_not_calibrated_refuse_the_plan_with_their_coverage(operator, lab, cluster, errors, found):
    patch(operator, {"level": 2, "calibrated": True})
    cluster.jobs["3"] = WaitingJob("3", EPOCH, 50)
    plan = planned(operator, scheduler="srtf")
    actor(lab, cluster).step()
    Forecasting.objects.create(connection=lab, figures=errors)
    assert operator.get(f"/api/proposals/{plan['id']}/").json()["refused"] == (
        f"the forecasts of lab are {found}; a plan needs calibrated forecasts, unless an approver drops this condition"
    )


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"level": 7}, "level", "level must be one of 0 (observe), 1 (propose), 2 (order), 3 (place), got 7"),
        ({"max_jobs": 0}, "max_jobs", "max_jobs must be 1 to 1,000, got 0"),
        (
            {"queue": ["edge"]},
            "queue",
            "unknown field of the body 'queue'; did you mean 'queues'? "
            "known: level, queues, accounts, max_jobs, calibrated, stopped.",
        ),
    ],
)
def test_wrong_values_are_refused_at_their_field(operator, lab, values, field, said):
    answer = patch(operator, values)
    assert (answer.status_code, answer.json()[field]) == (400, [said])


def test_clusters_without_an_actuator_have_no_plans(operator, lab):
    Connection.objects.update(connector="kubernetes")
    patch(operator, {"level": 1})
    assert post(operator, PLANS, {}).json()["detail"] == (
        "plans are not available for the connector Kubernetes; available for: Slurm"
    )


def test_a_run_that_fails_or_goes_gives_no_plan(operator, lab, cluster):
    patch(operator, {"level": 1})
    made = post(operator, PLANS, {"scheduler": "fifo"}).json()
    Run.objects.filter(pk=made["run"]).update(status=Run.CANCELLED)
    assert planning_task.Requests().refresh() == [made["id"]]
    planning_task.make(made["id"])
    plan = operator.get(f"/api/proposals/{made['id']}/").json()
    assert (plan["status"], plan["message"]) == ("failed", f"No plan: run {made['run']} is cancelled.")
    assert post(operator, f"/api/proposals/{made['id']}/discard/", {}).json()["detail"] == (
        f"plan {made['id']} is failed; only a plan that is not approved can be discarded"
    )


def test_a_scheduler_that_does_not_exist_is_refused(operator, lab):
    patch(operator, {"level": 1})
    refused = post(operator, PLANS, {"scheduler": "fastest"})
    assert refused.status_code == 400
    assert "fastest" in refused.json()["detail"]


def test_a_connection_with_a_plan_that_is_carried_out_is_not_removed(operator, lab, cluster):
    patch(operator, {"level": 2})
    cluster.jobs["3"] = WaitingJob("3", EPOCH, 50)
    plan = planned(operator, scheduler="srtf")
    process = actor(lab, cluster)
    process.step()
    post(operator, f"/api/proposals/{plan['id']}/approve/", {"digest": plan["digest"]})
    process.step()
    refused = operator.delete("/api/connections/lab/")
    assert (refused.status_code, refused.json()["detail"]) == (
        400, f"plan {plan['id']} is applied on lab; undo it before you remove the connection",
    )  # fmt: skip


def test_a_cluster_that_can_have_no_plans_says_so_instead_of_showing_forms(operator, lab):
    page = operator.get("/live/lab/plans/").content.decode()
    assert 'id="rule"' in page
    assert "No plans for this cluster" not in page
    Connection.objects.update(connector="push")
    page = operator.get("/live/lab/plans/").content.decode()
    assert "Plans are not available for the connector Push; available for: " in page
    assert 'id="rule"' not in page
    assert 'id="new"' not in page
    Proposal.objects.create(connection=Connection.objects.get())
    page = operator.get("/live/lab/plans/").content.decode()
    assert 'id="list"' in page, "a plan that was made before is still shown"
