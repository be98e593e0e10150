"""An upgrade: a database of an older version is migrated, and all that it holds still opens.

tests/fixtures/upgrade/twin_0026.sql.gz is the SQL of a database that an older version (migration twin.0026) wrote: a
run of OASiS, a sweep of two FIFO runs, a live cluster with its log, an alert, two accounts and a token.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.twin.runtime import prepared

ROOT = Path(__file__).resolve().parents[3]
FIXTURE = ROOT / "tests" / "fixtures" / "upgrade" / "twin_0026.sql.gz"
LOGS = {  # SHA-256 of events.jsonl of each run, as the older version gave it
    "1": "bf246c3248cebe8b5d89db38754779dd83d7faa5c417797f8f13109fce8bb12f",
    "2": "a1f185bab52a5d3ee72853c19a09773667a3cf6c721e67b7eb90b3a2ad3c4e9a",
    "3": "0ea1f8307b4a5351b264d08948d281f2cc55c2ec58355bf4068fef0443665ad6",
    "4": "6bd1510ee49c9dda247e38dfed04310c96a4d607e8f4584cb511396bed52dc4a",
}
OPENED = """
import hashlib, json
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.test import Client
olga = get_user_model().objects.get(username="olga")
client = Client(headers={"host": "localhost"})
client.force_login(olga)

async def whole(answer):
    return b"".join([piece async for piece in answer.streaming_content])

def log(number):
    return hashlib.sha256(async_to_sync(whole)(client.get(f"/api/runs/{number}/events.jsonl"))).hexdigest()

pages = ["/", "/runs/1/", "/runs/4/", "/live/lab/", "/scenarios/1/", "/sweeps/1/", "/traces/1/", "/alerts/", "/audit/",
         "/api/runs/1/snapshot/", "/api/runs/4/snapshot/", "/api/runs/1/jobs/", "/api/connections/lab/",
         "/api/sweeps/1/points/", "/api/compare/?runs=2,3", "/api/alerts/", "/api/scenarios/", "/settings/account/"]
bearer = {"authorization": "Bearer twin_of_an_older_version", "host": "localhost"}
print(json.dumps({
    "pages": {page: client.get(page).status_code for page in pages},
    "logs": {number: log(number) for number in "1234"},
    "groups": sorted(olga.groups.values_list("name", flat=True)),
    "victor": sorted(get_user_model().objects.get(username="victor").groups.values_list("name", flat=True)),
    "token": Client().get("/api/runs/", headers=bearer).json()["count"],
    "made": client.post("/api/runs/", {"scenario": 1, "mode": "batch"}, content_type="application/json").status_code,
}))
"""


def manage(folder: Path, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL", "LAYER_URL")}
    env |= {"TWIN_VAR_DIR": str(folder), "LOG_LEVEL": "CRITICAL"}
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(command, env=env, input=given, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_database_of_an_older_version_is_migrated_and_opens(tmp_path):
    prepared.fill(tmp_path)  # for the static files
    (tmp_path / "twin.sqlite3").unlink()
    database = sqlite3.connect(tmp_path / "twin.sqlite3")
    database.executescript(gzip.decompress(FIXTURE.read_bytes()).decode())
    newest = database.execute("select name from django_migrations where app = 'twin' order by id desc").fetchone()
    assert newest == ("0026_packed_logs",)
    database.close()
    before = manage(tmp_path, "migrate", "--check")
    assert before.returncode == 1, "there is something to migrate"
    done = manage(tmp_path, "migrate", "-v0")
    assert done.returncode == 0, done.stderr
    opened = manage(tmp_path, "shell", "-v0", "-c", OPENED)
    assert opened.returncode == 0, opened.stderr
    found = json.loads(opened.stdout.strip().splitlines()[-1])
    assert {page: status for page, status in found["pages"].items() if status != 200} == {}
    assert found["logs"] == LOGS
    assert (found["groups"], found["victor"]) == (["approver", "operator"], ["viewer"]), "operators could approve"
    assert (found["token"], found["made"]) == (2, 201)
