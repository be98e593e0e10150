"""Workers that are killed while an alert opens and while it is sent: nothing is missing, nothing is there twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.twin.alerts.http_receiver import Receiving
from tests.twin.runtime import prepared
from tests.twin.runtime.process import ran

pytestmark = pytest.mark.slow
TURN = """
import json, os, signal, time
from twin.alerts import evaluation_task
from twin.alerts.webhook import delivery_task, outbox, receiver
from twin.models import Alert, AlertNotice, AlertWork, AuditEntry, Connection

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def post_and_die(*given):
    post(*given)
    kill()

post = receiver.post
if {where!r} == "before the notice is kept": outbox.add = kill
if {where!r} == "before the notice is sent": receiver.post = kill
if {where!r} == "after the notice was sent": receiver.post = post_and_die
Connection.objects.get_or_create(name="lab", defaults=dict(connector="slurm", health=dict(last_look_at=5.0)))
AlertWork.objects.update(evaluating_until=0, delivering_until=0)  # their time has passed
evaluation_task.work()
delivery_task.work()
print(json.dumps(dict(
    alerts=list(Alert.objects.values_list("rule", "target")),
    audit=list(AuditEntry.objects.filter(action__startswith="alert.").values_list("action", flat=True)),
    notices=[(one.event, one.attempts, one.delivered_at is not None) for one in AlertNotice.objects.all()],
)))
"""


def test_a_worker_killed_between_opening_and_delivering_loses_and_doubles_nothing(tmp_path: Path) -> None:
    prepared.fill(tmp_path)
    server = Receiving()
    try:
        for where, received in (
            ("before the notice is kept", 0),
            ("before the notice is sent", 0),
            ("after the notice was sent", 1),
        ):
            killed = ran(tmp_path, TURN.format(where=where), ALERT_WEBHOOK_URL=server.url)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            assert len(server.received) == received
        for _ in range(2):
            after = ran(tmp_path, TURN.format(where=""), ALERT_WEBHOOK_URL=server.url)
            assert after.returncode == 0, after.stderr
            assert json.loads(after.stdout.splitlines()[-1]) == {
                "alerts": [["data_old", "connection lab"]],
                "audit": ["alert.open"],
                "notices": [["opened", 1, True]],
            }
        ids = [json.loads(body)["id"] for _, body in server.received]
        assert len(ids) == 2  # the receiver had it before the worker was killed, and knows the repetition by its id
        assert len(set(ids)) == 1
    finally:
        server.close()
