"""A request for every address of the API that changes something, with the entries that it leaves."""

import time
from collections.abc import Callable
from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from dashboard.auth import tokens
from tests.twin.mirror.whatif.builders_forty import mirrored_run
from tests.twin.runtime.queues import work
from twin.analysis import certificate_task
from twin.models import (
    ActingRule,
    Alert,
    AlertRule,
    AuditEntry,
    Connection,
    Proposal,
    Run,
    Scenario,
    ShadowSet,
    TaskLease,
    Team,
    Trace,
)
from twin.runs import runner
from twin.studies import sweeps
from twin.studies.shadows import sets

JOBS = b"timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01 00:00:45,66.0,1,66.0,vc\n"
JSON = "application/json"


def send(client, method: str, address: str, body):
    if isinstance(body, bytes):
        return client.put(address, body, content_type="application/octet-stream")
    if any(isinstance(value, SimpleUploadedFile) for value in body.values()):
        return client.post(address, body)
    return getattr(client, method)(address, body, content_type=JSON)


def token_of(world) -> int:
    """A token that is accepted."""
    made, _ = tokens.create("lab", ["read"], 1, world.operator.user)
    AuditEntry.objects.all().delete()
    return made.pk


def team_of(world, *members) -> int:
    """A team with these members."""
    made = Team.objects.create(name="red")
    made.members.set(members)
    return made.pk


def trace_of(status: str) -> Trace:
    return Trace.objects.create(name="t", format="auto", status=status, stage=Trace.SCAN)


def live_run(world, **changes) -> Run:
    return Run.objects.create(scenario=world.scenario, mode=Run.LIVE, clock_speed=1.0, **changes)


def announced(world) -> int:
    body = {"files": [{"name": "a.csv", "size": len(JOBS)}]}
    trace = world.operator.post("/api/traces/", body, content_type=JSON).json()["id"]
    AuditEntry.objects.all().delete()
    return trace


def asked(noun: str, verb: str, **changes) -> Callable:
    """A verb of a run that is so, as the world makes it."""
    return lambda world: (f"/api/{noun}/{live_run(world, **changes).pk}/{verb}", {})


def done_run(world) -> Run:
    """A batch run, to its end."""
    run = Run.objects.create(scenario=world.scenario)
    runner.enqueue(run.pk)
    work()
    return run


def forked(world) -> Run:
    """A fork of a live run that goes on."""
    return Run.objects.create(scenario=world.scenario, parent=live_run(world), fork_ms=0, status=Run.FINISHED)


EXPERIMENT = "/api/experiments/oasis_fig07_testbed_utility/"


def started_experiment(world) -> str:
    """Address of an experiment that is under way."""
    send(world.operator, "post", f"{EXPERIMENT}start/", {"seeds": 1})
    AuditEntry.objects.all().delete()
    return EXPERIMENT


def sweep_of(world) -> int:
    """A sweep of two runs, one of which is cancelled."""
    scenario = world.scenario
    Scenario.objects.filter(pk=scenario.pk).update(scheduler="fifo", parameters={})
    scenario.refresh_from_db()
    sweep = sweeps.start(scenario, "", [{"parameter": "backfill", "values": [True, False]}], [])
    Run.objects.filter(pk=sweep.points.first().run_id).update(status=Run.CANCELLED)
    AuditEntry.objects.all().delete()
    return sweep.pk


def old_sweep_of(world) -> int:
    pk = sweep_of(world)
    Run.objects.update(status=Run.CANCELLED)
    return pk


PAUSED = {"status": Run.PAUSED, "wanted": Run.PAUSED}


def computed(task: str, subject, cancelled: bool = False):
    """The subject, whose background task a worker computes or an operator has cancelled."""
    owner, until = "" if cancelled else "elsewhere.example/1.1", timezone.now() + timedelta(seconds=20)
    TaskLease.objects.create(task=task, key=subject.pk, owner=owner, until=until, cancelled=cancelled)
    return subject


def work_on(world, task: str, address: str, cancelled: bool = False) -> str:
    """The address of background work on a live cluster."""
    followed(world)
    computed(task, Connection.objects.get(), cancelled)
    return f"/api/live/lab/{address}"


def certified(w) -> Run:
    """A run whose certificate is being computed."""
    run = done_run(w)
    assert certificate_task._claim(run.pk)
    return run


