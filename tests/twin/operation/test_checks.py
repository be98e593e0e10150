"""manage.py doctor: each fault is found, and named with what to do."""

import io
import re

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from twin.operation import checks
from twin.processes import heartbeat

pytestmark = pytest.mark.django_db


def told(check):
    found = check()
    return found.level, found.text, found.remedy


def test_an_installation_without_faults(settings, tmp_path, layer, heartbeats):
    settings.VAR_DIR = settings.UPLOAD_DIR = tmp_path
    settings.BROKER_URL = settings.LAYER_URL.replace("unix://", "redis+socket://")
    settings.ALLOWED_HOSTS = ["localhost"]
    heartbeat.Pulse(heartbeat.WEB).beat()
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "packages", checks.python)  # another test checks the installed packages
        call_command("doctor", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line.split(":")[0].split(maxsplit=1) for line in lines[:-1]] == [
        ["ok", name]
        for name in ("Python", "packages", "extensions", "folders", "disk", "database", "migrations", "frame bus",
                     "broker", "clocks", "processes", "security")
    ]  # fmt: skip
    assert lines[-1] == "no faults"


def test_the_exit_code_tells_of_a_fault(settings, tmp_path):
    settings.VAR_DIR = settings.UPLOAD_DIR = tmp_path
    settings.BROKER_URL = settings.LAYER_URL = "redis://127.0.0.1:1"
    out = io.StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", stdout=out)
    text = out.getvalue()
    assert "fault   frame bus: it does not answer" in text
    assert "        -> start the server, or correct LAYER_URL" in text
    assert "fault   clocks: the check failed: ConnectionError" in text  # a check that fails does not end the others
    assert text.splitlines()[-1] == "faults: 4"
    out = io.StringIO()
    call_command("doctor", "--offline", stdout=out)
    assert out.getvalue().splitlines()[-1] == "no faults"


def test_packages_of_another_version_are_named(settings, tmp_path):
    settings.BASE_DIR = tmp_path
    (tmp_path / "requirements.txt").write_text("# why\ndjango==1.0  # web\nno-such-package[x]==2\npytest-xdist\n")
    level, text, remedy = told(checks.packages)
    assert level == checks.FAULT
    assert text.startswith("django ")
    assert text.endswith(" instead of 1.0; no-such-package missing instead of 2")
    assert remedy == "run bin/prepare requirements.txt"


def test_packages_for_traces_are_checked_where_traces_are_on(settings, tmp_path):
    settings.BASE_DIR, settings.TRACES_ENDPOINT = tmp_path, ""
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "requirements-tracing.txt").write_text("-r requirements.txt\nno-such-package==2\n")
    assert told(checks.packages)[0] == checks.OK
    settings.TRACES_ENDPOINT = "http://collector:4318"
    assert told(checks.packages) == (
        checks.FAULT, "no-such-package missing instead of 2", "run bin/prepare requirements-tracing.txt"
    )  # fmt: skip


def test_a_folder_that_cannot_be_written(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    settings.UPLOAD_DIR = tmp_path / "file"
    settings.UPLOAD_DIR.write_text("")
    assert told(checks.folders)[:2] == (checks.FAULT, f"{tmp_path / 'file'}: File exists")


def test_a_database_that_takes_no_writes(monkeypatch):
    monkeypatch.setattr(checks.database, "fault", lambda: OperationalError("database is\nlocked"))
    level, text, remedy = told(checks.database_writes)
    assert (level, remedy) == (checks.FAULT, "start the server, or correct DATABASE_URL")
    assert text.endswith(": database is locked")


def test_migrations_that_are_missing_and_those_of_a_newer_version():
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("dashboard", "0005_arrangements")
    assert told(checks.migrations)[:2] == (checks.FAULT, "1 migration not applied: dashboard 0005_arrangements")
    recorder.record_applied("dashboard", "0005_arrangements")
    recorder.record_applied("twin", "9999_of_the_future")
    assert told(checks.migrations)[1] == "the database is from a newer version (twin 9999_of_the_future)"


def test_a_clock_that_is_off(monkeypatch, layer):
    assert told(checks.clocks)[0] == checks.OK
    real = checks.time.time
    monkeypatch.setattr(checks.time, "time", lambda: real() - 5)
    level, text, remedy = told(checks.clocks)
    assert (level, remedy) == (checks.FAULT, "synchronize the hosts, for example with chrony")
    assert re.search(r"frame bus \+(4\.9|5\.)", text), text  # the clock of the bus is read in between


def test_processes_that_are_missing(layer):
    pulse = heartbeat.Pulse(heartbeat.WEB)
    pulse.beat()
    try:
        level, text, _ = told(checks.processes)
    finally:
        pulse.stop()
    assert level == checks.FAULT
    assert text == "; ".join(f"no {kind} answers" for kind in (*heartbeat.WORKERS.values(), heartbeat.TICKER))


@pytest.mark.parametrize(
    ("debug", "hosts", "https", "level"),
    [(False, ["localhost"], False, checks.OK), (True, ["localhost"], True, checks.FAULT),
     (False, ["twin.example"], False, checks.WARNING), (False, ["twin.example"], True, checks.OK)],
)  # fmt: skip
def test_settings_that_protect_the_pages(settings, debug, hosts, https, level):
    settings.DEBUG, settings.ALLOWED_HOSTS, settings.HTTPS = debug, hosts, https
    assert told(checks.secrets)[0] == level
