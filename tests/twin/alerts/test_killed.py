"""Workers that are killed while an alert opens and while it is sent: nothing is missing, nothing is there twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks._stack import environment
from tests.twin.alerts.http_receiver import Receiving
from tests.twin.runtime import prepared

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


def manage(folder: Path, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments]
    environ = environment(folder) | {"PYTHONPATH": str(settings.BASE_DIR), "ALERT_WEBHOOK_URL": url}
    environ |= {"PATH": os.environ["PATH"]}
    return subprocess.run(command, env=environ, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)


def test_a_worker_killed_between_opening_and_delivering_loses_and_doubles_nothing(tmp_path: Path) -> None:
    prepared.fill(tmp_path)
    server = Receiving()
    try:
        for where, received in (
            ("before the notice is kept", 0),
            ("before the notice is sent", 0),
            ("after the notice was sent", 1),
        ):
            killed = manage(tmp_path, server.url, "shell", "-c", TURN.format(where=where))
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            assert len(server.received) == received
        for _ in range(2):
            after = manage(tmp_path, server.url, "shell", "-c", TURN.format(where=""))
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
