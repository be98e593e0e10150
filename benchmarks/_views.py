"""Views of the screenshots: the pages of a demo twin, states that an action on a page leads to, and empty pages."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from benchmarks._demo import ask, edited, ended, swept

MAX_GENERATED_JOBS = 20_000  # of a generated workload
CLUSTER = "shown"  # name of the live cluster, which posts its events
LOADS, LOAD_MS = 12, 10_000  # of its page, until it shows a job
POSTED = [
    ("node.changed", "gpu1", 900, {"gpus": 4, "cpus": 64, "queues": ["edge"]}),
    ("node.changed", "gpu2", 900, {"gpus": 8, "cpus": 128, "queues": ["batch"]}),
    ("job.submitted", "1", 600, {"gpus": 2}),
    ("job.started", "1", 590, {"shares": [{"node": "gpu1", "gpus": 2, "gpu_ids": [0, 1]}]}),
    ("job.submitted", "2", 300, {"gpus": 8, "reason": "Resources"}),
]


class View(NamedTuple):
    """path: of the page; act: what is done on it, once it is loaded; media: print for the printed page."""

    path: str
    act: Callable[[Any], object] | None = None
    media: str = "screen"


def views(page: Any, url: str, big: bool) -> Mapping[str, View]:
    """{name: view} of a demo twin, once its runs have ended; big: also a run of 20,000 jobs, which takes minutes."""
    found = {name: View(path) for name, path in _pages(page).items()}
    run = found["run"].path
    found |= {name: View(path) for name, path in _live(page, url).items()}
    found |= {
        "run-heat": View(f"{run}?prices=heat", lambda page: page.locator("#panel-prices").scroll_into_view_if_needed()),
        "run-print": View(run, media="print"),
        "delete-dialog": View(run, ask_to_delete),
        "palette": View("/", lambda page: page.keyboard.press("Control+k")),
        "account-menu": View("/", lambda page: page.locator("button.who").click()),
        "compared-print": View(found["compared"].path, media="print"),
        "overview-table": View("/?view=table"),
        "nothing-found": View("/?q=nothing-has-this-name"),
        "missing": View("/runs/987654/"),
        "missing-trace": View("/traces/987654/"),
    }
    if big:
        found["run-big"] = View(_big(page))
    return found


def ask_to_delete(page: Any) -> None:
    """Request to delete the run, up to its dialog; on a phone its buttons are folded."""
    controls = page.locator("#fold")
    if controls.is_visible():
        controls.click()
    page.get_by_role("button", name="Delete run").click()


EMPTY = {
    f"empty-{name}": View(path)
    for name, path in {
        "overview": "/", "wall": "/wall/", "live": "/live/", "alerts": "/alerts/", "traces": "/traces/",
        "clusters": "/clusters/", "scenarios": "/scenarios/", "compare": "/compare/", "sweeps": "/sweeps/",
        "audit": "/audit/?q=nothing", "tokens": "/settings/tokens/", "teams": "/settings/teams/",
        "retention": "/settings/retention/",
    }.items()
}  # fmt: skip


def _pages(page: Any) -> Mapping[str, str]:
    """{name: path} of every page, after their runs have ended: a race of three, Harmony's groups, and a sweep."""
    race = ask(page, "/api/scenarios/1/race/", {"schedulers": ["oasis", "fifo", "drf"]})
    made = ask(page, "/api/workloads/", {"profile": "harmony", "jobs": 40, "servers": 20})
    harmony = {
        "name": "Harmony, 40 jobs on 20 machines",
        "scheduler": "harmony",
        "cluster": made["cluster"]["id"],
        "trace": made["trace"]["id"],
    }
    groups = ask(page, "/api/runs/", {"scenario": ask(page, "/api/scenarios/", harmony)["id"], "mode": "batch"})
    scenario = edited(page)
    sweep = swept(page, scenario)
    runs = [run["id"] for run in race["runs"]]
    ended(page, [*runs, groups["id"]])
    first = f"/runs/{runs[0]}/"
    return {
        "login": "/login/", "overview": "/", "wall": "/wall/", "traces": "/traces/", "trace": "/traces/1/",
        "clusters": "/clusters/", "scenarios": "/scenarios/", "scenario": f"/scenarios/{scenario}/",
        "sweeps": "/sweeps/", "sweep": f"/sweeps/{sweep}/", "run": first, "run-live": "/runs/1/",
        "run-past": f"{first}?t=150000000&job=12&colour=state", "run-jobs": f"{first}?rows=jobs&colour=payoff&events=1",
        "run-groups": f"/runs/{groups['id']}/", "server": f"{first}servers/5/?t=150000000",
        "server-groups": f"/runs/{groups['id']}/servers/3/?t=30000000", "compare": "/compare/",
        "compared": race["compare"], "experiments": "/experiments/",
        "experiment": "/experiments/oasis_fig07_testbed_utility/", "audit": "/audit/", "alerts": "/alerts/",
        "account": "/settings/account/", "accounts": "/settings/accounts/", "teams": "/settings/teams/",
        "tokens": "/settings/tokens/", "retention": "/settings/retention/", "styleguide": "/styleguide/",
    }  # fmt: skip


def _live(page: Any, url: str) -> Mapping[str, str]:
    """{name: path} of the pages of a live cluster with two nodes, a job that runs and one that waits."""
    token = ask(page, "/api/tokens/", {"name": CLUSTER, "scopes": [f"ingest:{CLUSTER}"]})["value"]
    now = datetime.now(UTC)
    events = [
        {
            "specversion": "1.0",
            "id": str(number),
            "source": f"/{CLUSTER}",
            "type": kind,
            "subject": subject,
            "time": (now - timedelta(seconds=ago_s)).isoformat(),
            "data": data,
        }
        for number, (kind, subject, ago_s, data) in enumerate(POSTED)
    ]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/cloudevents-batch+json"}
    address = f"{url}/api/ingest/{CLUSTER}/events"
    urllib.request.urlopen(urllib.request.Request(address, json.dumps(events).encode(), headers)).close()
    ask(page, "/api/connections/", {"name": CLUSTER, "connector": "push", "parameters": {"source": CLUSTER}})
    own = f"/live/{CLUSTER}/"
    _until_a_job_is_shown(page, own)
    return {
        "live": "/live/", "connect": "/live/connect/", "live-cluster": own, "live-plans": f"{own}plans/",
        "live-shadows": f"{own}shadows/", "live-fidelity": f"{own}fidelity/",
    }  # fmt: skip


def _until_a_job_is_shown(page: Any, path: str) -> None:
    """Loads of the page of a live cluster: the first poll of the follower may come after it."""
    from playwright.sync_api import TimeoutError as Late

    for _ in range(LOADS):
        page.goto(path)
        try:
            page.wait_for_function("() => window.twin?.store.bars.length > 0", timeout=LOAD_MS)
            return
        except Late:
            continue
    raise RuntimeError(f"{path} shows no job after {LOADS} loads of {LOAD_MS / 1000:g} s; is the follower running?")


def _big(page: Any) -> str:
    made = ask(page, "/api/workloads/", {"profile": "oasis", "jobs": MAX_GENERATED_JOBS, "servers": 1000})
    own = {"name": f"{MAX_GENERATED_JOBS:,} jobs", "scheduler": "fifo", "cluster": made["cluster"]["id"]}
    scenario = ask(page, "/api/scenarios/", own | {"trace": made["trace"]["id"]})
    run = ask(page, "/api/runs/", {"scenario": scenario["id"], "mode": "batch"})["id"]
    ended(page, [run])
    return f"/runs/{run}/"