def followed(w, **changes) -> str:
    """The address of a connection."""
    Connection.objects.create(name="lab", connector="replay", parameters={"path": "/nowhere", "speed": 1.0}, **changes)
    return "/api/connections/lab/"


def plan_of(world, status: str) -> str:
    """The address of a plan that a process may carry out."""
    followed(world, health={"last_look_at": time.time() + 1_000})
    lab = Connection.objects.get()
    Connection.objects.update(connector="slurm")
    ActingRule.objects.create(connection=lab, level=ActingRule.ORDER, calibrated=False, actor_at=timezone.now())
    plan = Proposal.objects.create(
        connection=lab, scheduler="fifo", kind="order", status=status, digest="d", planned_at=timezone.now()
    )
    return f"/api/proposals/{plan.pk}/"


def ruled(world) -> str:
    """The address of the rule about plans of a connection."""
    followed(world)
    Connection.objects.update(connector="slurm")
    return "/api/live/lab/acting/"


def allowed(world) -> str:
    """The address of plans for a cluster on which two jobs wait."""
    mirrored_run()
    ActingRule.objects.create(connection=Connection.objects.get(), level=ActingRule.PROPOSE)
    AuditEntry.objects.all().delete()
    return "/api/live/lab/proposals/"


def shadowed(w) -> str:
    """The address of the shadows of a cluster with a few jobs."""
    mirrored_run()
    return "/api/live/lab/shadows/"


def replayed(w, under_way=False) -> str:
    """The address of the replay of a cluster with a few jobs."""
    mirrored_run()
    if under_way:
        sets.request(Connection.objects.select_related("run").get(), purpose=ShadowSet.REPLAY)
    return "/api/live/lab/replay/"


def under_way(w) -> str:
    """The same, of one whose shadows are being computed."""
    address = shadowed(w)
    sets.request(Connection.objects.select_related("run").get())
    return address


def alert_of(world) -> str:
    """The address of an open alert."""
    made = Alert.objects.create(
        rule="run_stalled", target="run 1", level="serious", code="held", began_at=timezone.now()
    )
    return f"/api/alerts/{made.pk}/"


def rule_of(world) -> str:
    """The address of the rule of a cluster."""
    followed(world)
    return f"/api/alert-rules/{AlertRule.objects.create(rule='drift', target='connection lab').pk}/"


def ruling(world) -> tuple[str, dict]:
    """A rule for a cluster that has none yet."""
    followed(world)
    return "/api/alert-rules/", {"rule": "drift", "target": "connection lab"}


