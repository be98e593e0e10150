"""A certificate that runs into its time limit, in the real worker: what the log, the API and the page say then."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.twin.runtime.stack import Stack, wait_until

LIMIT = "0.01"
WHY = "the computation failed: it took longer than 0.01 s (CERTIFICATE_LIMIT_S)"
START = """
from scheduling.workloads import generate
from twin.models import Scenario
from twin.runs import commands
from twin.scenarios.store import store_generated
cluster, jobs = generate("oasis", variant="calibrated", num_jobs=30, num_servers=20, seed=3)
spec, trace = store_generated("small", cluster, jobs, 3)
scenario = Scenario.objects.create(name="small", cluster=spec, trace=trace, scheduler="oasis", seed=3)
print(commands.start_run(scenario).pk)
"""
TOKEN = """
from django.contrib.auth import get_user_model
from dashboard.auth import tokens
user = get_user_model().objects.create_superuser("owner")
print(tokens.create("test", ["operate"], 1, user)[1])
"""


@pytest.mark.slow
def test_it_is_given_up_and_says_so_until_the_limit_is_higher(tmp_path_factory):
    twin = Stack(tmp_path_factory.mktemp("limit"), CERTIFICATE_LIMIT_S=LIMIT)
    try:
        twin.up()
        token, run = twin.manage(TOKEN).strip(), int(twin.manage(START))
        address = f"{twin.url}/api/runs/{run}/certificate/"

        def ask(method: str = "GET") -> dict:
            headers = {"Authorization": f"Bearer {token}"}
            with urllib.request.urlopen(urllib.request.Request(address, method=method, headers=headers)) as answer:
                return json.loads(answer.read() or b"{}")

        wait_until(lambda: (ask()["certificate"] or {}).get("given_up"), "the certificate is given up")
        given_up = {"kind": "none", "why": WHY, "given_up": True}
        assert ask() == {"certificate": given_up, "certifying": False, "certificate_queued": False, "prices": None}
        owned = "select status, certify_owner from twin_run where id = ?"
        assert twin.sql(owned, run) == [("finished", "")]
        ask("POST")
        due = "select certified_seq = last_seq from twin_run where id = ?"
        wait_until(lambda: twin.sql(due, run) == [(1,)], "it was computed again, and given up")
        assert ask()["certificate"] == given_up
        twin.down()
        twin.env["CERTIFICATE_LIMIT_S"] = "60"
        twin.up()
        wait_until(twin.healthy, "the twin is up again")
        ask("POST")
        wait_until(lambda: "bound" in ask()["certificate"], "the certificate is there")
        assert not ask()["certificate"].get("given_up")
    finally:
        twin.down()
