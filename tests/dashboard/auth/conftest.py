"""Two teams with a member each, and objects of every kind that belong to one of them."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from tests.dashboard.auth.builders_teams import member
from twin.models import (
    Alert,
    AlertRule,
    ClusterSpec,
    Connection,
    Proposal,
    Scenario,
    Sweep,
    Team,
    Trace,
)
from twin.runs import commands


@pytest.fixture
def red(db) -> Team:
    return Team.objects.create(name="red")


@pytest.fixture
def blue(db) -> Team:
    return Team.objects.create(name="blue")


@pytest.fixture
def ruth(red) -> Client:
    return member("ruth", red)


@pytest.fixture
def bob(blue) -> Client:
    return member("bob", blue)


@pytest.fixture
def of_red(finished_run, red) -> dict[str, object]:
    """{part of an address: number or name} of objects of the team red, of every kind."""
    scenario = finished_run.scenario
    scenario.name = "secret plan"
    scenario.save()
    for model in (Trace, ClusterSpec, Scenario):
        model.objects.update(team=red)
    Trace.objects.update(name="secret trace")
    ClusterSpec.objects.update(name="secret-cluster")
    scenario.refresh_from_db()
    sweep = Sweep.objects.create(
        name="secret sweep", scenario=scenario, axes=[{"parameter": "backfill", "values": [True]}], seeds=[0]
    )
    lab = Connection.objects.create(
        name="secret-lab", connector="push", parameters={"source": "lab"}, run=finished_run, team=red
    )
    plan = Proposal.objects.create(connection=lab, scheduler="fifo", kind="order", status=Proposal.PROPOSED, digest="d")
    alert = Alert.objects.create(
        rule="drift", target="connection secret-lab", level="serious", code="drift", began_at=timezone.now(), team=red,
        values={"count": 1, "compared": 2, "first": {"subject": "", "field": ""}},
    )  # fmt: skip
    rule = AlertRule.objects.create(rule="drift", target="connection secret-lab", team=red)
    commands.audit(None, "run.start", f"run {finished_run.pk}", {"name": "secret plan"})
    return {
        "traces": scenario.trace_id, "clusters": scenario.cluster_id, "scenarios": scenario.pk, "runs": finished_run.pk,
        "sweeps": sweep.pk, "connections": lab.name, "proposals": plan.pk, "alerts": alert.pk, "alert-rules": rule.pk,
        "live": lab.name, "ingest": "lab",
    }  # fmt: skip
