"""Small scenarios and finished runs of them, made by the API from a page that is logged in."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from benchmarks._demo import ended
from tests.browser.conftest import posted


def small_scenario(page: Page, name: str = "Small", jobs: int = 30, servers: int = 10) -> dict[str, Any]:
    """A scenario under OASiS of its own trace and cluster, as the API answers it."""
    made = posted(page, "/api/workloads/", {"profile": "oasis", "jobs": jobs, "servers": servers, "seed": 4})
    ids = {"cluster": made["cluster"]["id"], "trace": made["trace"]["id"]}
    return posted(page, "/api/scenarios/", {"name": name, **ids, "scheduler": "oasis", "seed": 1})


def played_to_its_end(page: Page, scenario: int) -> int:
    """The number of a batch run of the scenario, after its end."""
    run = int(posted(page, "/api/runs/", {"scenario": scenario, "mode": "batch"})["id"])
    ended(page, [run])
    return run
