"""manage.py backup and restore: a backup that is taken while a run goes on continues elsewhere, to the same log."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import orjson
import psycopg
import pytest

from tests.twin.builders_stack import START, completes, row
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = pytest.mark.slow
POSTGRES = "postgresql://postgres@127.0.0.1:5432"
REFUSALS = """
from pathlib import Path
from twin.operation import archive
from scheduling.model.values import ModelError
for path in {paths!r}:
    try:
        archive.restore(Path(path), archive.silent)
    except (ModelError, OSError) as error:
        print(error)
    else:
        print("restored")
"""
UPLOADING = """
from django.conf import settings
from twin.models import Trace
settings.UPLOAD_DIR.mkdir(exist_ok=True)
(settings.UPLOAD_DIR / "half").write_bytes(b"0123456789")
files = [{"name": "a.csv", "size": 20, "received": 8, "path": "half"}, {"name": "b.csv", "size": 1, "path": ""}]
print(Trace.objects.create(name="upload", status=Trace.UPLOADING, files=files).pk)
"""


def manage(stack: Stack, *words: str, fails: str = "") -> str:
    """Output of a management command; with `fails`, of one that is refused with this sentence."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    done = subprocess.run(command, env=stack.env, capture_output=True, text=True, timeout=300)
    if fails:
        assert done.returncode == 2
        assert fails in done.stderr
        assert len(done.stderr.splitlines()) == 1
    else:
        assert done.returncode == 0, done.stderr
    return done.stdout


def empty(folder: Path, **env: str) -> Stack:
    folder.mkdir()
    found = Stack(folder, **env)
    if env:
        manage(found, "migrate", "-v", "0")
    return found


@pytest.fixture
def target(tmp_path):
    """An empty PostgreSQL to restore into; SQLite where there is none."""
    name = f"twin_restore_{os.getpid()}"
    try:
        admin = psycopg.connect(f"{POSTGRES}/postgres", autocommit=True, connect_timeout=2)
    except psycopg.OperationalError:
        yield empty(tmp_path / "target")
        return
    with admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield empty(tmp_path / "target", DATABASE_URL=f"{POSTGRES}/{name}")
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_run_goes_on_from_a_backup_in_another_database(tmp_path, target):
    (tmp_path / "source").mkdir()
    source = Stack(tmp_path / "source").up()
    try:
        trace = int(source.manage(UPLOADING))
        run = int(source.manage(START))
        wait_until(lambda: int(row(source, run)["last_seq"]) > 0, "the run has begun")
        file = tmp_path / "backup.zip"
        assert "1 uploaded file, " in manage(source, "backup", str(file))
        assert file.stat().st_mode & 0o777 == 0o600
        times = source.sql("select created_at from twin_run where id = ?", run)
        completes(source, run)  # the backup has not disturbed it
        manage(source, "restore", str(file), fails="the twin is running here (background worker, ")
    finally:
        source.down()

    assert "1 uploaded file restored, as of 20" in manage(target, "restore", str(file))
    kept = row(target, run)
    assert kept["status"] == "running"
    assert int(kept["last_seq"]) > 0
    assert len(target.sql("select created_at from twin_run where id = ?", run)) == len(times) == 1
    assert (target.folder / "uploads" / "half").read_bytes() == b"01234567"  # as far as the database knows of it
    assert target.sql("select status from twin_trace where id = ?", trace) == [("uploading",)]
    assert (target.folder / "secret_key").read_text() == (source.folder / "secret_key").read_text()
    assert (target.folder / "secret_key").stat().st_mode & 0o777 == 0o600
    manage(target, "restore", str(file), fails="the database has rows already (twin.Run, twin.Trace)")
    try:
        target.up()
        completes(target, run)
        assert int(target.manage(START)) > run  # numbers go on after those of the backup
    finally:
        target.down()


def test_what_cannot_be_restored_is_refused_and_changes_nothing(tmp_path):
    source = empty(tmp_path / "source")
    good = tmp_path / "good.zip"
    manage(source, "backup", str(good))
    manage(source, "backup", str(good), fails=f"{good} exists; choose another name")
    manage(source, "backup", str(tmp_path / "nowhere" / "b.zip"), fails="nowhere")

    def changed(name: str, **manifest: object) -> str:
        """A copy of the backup with another manifest."""
        path = tmp_path / name
        with zipfile.ZipFile(good) as old, zipfile.ZipFile(path, "w") as new:
            for item in old.infolist():
                body = old.read(item)
                if item.filename == "manifest.json":
                    body = orjson.dumps({**orjson.loads(body), **manifest})
                new.writestr(item.filename, body)
        return str(path)

    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(good.read_bytes()[:2_000])
    text = tmp_path / "text.zip"
    text.write_text("no archive")
    with zipfile.ZipFile(good) as archive:
        told = orjson.loads(archive.read("manifest.json"))
    more = told["tables"] | {"auth.User": told["tables"]["auth.User"] | {"rows": 7}}
    cases = (
        (str(damaged), "damaged.zip is not a backup of the twin: "),
        (str(text), "text.zip is not a backup of the twin: "),
        (str(tmp_path / "none.zip"), "none.zip"),
        (changed("format.zip", format=9), "format 9 is unknown; this version reads format 1"),
        (changed("old.zip", migrations=[["twin", "0003_x"], ["dashboard", "0001_initial"]]),
         "run manage.py migrate twin 0003_x and manage.py migrate dashboard 0001_initial, restore, then run manage.py"),
        (changed("tables.zip", tables=told["tables"] | {"twin.Unknown": {"columns": [], "rows": 0}}),
         "has tables that this version does not know: twin.Unknown"),
        (changed("rows.zip", tables=more), "auth.User has 0 rows, but the manifest states 7"),
    )  # fmt: skip
    said = source.manage(REFUSALS.format(paths=[path for path, _ in cases])).splitlines()
    for (_, sentence), line in zip(cases, said, strict=True):
        assert sentence in line
    assert source.sql("select count(*) from auth_user") == [(0,)]
    assert "0 uploaded files restored" in manage(source, "restore", str(good))