REPLAY = {"name": "lab", "connector": "replay", "parameters": {"path": "/nowhere"}}
# (route, method) -> (the entries it leaves, world -> (address, body))
CASES: dict[tuple[str, str], tuple[list[str], Callable]] = {
    ("account-list", "post"): (["account.create"], lambda w: ("/api/accounts/", {"name": "vera", "role": "viewer"})),
    ("account-detail", "patch"): (
        ["account.disable", "account.role"],
        lambda w: (f"/api/accounts/{w.viewer.user.pk}/", {"role": "operator", "active": False}),
    ),
    ("account-reset", "post"): (["account.reset"], lambda w: (f"/api/accounts/{w.viewer.user.pk}/reset/", {})),
    ("retention-summary", "post"): (["retention.request"], lambda w: ("/api/retention/", {})),
    ("team-list", "post"): (["team.create"], lambda w: ("/api/teams/", {"name": "red"})),
    ("team-detail", "delete"): (["team.delete"], lambda w: (f"/api/teams/{team_of(w)}/", {})),
    ("team-join", "post"): (["team.join"], lambda w: (f"/api/teams/{team_of(w)}/join/", {"account": w.viewer.user.pk})),
    ("team-leave", "post"): (
        ["team.leave"],
        lambda w: (f"/api/teams/{team_of(w, w.viewer.user)}/leave/", {"account": w.viewer.user.pk}),
    ),
    ("team-move", "post"): (
        ["team.move"],
        lambda w: ("/api/teams/move/", {"kind": "scenario", "key": str(w.scenario.pk), "team": team_of(w)}),
    ),
    ("alert-acknowledge", "post"): (["alert.acknowledge"], lambda w: (f"{alert_of(w)}acknowledge/", {})),
    ("alertrule-list", "post"): (["alert_rule.create"], ruling),
    ("alertrule-detail", "patch"): (["alert_rule.change"], lambda w: (rule_of(w), {"level": "serious"})),
    ("alertrule-detail", "delete"): (["alert_rule.delete"], lambda w: (rule_of(w), {})),
    ("apitoken-list", "post"): (["token.create"], lambda w: ("/api/tokens/", {"name": "lab", "scopes": ["read"]})),
    ("apitoken-revoke", "post"): (["token.revoke"], lambda w: (f"/api/tokens/{token_of(w)}/revoke/", {})),
    ("connection-list", "post"): (["connection.create"], lambda w: ("/api/connections/", REPLAY)),
    ("connection-detail", "patch"): (["connection.change"], lambda w: (followed(w), {"interval_ms": 2_000})),
    ("connection-detail", "delete"): (["connection.delete"], lambda w: (followed(w), {})),
    ("connection-pause", "post"): (["connection.pause"], lambda w: (f"{followed(w)}pause/", {})),
    ("connection-follow", "post"): (["connection.follow"], lambda w: (f"{followed(w, wanted='paused')}follow/", {})),
    ("connection-test-stored", "post"): (["connection.test"], lambda w: (f"{followed(w)}test/", {})),
    ("connection-test-settings", "post"): (
        ["connection.test"],
        lambda w: ("/api/connections/test/", {key: value for key, value in REPLAY.items() if key != "name"}),
    ),
    ("connection-acting", "patch"): (["acting.change"], lambda w: (ruled(w), {"level": 1})),
    ("connection-proposals", "post"): (["plan.propose", "run.fork", "run.start"], lambda w: (allowed(w), {})),
    ("proposal-approve", "post"): (
        ["plan.approve"],
        lambda w: (f"{plan_of(w, Proposal.PROPOSED)}approve/", {"digest": "d"}),
    ),
    ("proposal-undo", "post"): (["plan.undo"], lambda w: (f"{plan_of(w, Proposal.APPLIED)}undo/", {})),
    ("proposal-discard", "post"): (["plan.discard"], lambda w: (f"{plan_of(w, Proposal.PROPOSED)}discard/", {})),
    ("shadows", "post"): (["shadows.start"], lambda w: (shadowed(w), {"hours": 1})),
    ("replay", "post"): (["replay.start"], lambda w: (replayed(w), {"hours": 1})),
    ("replay-cancel", "post"): (["replay.cancel"], lambda w: (f"{replayed(w, True)}cancel/", {})),
    ("shadows-cancel", "post"): (["shadows.cancel"], lambda w: (f"{under_way(w)}cancel/", {})),
    ("trace-list", "post"): (["trace.upload"], lambda w: ("/api/traces/", {"file": SimpleUploadedFile("a.csv", JOBS)})),
    ("trace-detail", "delete"): (["trace.delete"], lambda w: (f"/api/traces/{trace_of(Trace.FAILED).pk}/", {})),
    ("trace-import-", "post"): (["trace.import"], lambda w: (f"/api/traces/{trace_of(Trace.SCANNED).pk}/import/", {})),
    ("trace-scan", "post"): (["trace.scan"], lambda w: (f"/api/traces/{trace_of(Trace.SCANNED).pk}/scan/", {})),
    ("trace-cancel", "post"): (["trace.cancel"], lambda w: (f"/api/traces/{trace_of(Trace.SCANNED).pk}/cancel/", {})),
    ("trace-file", "put"): (["trace.upload"], lambda w: (f"/api/traces/{announced(w)}/files/0/?offset=0", JOBS)),
    ("clusterspec-list", "post"): (
        ["cluster.create"],
        lambda w: ("/api/clusters/", {"profile": "oasis", "servers": 2}),
    ),
    ("clusterspec-detail", "delete"): (["cluster.delete"], lambda w: (f"/api/clusters/{w.spare_cluster}/", {})),
    ("scenario-list", "post"): (["scenario.create"], lambda w: ("/api/scenarios/", w.form)),
    ("scenario-detail", "delete"): (["scenario.delete"], lambda w: (f"/api/scenarios/{w.scenario.pk}/", {})),
    ("scenario-race", "post"): (
        ["run.start", "run.start", "scenario.race"],
        lambda w: (f"/api/scenarios/{w.scenario.pk}/race/", {"schedulers": ["fifo", "oasis"]}),
    ),
    ("run-list", "post"): (["run.start"], lambda w: ("/api/runs/", {"scenario": w.scenario.pk, "mode": "batch"})),
    ("run-detail", "delete"): (["run.delete"], asked("runs", "", status=Run.FINISHED)),
    ("run-pause", "post"): (["run.pause"], asked("runs", "pause/")),
    ("run-resume", "post"): (["run.resume"], asked("runs", "resume/", **PAUSED)),
    ("run-cancel", "post"): (["run.cancel"], asked("runs", "cancel/")),
    ("run-step", "post"): (["run.step"], asked("runs", "step/", **PAUSED)),
    ("run-clock", "post"): (["run.speed"], lambda w: (f"/api/runs/{live_run(w).pk}/clock/", {"speed": 60})),
    ("run-forks", "post"): (["run.fork"], lambda w: (f"/api/runs/{done_run(w).pk}/forks/", {"at_ms": 40_000_000})),
    ("run-metrics", "post"): (
        ["metrics.request"],
        lambda w: (f"/api/runs/{computed('measure_mirror', done_run(w), True).pk}/metrics/", {}),
    ),
    ("run-metrics", "delete"): (
        ["metrics.cancel"],
        lambda w: (f"/api/runs/{computed('measure_mirror', done_run(w)).pk}/metrics/", {}),
    ),
    ("live-audit", "post"): (["drift.request"], lambda w: (work_on(w, "audit_mirror", "audit/", True), {})),
    ("live-audit", "delete"): (["drift.cancel"], lambda w: (work_on(w, "audit_mirror", "audit/"), {})),
    ("live-forecast-work", "post"): (
        ["forecast.request"],
        lambda w: (work_on(w, "forecast_mirror", "forecast/work/", True), {}),
    ),
    ("live-forecast-work", "delete"): (
        ["forecast.cancel"],
        lambda w: (work_on(w, "forecast_mirror", "forecast/work/"), {}),
    ),
    ("run-certificate", "post"): (
        ["certificate.request"],
        lambda w: (f"/api/runs/{done_run(w).pk}/certificate/", {}),
    ),
    ("run-certificate", "delete"): (
        ["certificate.cancel"],
        lambda w: (f"/api/runs/{certified(w).pk}/certificate/", {}),
    ),
    ("run-promote", "post"): (
        ["run.cancel", "run.promote", "run.start"],
        lambda w: (f"/api/runs/{forked(w).pk}/promote/", {}),
    ),
    ("run-discard", "post"): (["run.discard"], lambda w: (f"/api/runs/{forked(w).pk}/discard/", {})),
    ("scenario-edits", "patch"): (
        ["scenario.edit"],
        lambda w: (f"/api/scenarios/{w.scenario.pk}/edits/", {"version": w.scenario.version, "name": "another"}),
    ),
    ("experiment-start", "post"): (["experiment.start"], lambda w: (f"{EXPERIMENT}start/", {"seeds": 1})),
    ("experiment-start-all", "post"): (
        ["experiment.start"],
        lambda w: ("/api/experiments/start-all/", {"names": ["oasis_fig07_testbed_utility"]}),
    ),
    ("experiment-cancel", "post"): (["experiment.cancel"], lambda w: (f"{started_experiment(w)}cancel/", {})),
    ("experiment-cancel-all", "post"): (
        ["experiment.cancel"],
        lambda w: (started_experiment(w) and "/api/experiments/cancel-all/", {}),
    ),
    ("sweep-list", "post"): (
        ["run.start", "sweep.start"],
        lambda w: ("/api/sweeps/", {"scenario": w.scenario.pk, "axes": [{"parameter": "model", "values": ["oasis"]}]}),
    ),
    ("sweep-cancel", "post"): (["run.cancel", "sweep.cancel"], lambda w: (f"/api/sweeps/{sweep_of(w)}/cancel/", {})),
    ("sweep-resume", "post"): (["run.start", "sweep.resume"], lambda w: (f"/api/sweeps/{sweep_of(w)}/resume/", {})),
    ("sweep-detail", "delete"): (
        ["run.delete"] * 2 + ["scenario.delete"] * 2 + ["sweep.delete"],
        lambda w: (f"/api/sweeps/{old_sweep_of(w)}/", {}),
    ),
    ("template-start", "post"): (
        ["run.start", "scenario.template"],
        lambda w: ("/api/templates/edge_failure/start/", {}),
    ),
    ("workloads", "post"): (
        ["trace.generate"],
        lambda w: ("/api/workloads/", {"profile": "oasis", "jobs": 3, "servers": 2}),
    ),
}
