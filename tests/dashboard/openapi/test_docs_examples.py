"""Examples of docs/api.md and docs/push.md that talk to a server: each is run as it stands there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from django.contrib.auth.models import Group

from dashboard.auth import tokens
from twin.models import ClusterSpec, PushedEvent

DOCS = Path(__file__).parents[3] / "docs"
pytestmark = [pytest.mark.django_db(transaction=True)]


def example(page: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
    return found


@pytest.fixture
def run(live_server, django_user_model):
    owner = django_user_model.objects.create_user("olga")
    owner.groups.add(Group.objects.get_or_create(name="operator")[0])

    def run(page: str, language: str, *scopes: str) -> str:
        _, value = tokens.create("docs", scopes, 1, owner)
        command = [sys.executable, "-c"] if language == "python" else ["bash", "-e", "-c"]
        env = os.environ | {"TWIN_URL": live_server.url, "TWIN_TOKEN": value}
        done = subprocess.run([*command, example(page, language)], env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@pytest.mark.parametrize("language", [pytest.param("sh", marks=needs_curl), "python"])
def test_examples_of_the_api(run, language):
    printed = run("api.md", language, "operate")
    assert ClusterSpec.objects.get().server_count == 10
    assert "oasis" in printed


@pytest.mark.parametrize(("language", "count"), [pytest.param("sh", 4, marks=needs_curl), ("python", 2)])
def test_examples_of_push(run, language, count):
    printed = run("push.md", language, "ingest:lab").replace("'", '"')
    assert orjson.loads(printed) == {"accepted": count, "duplicate": 0, "rejected": [], "ignored": 0, "cursor": count}
    assert PushedEvent.objects.count() == count
