"""Every address there is, for everybody there is: found by walking the routes, so a new one cannot be forgotten."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from dashboard.auth import tokens
from tests.dashboard.builders import WRITES, methods_of, routes
from twin.models import Alert, AlertRule, AuditEntry, Connection, Proposal, Run, Scenario, Sweep, Team, Trace

OPEN = {"login", "login-link", "password-set", "oidc-login", "oidc-callback", "healthz", "readyz"}
MACHINES = "/api/ingest/"  # for tokens alone, whoever is logged in (test_ingest.py)
# whoever may only look does not see who else may act (test_tokens.py)
OPERATORS = ("/api/tokens/", "/settings/tokens/", "/live/connect/")
ADMINS = ("/api/accounts/", "/settings/accounts/", "/api/teams/", "/settings/teams/", "/api/retention/",
          "/settings/retention/")  # fmt: skip
# needs two runs in its query; the run has no groups: reported after the role was checked
REFUSED = {
    "/api/compare/": 400,
    "/api/scenarios/suitability/": 400,
    "/subtasks/": 404,
    "/groups.csv": 404,
    "/mapping/": 404,
    "/levels/": 400,  # the run is not large
}
# what would be, what failed in a browser, and how the own pages look; nothing else is kept (test_audit.py)
ASKS = ("/ask/", "/edits/", "/client-errors/", "/arrangement/")


@pytest.fixture
def addresses(finished_run) -> list[tuple[str, set[str]]]:
    """(address with real ids, methods that it declares; empty for a page)"""
    scenario = finished_run.scenario
    sweep = Sweep.objects.create(
        name="s", scenario=scenario, axes=[{"parameter": "backfill", "values": [True]}], seeds=[0]
    )
    token, _ = tokens.create("t", ["read"], None, get_user_model().objects.create_user("tina"))
    ids = {
        "traces": scenario.trace_id, "clusters": scenario.cluster_id, "scenarios": scenario.pk, "runs": finished_run.pk,
        "sweeps": sweep.pk, "tokens": token.pk, "accounts": token.created_by_id,
        "teams": Team.objects.create(name="red").pk,
    }  # fmt: skip
    lab = Connection.objects.create(name="lab", connector="push", parameters={"source": "lab"}, run=finished_run)
    ids["proposals"] = Proposal.objects.create(connection=lab, scheduler="fifo", kind="order").pk
    ids["alerts"] = Alert.objects.create(
        rule="drift", target="connection lab", level="serious", code="drift", began_at=timezone.now(),
        values={"count": 1, "compared": 2, "first": {"subject": "", "field": ""}},
    ).pk  # fmt: skip
    ids["alert-rules"] = AlertRule.objects.create(rule="drift", target="connection lab").pk
    found = []
    for path, entry in routes():
        if entry.name in OPEN:
            continue
        noun = path.removeprefix("api/").partition("/")[0]
        for pattern in (
            "(?P<pk>[^/.]+)",
            "(?P<pk>\\d+)",
            "<int:pk>",
            "<int:trace_id>",
            "<int:run_id>",
            "<int:scenario_id>",
            "<int:sweep_id>",
        ):
            path = path.replace(pattern, str(ids.get(noun)))
        path = (
            path.replace("(?P<index>\\d+)", "0")
            .replace("<int:number>", "0")
            .replace("<int:group>", "0")
            .replace("<int:index>", "0")
            .replace("<int:server>", "0")
            .replace("<str:source>", "lab")
            .replace("<slug:name>", "lab")
            .replace("<slug:experiment>", "oasis_fig07_testbed_utility")
            .replace("(?P<experiment>[a-z0-9_]+)", "oasis_fig07_testbed_utility")
            .replace(r"(?P<name>[\w-]+)", "lab")
        )
        assert "<" not in path, f"no id is known for {path}"
        found.append((f"/{path}", methods_of(entry.callback)))
    return found


def test_the_walk_finds_what_there_is(addresses):
    paths = {path for path, _ in addresses}
    assert len(paths) > 25
    assert {"/", "/logout/", "/api/schedulers/", "/api/schema/"} < paths
    assert sum(path.endswith(("/pause/", "/resume/", "/cancel/", "/clock/", "/step/")) for path in paths) == 12


def test_a_stranger_gets_nothing(addresses):
    stranger = Client()
    for path, _ in addresses:
        for method in ("get", *WRITES):
            answer = getattr(stranger, method)(path)
            if path.startswith("/api/") or path == "/metrics":  # both are for machines too
                assert answer.status_code == (401 if path.startswith(MACHINES) else 403), (method, path)
            else:
                assert answer.status_code == 302, (method, path)
                assert answer.headers["Location"].startswith("/login/")


def test_an_account_without_a_role_gets_nothing(addresses, nobody):
    for path, _ in addresses:
        if path != "/logout/":
            assert nobody.get(path).status_code in ((401,) if path.startswith(MACHINES) else (403, 405)), path


def test_a_viewer_reads_everything_and_writes_nothing(addresses, viewer):
    before = [model.objects.count() for model in (Run, Trace, Scenario, AuditEntry)]
    for path, methods in addresses:
        if path == "/logout/" or path.startswith(MACHINES):
            continue
        refused = next((code for part, code in REFUSED.items() if part in path), None)
        expected = refused or (200 if not methods or "get" in methods else 405)
        expected = 403 if path.startswith((*OPERATORS, *ADMINS)) else expected
        assert viewer.get(path).status_code == expected, path
        if path.startswith("/api/"):
            for method in WRITES:
                refused = (400, 403) if method == "post" and path.endswith(ASKS) else (403,)  # asking is looking
                assert getattr(viewer, method)(path, content_type="application/json").status_code in refused, (
                    method,
                    path,
                )
    assert [model.objects.count() for model in (Run, Trace, Scenario, AuditEntry)] == before


def test_an_operator_is_never_refused_for_the_role(addresses, operator):
    """What the API declares is carried out or refused for its content; what it does not declare is not allowed."""
    for path, methods in addresses:
        if path.startswith((MACHINES, *ADMINS)) or path.endswith("/approve/"):
            continue
        for method in set(WRITES) & methods - {"delete"}:
            answer = getattr(operator, method)(path, {}, content_type="application/json")
            assert answer.status_code in (200, 201, 204, 400, 404, 415), (method, path, answer.content)


def test_an_admin_reads_everything_and_is_never_refused_for_the_role(addresses, admin):
    for path, methods in addresses:
        if path == "/logout/" or path.startswith(MACHINES):
            continue
        refused = next((code for part, code in REFUSED.items() if part in path), None)
        assert admin.get(path).status_code == (refused or (200 if not methods or "get" in methods else 405)), path
        for method in set(WRITES) & methods - {"delete"}:
            answer = getattr(admin, method)(path, {}, content_type="application/json")
            assert answer.status_code in (200, 201, 202, 204, 400, 404, 415), (method, path, answer.content)


def test_a_superuser_is_an_admin_without_a_group(nobody):
    nobody.user.is_superuser = True
    nobody.user.save()
    assert nobody.get("/api/runs/").status_code == 200
    answer = nobody.post("/api/clusters/", {"profile": "oasis", "servers": 2}, content_type="application/json")
    assert answer.status_code == 201
    assert AuditEntry.objects.filter(action="cluster.create", user=nobody.user).count() == 1
    assert nobody.get("/api/accounts/").status_code == 200
