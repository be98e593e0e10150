"""Where a package of some experiments is missing, they say so, and the others and all pages go on."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import orjson
import pytest

import experiments
from experiments import Arrivals, Options
from scheduling.kernel.registry import names, unavailable
from tests.twin.runtime import prepared

ANSWERS = """
import json, os
from pathlib import Path
os.environ |= {"DJANGO_SETTINGS_MODULE": "twin.config.settings", "LOG_LEVEL": "CRITICAL"}
import django
django.setup()
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
import experiments
call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost"}, raise_request_exception=False)
user = User.objects.create_user("olga")
user.groups.add(Group.objects.get(name="operator"))
client.force_login(user)
post = lambda path: client.post(path, {}, content_type="application/json")
names, listed = experiments.names(), client.get("/api/experiments/")
pages = ["/experiments/", *[f"/experiments/{name}/" for name in names]]
rows = {row["name"]: row for row in listed.json()["experiments"]} if listed.status_code == 200 else {}
lost = [name for name, row in rows.items() if row["unavailable"]]
print(json.dumps({
    "search": client.get("/api/search/?q=oasis").status_code,
    "list": listed.status_code,
    "named": sorted(rows) == sorted(names) and all(row["title"] and row["claim"] for row in rows.values()),
    "reasons": {name: rows[name]["unavailable"] for name in lost},
    "details": sorted({client.get(f"/api/experiments/{name}/").status_code for name in names}),
    "pages": sorted({client.get(page).status_code for page in pages}),
    "refused": {name: (answer.status_code, answer.json()["detail"]) for name in lost[:1]
                for answer in [post(f"/api/experiments/{name}/start/")]},
    "started": post("/api/experiments/start-all/").json(),
}))
"""
PARTS = """
import json
from tests.twin.studies.test_missing_package_experiments import able_parts
print(json.dumps(able_parts()))
"""


def able_parts() -> dict[str, list[str]]:
    """{experiment that can run: schedulers of its parts that are not available}."""
    minutes = [60_000.0 * i for i in range(600)]
    options = Options(arrivals=Arrivals("minutes", minutes, [i % 4 for i in range(len(minutes))]))
    found = {}
    for name in experiments.names():
        if not experiments.unavailable(name):
            parts = next(experiments.experiment(name).run(options))
            found[name] = sorted(set(_schedulers(list(parts.values()))) & unavailable().keys())
    return found


def _schedulers(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from [value] if value in names() else []
    elif isinstance(value, partial):
        yield from _schedulers([*value.args, *value.keywords.values()])
    elif isinstance(value, Mapping):
        yield from _schedulers(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _schedulers(one)


@pytest.mark.slow
@pytest.mark.parametrize("without", ["highspy", "scipy"], indirect=True)
def test_search_list_and_pages_work_and_a_start_is_refused(without, request, tmp_path, monkeypatch):
    for name in ("DATABASE_URL", "BROKER_URL", "LAYER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TWIN_VAR_DIR", str(tmp_path / "var"))
    prepared.fill(tmp_path / "var")
    package = request.node.callspec.params["without"]
    printed, errors, code = without("-c", ANSWERS)
    assert code == 0, errors
    found = orjson.loads(printed.splitlines()[-1])
    assert (found["search"], found["list"], found["details"], found["pages"]) == (200, 200, [200], [200])
    assert found["named"]
    assert "pd_ors_fig11_rounding_gain" in found["reasons"]
    assert "harmony_fig10_jct" not in found["reasons"]
    reason = (
        f"it needs the package {package}, which cannot be imported (No module named '{package}'): pip install -r "
        "requirements.txt installs it"
    )
    assert set(found["reasons"].values()) == {reason}
    ((name, refused),) = found["refused"].items()
    assert refused == [400, f"the experiment {name} cannot run: {reason}"]
    assert len(found["started"]["started"]) > 5
    assert not set(found["started"]["started"]) & found["reasons"].keys()


@pytest.mark.parametrize("without", ["highspy", "scipy"], indirect=True)
def test_an_experiment_that_can_run_has_all_its_schedulers(without):
    printed, errors, code = without("-c", PARTS)
    assert code == 0, errors
    found = orjson.loads(printed)
    assert found
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_with_all_packages_every_experiment_can_run():
    assert {name for name in experiments.names() if experiments.unavailable(name)} == set()


def test_the_digest_of_the_code_does_not_need_the_package(monkeypatch):
    def version(library: str) -> str:
        raise experiments.PackageNotFoundError(library)

    present = experiments._core()
    monkeypatch.setattr(experiments, "version", version)
    assert experiments._core.__wrapped__() != present
