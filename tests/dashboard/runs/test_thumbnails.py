"""The thumbnail of a run: every cell against a plain recount, its span, and its cache."""

from __future__ import annotations

from base64 import b64decode
from fractions import Fraction
from itertools import pairwise
from math import ceil

import pytest

from scheduling.model.bars import CLOUD, COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import RESOURCES
from tests.dashboard.builders import played
from twin.analysis import thumbnail
from twin.eventlog.fold import ARRIVED, DIED, NEVER, WORKER
from twin.eventlog.stored_states import at
from twin.models import Run
from twin.scenarios import store


@pytest.fixture
def run_of(make_run):
    return lambda scheduler, servers: played(scheduler, jobs=20, servers=servers)


def holdings(run: Run, found: dict) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """(server, start, end, amounts) of all that is held, one by one."""
    _, jobs = store.of_run(run)
    state = at(run.pk)
    if found["measure"] == "machines":
        return sorted({
            (server, begin, 2**53 if end == NEVER else end, (1,))
            for begin, end, data in state.groups for server in data["servers"]
        })  # fmt: skip
    rows = []
    for bar in state.bars.rows.tolist():
        if bar[DIED] != NEVER or bar[SERVER] < 0:
            continue
        demand = (jobs[bar[JOB]].worker, jobs[bar[JOB]].ps)[bar[ROLE]]
        amounts = (1,) if found["measure"] == "workers" else tuple(bar[COUNT] * demand[RESOURCES.index(r)]
                                                                   for r in found["scale"])  # fmt: skip
        rows.append((bar[SERVER], bar[START], bar[END], amounts))
    return rows


def capacity_of(server, found: dict) -> tuple[int, ...]:
    if found["measure"] == "machines":
        return (1,)
    if found["measure"] == "workers":
        return (sum(server.worker_lanes.values()) + sum(server.ps_lanes.values()),)
    return tuple(server.capacity[RESOURCES.index(name)] for name in found["scale"])


