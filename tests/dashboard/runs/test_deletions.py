"""What is deleted says so to who looks at it, and what it was to who follows an old link: from the audit list."""

import re

import pytest
from channels.db import database_sync_to_async
from django.db import transaction

from tests.dashboard.builders import listening, receive, socket
from tests.dashboard.peer import Peer
from tests.twin.mirror.whatif.builders_forty import mirrored_run
from tests.twin.runtime.queues import work
from twin.acting import proposals
from twin.config.asgi import application
from twin.infra import pubsub
from twin.mirror.connecting import connections
from twin.models import AuditEntry, Connection, Proposal, Run, Scenario, Team
from twin.runs import commands, runner
from twin.runs import deleted as gone
from twin.studies import sweeps

pytestmark = pytest.mark.django_db(transaction=True)
H = 3_600_000
WHEN = r" was deleted by olga on \d{4}-\d\d-\d\d at \d\d:\d\d UTC\."
WAS = r"Run %d \(OASiS, “test”\)" + WHEN


def deleted(operator, run: Run) -> int:
    number = run.pk
    assert operator.delete(f"/api/runs/{number}/").status_code == 204
    return number


@pytest.mark.parametrize("noun", ["scenario", "trace"])
def test_an_address_of_a_deleted_scenario_or_trace_says_who_deleted_it(operator, finished_run, noun):
    scenario = finished_run.scenario
    number = getattr(scenario, "trace_id" if noun == "trace" else "pk")
    AuditEntry.objects.create(action=f"{noun}.create", subject=f"{noun} {number}", detail={"name": "test"})
    deleted(operator, finished_run)
    assert operator.delete(f"/api/scenarios/{scenario.pk}/").status_code == 204
    if noun == "trace":
        assert operator.delete(f"/api/traces/{number}/").status_code == 204
    said = operator.get(f"/api/{noun}s/{number}/").json()["detail"]
    assert re.match(rf"{noun.capitalize()} {number} .*was deleted by olga on \d{{4}}-", said), said


def test_a_run_of_a_deleted_scenario_is_refused_with_who_deleted_it(operator, finished_run):
    number = finished_run.scenario.pk
    AuditEntry.objects.create(action="scenario.create", subject=f"scenario {number}", detail={"name": "test"})
    deleted(operator, finished_run)
    assert operator.delete(f"/api/scenarios/{number}/").status_code == 204
    refused = operator.post("/api/runs/", {"scenario": number}, content_type="application/json")
    assert refused.status_code == 400
    assert re.match(rf"Scenario {number} \(“test”\) was deleted by olga on \d{{4}}-", refused.json()["detail"])


def test_a_run_that_was_moved_to_another_team_was_not_deleted(viewer, operator, finished_run):
    AuditEntry.objects.create(action="run.start", subject=f"run {finished_run.pk}", detail={"name": "test"})
    Scenario.objects.update(team=Team.objects.create(name="red"))
    answer = viewer.get(f"/api/runs/{finished_run.pk}/")
    assert (answer.status_code, answer.json()["detail"]) == (404, f"Run {finished_run.pk} does not exist.")


async def overview(client) -> Peer:
    headers = [
        (b"origin", b"http://localhost"),
        (b"host", b"localhost"),
        (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()),
    ]
    peer = Peer(application, "/ws/overview/", headers=headers)
    assert await peer.connect()
    for _ in range(500):
        if await database_sync_to_async(lambda: pubsub.client().pubsub_numsub(pubsub.runs_channel(None))[0][1])():
            return peer
    raise AssertionError("nobody subscribed")


async def test_who_watches_a_run_or_the_overview_is_notified_at_once(viewer, operator, finished_run):
    page, front = socket(viewer, finished_run.pk), await overview(viewer)
    await page.connect()
    assert (await receive(page))["type"] == "status"
    await listening(finished_run.pk)
    number = await database_sync_to_async(deleted)(operator, finished_run)
    for peer in (page, front):
        message = await receive(peer)
        assert (message["type"], message["id"]) == ("deleted", number)
        assert re.fullmatch(WAS % number, message["message"])
    await page.leave()
    await front.leave()
    late = socket(viewer, number)  # it missed the message
    await late.connect()
    assert (await receive(late))["type"] == "deleted"
    assert (await late.receive_output(timeout=5))["code"] == 4404


def test_an_old_link_says_what_stood_there(viewer, operator, finished_run):
    number = deleted(operator, finished_run)
    for path in (f"/runs/{number}/", f"/runs/{number}/servers/0/"):
        page = viewer.get(path)
        assert page.status_code == 404
        assert re.search(WAS % number, page.content.decode()), path
    for path in ("", "snapshot/", "static/", "jobs/"):
        answer = viewer.get(f"/api/runs/{number}/{path}")
        assert answer.status_code == 404
        assert re.fullmatch(WAS % number, answer.json()["detail"]), path
    answer = viewer.get("/api/compare/", {"runs": f"{number},{number + 1}"}).json()["detail"]
    assert re.fullmatch(WAS % number + rf" Run {number + 1} does not exist; it may have been deleted\.", answer)
    unknown = viewer.get(f"/runs/{number + 1}/")
    assert (unknown.status_code, b"was deleted" in unknown.content) == (404, False)


def test_other_things_with_a_page_say_it_too(viewer, operator, make_scenario):
    scenario = make_scenario()
    form = {"name": "mine", "cluster": scenario.cluster_id, "trace": scenario.trace_id, "scheduler": "fifo"}
    made = operator.post("/api/scenarios/", form, content_type="application/json").json()["id"]
    operator.delete(f"/api/scenarios/{made}/")
    page = viewer.get(f"/scenarios/{made}/")
    assert (page.status_code, f"Scenario {made} (“mine”) was deleted by olga on" in page.content.decode()) == (
        404,
        True,
    )


