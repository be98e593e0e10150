"""Condition of a connected cluster: what the follower wrote, what it posts, and who follows it."""

from __future__ import annotations

import time

import pytest

from twin.mirror.connecting import condition, connections
from twin.models import Connection
from twin.processes import heartbeat

pytestmark = pytest.mark.django_db


def test_the_condition_follows_from_what_the_follower_wrote(lab, layer):
    now = lab.health["last_look_at"]
    assert condition.condition(lab, now + 16).state == "following"
    lab.health["note"] = "array 10 has 134 waiting tasks, of which the first 5 are shown"
    assert condition.condition(lab, now).message == "Array 10 has 134 waiting tasks, of which the first 5 are shown."
    lab.health["unfit"] = "nodes with more GPUs held by jobs than they have: edge1 (6 of 4)"
    message = condition.condition(lab, now).message
    assert message.endswith(" are shown. Nodes with more GPUs held by jobs than they have: edge1 (6 of 4).")
    stale = condition.condition(lab, now + 18)
    assert (stale.state, stale.since, stale.stale_after_ms) == ("stale", now, 17_000)
    lab.health |= {"failing_since": now + 1, "error": "slurmctld: does not answer"}
    failing = condition.condition(lab, now + 2)
    assert (failing.state, failing.since, failing.message) == ("failing", now + 1, "slurmctld: does not answer")
    lab.parameters = {"interval_ms": 60_000}
    assert condition.interval_ms(lab) == 60_000
    lab.connector = "gone"
    assert condition.interval_ms(lab) == 60_000


def test_a_cluster_that_posts_nothing_is_stale_though_the_follower_polls(viewer, lab):
    now = time.time()
    lab.health |= {"last_look_at": now, "contact_at": now - 3, "event_ms": round(now * 1000) - 400_000}
    quiet = condition.condition(lab, now)
    assert (quiet.state, quiet.seen_at, quiet.stale_after_ms) == ("following", now - 3, 60_000), "heartbeats came"
    lab.health["contact_at"] = now - 193
    lab.save()
    silent = condition.condition(lab, now)
    assert (silent.state, silent.since, silent.seen_at) == ("stale", now - 193, now - 193)
    assert silent.message == "The cluster has posted nothing since then, not even a heartbeat; its sender may be down."
    found = viewer.get("/api/connections/lab/").json()["condition"]
    assert found["age_ms"] >= 193_000 > found["polled_ago_ms"]
    assert found["event_ms"] == lab.health["event_ms"]
    lab.health["last_look_at"] = now - 100
    assert condition.condition(lab, now).message.startswith("The follower has written nothing")


def test_a_source_that_has_never_posted_has_no_data_though_the_follower_polls(viewer, lab):
    lab.connector = "push"
    lab.save()
    created = lab.created_at.timestamp()
    lab.health |= {"last_look_at": created + 59}
    first = condition.condition(lab, created + 59)
    assert (first.state, first.seen_at) == ("starting", None)
    assert first.message == "Waiting for the first post of the source."
    lab.health["last_look_at"] = created + 300
    late = condition.condition(lab, created + 301)
    assert (late.state, late.since, late.seen_at) == ("stale", created, None)
    assert late.message == "The source has posted nothing yet; check its name, its token and its sender."
    lab.save()
    assert viewer.get("/api/connections/lab/").json()["condition"]["age_ms"] is None
    lab.health["contact_at"] = created + 299
    assert condition.condition(lab, created + 301).state == "following"


def test_the_situation_of_a_mirrored_run_states_the_condition_of_its_cluster(viewer, lab):
    def shown() -> dict | None:
        return viewer.get(f"/api/runs/{lab.run_id}/situation/").json()["following"]

    assert shown() == {"state": "following", "message": "", "event_ms": None}
    connections.pause(lab)
    message = "Following is paused; this time is recorded as a gap."
    assert shown() == {"state": "paused", "message": message, "event_ms": None}
    run = lab.run_id
    connections.remove(lab)
    assert viewer.get(f"/api/runs/{run}/situation/").json()["following"] is None


def test_a_first_poll_that_does_not_come_is_late(db):
    lab = Connection.objects.create(name="lab", connector="slurm")
    created = lab.created_at.timestamp()
    assert condition.condition(lab, created + 59).state == "starting"
    late = condition.condition(lab, created + 61)
    assert (late.state, late.since) == ("stale", created)
    assert "has not polled yet" in late.message
    lab.health = {"resumed_at": created + 60}
    assert condition.condition(lab, created + 61).state == "starting"


def test_a_follower_that_is_there_is_not_missed(operator, recording, layer, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    pulse = heartbeat.Pulse(heartbeat.FOLLOWER)
    pulse.beat()
    Connection.objects.create(name="lab", connector="replay")
    found = operator.get("/api/connections/lab/").json()["condition"]
    assert found["message"] == "Waiting for the first poll by the follower."


def test_the_newest_audit_of_the_current_run_is_shown(viewer):
    connection = Connection.objects.create(name="audited", connector="slurm")
    assert viewer.get("/api/connections/audited/").json()["condition"]["audit"] == {}
    drift = {"run": None, "at": 5.0, "checked_at": 5.0, "compared": 3, "count": 0, "differences": [], "suspected": []}
    Connection.objects.filter(pk=connection.pk).update(drift=drift | {"error": ""})
    audit = viewer.get("/api/connections/audited/").json()["condition"]["audit"]
    stored = {"checked_at": 5.0, "compared": 3, "count": 0, "differences": [], "error": ""}
    assert audit == stored | {"accounted": True}, "an older version did not store whether there was accounting"
    Connection.objects.filter(pk=connection.pk).update(drift=drift | {"error": "", "accounted": False})
    assert viewer.get("/api/connections/audited/").json()["condition"]["audit"] == stored | {"accounted": False}