@pytest.mark.parametrize(
    ("scheduler", "servers"), [("oasis", 8), ("oasis", 50), ("drf", 20), ("a_online", 8), ("harmony", 20)]
)
def test_every_cell_is_the_largest_mean_share_of_its_servers(viewer, run_of, scheduler, servers):
    run = run_of(scheduler, servers)
    found = viewer.get(f"/api/runs/{run.pk}/thumbnail/").json()
    cluster, _ = store.of_run(run)
    cells = b64decode(found["raster"])
    assert found["columns"] * len(found["rows"]) == len(cells)
    assert len(found["rows"]) <= thumbnail.MAX_ROWS
    assert sum(row["servers"] for row in found["rows"]) == len(cluster.servers)
    span = found["to_ms"] - found["from_ms"]
    edges = [found["from_ms"] + span * k // found["columns"] for k in range(found["columns"] + 1)]
    by_site = {site: [i for i, s in enumerate(cluster.servers) if s.site == site] for site in ("edge", "cloud")}
    held = holdings(run, found)
    servers = [row for row in found["rows"] if row["site"] != thumbnail.UNLIMITED]
    for r, row in enumerate(servers):
        own = [by_site[row["site"]].pop(0) for _ in range(row["servers"])]
        capacity = [sum(parts) for parts in zip(*(capacity_of(cluster.servers[i], found) for i in own), strict=True)]
        mine = [one for one in held if one[0] in own]
        for k in range(found["columns"]):
            low, high = edges[k], edges[k + 1]
            used = [0] * len(capacity)
            for _, start, end, amounts in mine:
                overlap = max(0, min(end, high) - max(start, low))
                used = [u + overlap * a for u, a in zip(used, amounts, strict=True)]
            shares = [Fraction(100 * u, c * (high - low)) for u, c in zip(used, capacity, strict=True) if c]
            assert cells[r * found["columns"] + k] == (min(100, ceil(max(shares))) if shares else thumbnail.NONE)
    assert not any(by_site.values())
    assert max(cells) > 0


def test_the_last_row_is_the_unlimited_cloud_relative_to_its_peak(viewer, run_of):
    run = run_of("a_online", 8)
    found = viewer.get(f"/api/runs/{run.pk}/thumbnail/").json()
    assert [row for row in found["rows"] if not row["servers"]] == [{"site": thumbnail.UNLIMITED, "servers": 0}]
    assert found["rows"][-1]["site"] == thumbnail.UNLIMITED
    span, columns = found["to_ms"] - found["from_ms"], found["columns"]
    edges = [found["from_ms"] + span * k // columns for k in range(columns + 1)]
    bars = [bar for bar in at(run.pk).bars.rows.tolist()
            if bar[SERVER] == CLOUD and bar[ROLE] == WORKER and bar[DIED] == NEVER]  # fmt: skip
    means = [
        Fraction(sum(bar[COUNT] * max(0, min(bar[END], high) - max(bar[START], low)) for bar in bars), high - low)
        for low, high in pairwise(edges)
    ]
    assert list(b64decode(found["raster"])[-columns:]) == [ceil(100 * mean / max(means)) for mean in means]
    assert max(means) > 0


def test_the_span_of_an_ended_run_is_from_the_first_arrival_to_its_end(viewer, finished_run):
    found = viewer.get(f"/api/runs/{finished_run.pk}/thumbnail/").json()
    arrived = at(finished_run.pk).jobs.rows[:, ARRIVED]
    assert (found["from_ms"], found["to_ms"]) == (arrived.min(), finished_run.sim_ms)
    assert (found["seq"], found["sim_ms"]) == (finished_run.last_seq, finished_run.sim_ms)


def test_an_active_run_shows_what_is_planned_and_at_most_as_much_as_has_passed(viewer, finished_run):
    starts = sorted(at(finished_run.pk).bars.rows[:, START].tolist())
    half = starts[len(starts) // 2] + 1
    state = at(finished_run.pk, at_ms=half)
    run = finished_run
    run.status, run.sim_ms = Run.RUNNING, half
    arrived = state.jobs.rows[:, ARRIVED]
    from_ms, to_ms = thumbnail._span(run, state, half, 1)
    assert from_ms == arrived[arrived >= 0].min()
    ends = [bar[END] for bar in state.bars.rows.tolist() if bar[DIED] == NEVER]
    assert to_ms == min(max(ends, default=half), half + half - from_ms)
    assert to_ms > half


def test_a_run_without_events_has_an_empty_raster(viewer, make_run):
    found = viewer.get(f"/api/runs/{make_run().pk}/thumbnail/").json()
    assert set(b64decode(found["raster"])) <= {0, thumbnail.NONE}
    assert found["to_ms"] > found["from_ms"]


def test_it_is_computed_once_per_event(viewer, finished_run, monkeypatch):
    computed = []
    real = thumbnail._thumbnail
    monkeypatch.setattr(thumbnail, "_thumbnail", lambda run: computed.append(run.last_seq) or real(run))
    for _ in range(2):
        viewer.get(f"/api/runs/{finished_run.pk}/thumbnail/")
    Run.objects.filter(pk=finished_run.pk).update(status=Run.CANCELLED)
    viewer.get(f"/api/runs/{finished_run.pk}/thumbnail/")
    assert computed == [finished_run.last_seq] * 2


def test_lists_are_filtered_by_status_and_scheduler_and_count_what_other_filters_leave(viewer, make_run):
    for scheduler, status in (("fifo", Run.FINISHED), ("fifo", Run.FAILED), ("drf", Run.FINISHED)):
        run = make_run(scheduler=scheduler)
        Run.objects.filter(pk=run.pk).update(status=status)
    page = viewer.get("/api/runs/", {"status": "finished", "scheduler": "fifo"}).json()
    assert page["count"] == len(page["results"]) == 1
    assert (page["results"][0]["status"], page["results"][0]["scheduler"]) == ("finished", "fifo")
    assert {status: n for status, n in page["by_status"].items() if n} == {"finished": 1, "failed": 1}
    assert page["by_scheduler"] == {"fifo": 1, "drf": 1}
    assert page["scheduler_titles"] == {"fifo": "FIFO", "drf": "DRF"}
    assert viewer.get("/api/runs/", {"q": "drf", "scheduler": "fifo"}).json()["count"] == 0


@pytest.mark.parametrize(("name", "value"), [("status", "finnished"), ("scheduler", "fifi")])
def test_an_unknown_status_or_scheduler_is_refused_with_the_nearest(viewer, db, name, value):
    answer = viewer.get("/api/runs/", {name: value})
    assert answer.status_code == 400
    assert value in answer.json()["detail"]
    assert {"status": "finished", "scheduler": "fifo"}[name] in answer.json()["detail"]