def test_the_audit_list_says_of_every_entry_what_is_gone(viewer, operator, finished_run):
    operator.post(
        "/api/runs/", {"scenario": finished_run.scenario_id, "mode": "batch"}, content_type="application/json"
    )
    AuditEntry.objects.create(
        action="run.start", subject=f"run {finished_run.pk}", detail={"scenario": "test", "mode": "batch"}
    )
    number = deleted(operator, finished_run)
    rows = viewer.get("/api/audit/").json()["results"]
    lost = {row["action"]: row["gone"] for row in rows if row["subject"] == f"run {number}"}
    assert lost.keys() == {"run.start", "run.delete"}
    assert all(re.fullmatch(WAS % number, sentence) for sentence in lost.values())
    assert {row["gone"] for row in rows if row["subject"] != f"run {number}"} == {None}


def test_the_audit_list_says_that_a_connection_and_its_plans_are_gone(viewer, operator):
    run = mirrored_run()
    lab = Connection.objects.get(name="lab")
    with_plan = Proposal.objects.create(connection=lab, run=run, kind="order")
    proposals.record(operator.user, "propose", with_plan, {"scheduler": "srtf", "kind": "order"})
    AuditEntry.objects.create(action="connection.test", subject="connection that is not stored")
    AuditEntry.objects.create(action="connection.create", subject="connection lab", detail={"name": "lab"})
    rows = viewer.get("/api/audit/").json()["results"]
    assert {row["gone"] for row in rows} == {None}, "both are there"
    subjects = {"connection lab": "Connection lab", f"plan {with_plan.pk}": f"Plan {with_plan.pk} (SRTF, “lab”)"}
    Run.objects.update(lease_until=None)
    assert operator.delete("/api/connections/lab/").status_code == 204
    rows = viewer.get("/api/audit/").json()["results"]
    assert {row["subject"] for row in rows if row["gone"]} == subjects.keys()
    for row in rows:
        if row["gone"]:
            assert re.fullmatch(re.escape(subjects[row["subject"]]) + WHEN, row["gone"])
    for path in ("/live/lab/", "/live/lab/plans/", "/api/connections/lab/"):
        answer = viewer.get(path)
        assert (answer.status_code, "Connection lab was deleted by olga on" in answer.content.decode()) == (404, True)


def test_the_plans_of_a_cluster_that_was_connected_again_went_with_the_first_one(operator, admin):
    run = mirrored_run()
    lab = Connection.objects.get(name="lab")
    plan = Proposal.objects.create(connection=lab, run=run, kind="order")
    proposals.record(operator.user, "propose", plan, {"scheduler": "fifo", "kind": "order"})
    connections.remove(lab, operator.user)
    again = Connection.objects.create(name="lab", connector="slurm")
    assert gone.what_was("connection", "lab") is None
    connections.remove(again, admin.user)
    assert gone.what_was("plan", plan.pk).by == operator.user.username
    assert gone.what_was("connection", "lab").by == admin.user.username


def test_a_run_that_was_handed_over_is_named_with_both_schedulers(operator, make_scenario):
    edits = [{"verb": "change_scheduler", "scheduler": "srtf", "at_ms": 26 * H}]
    run = Run.objects.create(scenario=make_scenario(scheduler="fifo"), edits=edits)
    runner.enqueue(run.pk)
    work()
    assert str(gone.what_was("run", deleted(operator, run))).startswith(
        f"Run {run.pk} (FIFO → SRTF at 1d 02:00:00, “test”) was"
    )


def test_the_runs_of_a_sweep_are_announced_with_it(operator, make_scenario, monkeypatch):
    published = []
    monkeypatch.setattr(pubsub, "publish", lambda channel, message: published.append((channel, message)) or True)
    sweep = sweeps.start(
        make_scenario(scheduler="oasis"), "", [{"parameter": "model", "values": ["oasis"]}], [0, 1], operator.user
    )
    work()
    numbers = [point.run_id for point in sweep.points.all()]
    published.clear()
    sweeps.delete(sweep, operator.user)
    lost = [(channel, message["id"]) for channel, message in published if message["type"] == "deleted"]
    channels = [(pubsub.run_channel(n), n) for n in numbers] + [(pubsub.runs_channel(None), n) for n in numbers]
    assert sorted(lost) == sorted(channels)


def test_what_is_deleted_with_its_sweep_says_by_whom_and_when(viewer, operator, make_scenario):
    sweep = sweeps.start(
        make_scenario(scheduler="oasis"), "", [{"parameter": "model", "values": ["oasis"]}], [7], operator.user
    )
    work()
    run = sweep.points.get().run
    name, scenario, number = run.scenario.name, run.scenario_id, sweep.pk
    assert operator.delete(f"/api/sweeps/{number}/").status_code == 204
    page = viewer.get(f"/runs/{run.pk}/")
    assert page.status_code == 404
    assert f"Run {run.pk} (OASiS, “{name}”) was deleted by olga on " in page.content.decode()
    page = viewer.get(f"/scenarios/{scenario}/")
    assert (page.status_code, f"Scenario {scenario} (“{name}”) was deleted by olga on " in page.content.decode()) == (
        404,
        True,
    )
    assert AuditEntry.objects.get(action="run.delete", subject=f"run {run.pk}").detail["sweep"] == number


def test_a_deletion_that_is_rolled_back_is_not_announced(finished_run, monkeypatch):
    published = []
    monkeypatch.setattr(pubsub, "publish", lambda channel, message: published.append(message) or True)
    with transaction.atomic():
        commands.delete(finished_run)
        transaction.set_rollback(True)
    assert published == []
