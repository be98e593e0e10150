"""Allocation as a share of the capacity at that time: every cell against a plain recount, for a run whose servers are
resized, added, removed and unavailable.
"""

from base64 import b64decode
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import pytest

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import RESOURCES
from tests.twin.runtime.queues import work
from twin.analysis import levels, state_task, stored_levels, thumbnail
from twin.analysis.situation import load
from twin.eventlog import stored_states
from twin.eventlog.fold import DIED, NEVER
from twin.infra.columns import unpack
from twin.models import Run
from twin.runs import runner
from twin.scenarios import store

pytestmark = pytest.mark.django_db
HOUR_MS = 3_600_000
RESIZED_MS, ADDED_MS, REMOVED_MS, FAILED_MS = 2 * HOUR_MS + 1_234_567, 3 * HOUR_MS, 4 * HOUR_MS + 99, 3 * HOUR_MS + 7
GROWN, EMPTIED, COPIED, LEAVING = range(4)  # servers
OPEN = 2**60


def edits(names):
    return [
        {"verb": "fail_servers", "servers": names[GROWN], "for_ms": 2 * HOUR_MS, "at_ms": FAILED_MS},
        {"verb": "resize_servers", "servers": names[GROWN], "resource": "cpu", "amount": 999, "at_ms": RESIZED_MS},
        {"verb": "resize_servers", "servers": names[EMPTIED], "resource": "gpu", "amount": 0, "at_ms": RESIZED_MS},
        {"verb": "add_servers", "like": names[COPIED], "count": 3, "at_ms": ADDED_MS},
        {"verb": "remove_servers", "servers": names[LEAVING], "at_ms": REMOVED_MS},
    ]


@pytest.fixture
def edited(make_run, monkeypatch):
    """edited(scheduler) -> an ended run with the edits."""
    monkeypatch.setattr(levels, "SETTLE_BARS", 3)
    monkeypatch.setattr(levels, "COLUMNS", 128)

    def make(scheduler):
        run = make_run(scheduler=scheduler, jobs=20)
        names = [server.name for server in store.cluster_of(run.scenario.cluster_id).servers]
        Run.objects.filter(pk=run.pk).update(edits=edits(names))
        runner.enqueue(run.pk)
        work()
        run.refresh_from_db()
        assert run.status == Run.FINISHED
        assert run.sim_ms > REMOVED_MS + HOUR_MS
        return run

    return make


@pytest.fixture
def large(edited, settings):
    """large(scheduler) -> the same above the limit, with its levels."""

    def make(scheduler):
        run = edited(scheduler)
        settings.LARGE_RUN_EVENTS = run.last_seq - 1
        state_task.run(run.pk)
        return run

    return make


def offers(run, scale):
    """[server] list of (from, until, amount of each resource): what it offers at which times."""
    servers = store.clusters(run)[0][1].servers
    found = [[(0, OPEN, server.capacity)] for server in servers]
    cpu, gpu = RESOURCES.index("cpu"), RESOURCES.index("gpu")
    for server, resource, amount in ((GROWN, cpu, 999_000), (EMPTIED, gpu, 0)):
        before = servers[server].capacity
        after = [amount if r == resource else had for r, had in enumerate(before)]
        found[server] = [(0, RESIZED_MS, before), (RESIZED_MS, OPEN, after)]
    found[LEAVING] = [(0, REMOVED_MS, servers[LEAVING].capacity)]
    found += [[(ADDED_MS, OPEN, servers[COPIED].capacity)] for _ in range(3)]
    columns = [RESOURCES.index(name) for name in scale]
    return [[(begin, end, [amounts[r] for r in columns]) for begin, end, amounts in one] for one in found]


def holdings(run, scale):
    """[server] list of (from, until, amount of each resource): what bars hold."""
    cluster, jobs = store.of_run(run)
    found = [[] for _ in cluster.servers]
    for bar in stored_states.at(run.pk).bars.rows.tolist():
        if bar[DIED] == NEVER and bar[SERVER] >= 0:
            demand = (jobs[bar[JOB]].worker, jobs[bar[JOB]].ps)[bar[ROLE]]
            amounts = [bar[COUNT] * demand[RESOURCES.index(name)] for name in scale]
            found[bar[SERVER]].append((bar[START], bar[END], amounts))
    return found


def recount(run, found, edges):
    """[row][column][resource] share as a fraction; None without capacity."""
    scale = found["scale"]
    offered, held = offers(run, scale), holdings(run, scale)
    rows = _rows(store.of_run(run)[0].servers, found["rows"])

    def total(of, own, low, high, r):
        return sum(max(0, min(end, high) - max(begin, low)) * amounts[r] for i in own for begin, end, amounts in of[i])

    def share(own, low, high, r):
        most = total(offered, own, low, high, r)
        return Fraction(total(held, own, low, high, r), most) if most else None

    return [[[share(own, low, high, r) for r in range(len(scale))] for low, high in pairwise(edges)] for own in rows]


def largest(shares):
    """Of a cell, in per cent, rounded up."""
    known = [share for share in shares if share is not None]
    return min(100, ceil(100 * max(known))) if known else thumbnail.NONE


def cells(found):
    return np.frombuffer(b64decode(found["raster"]), dtype=np.uint8).reshape(len(found["rows"]), -1).tolist()


@pytest.mark.parametrize("rows", [128, 5])
@pytest.mark.parametrize("scheduler", ["fifo", "drf", "themis"])
def test_every_cell_of_the_levels_is_of_the_capacity_then(viewer, large, monkeypatch, scheduler, rows):
    monkeypatch.setattr(levels, "MAX_ROWS", rows)
    run = large(scheduler)
    found = stored_levels.of(run)
    edges = found.columns["edges"].tolist()
    true = recount(run, found.meta, edges)
    stored = [[[levels.NONE if s is None else int(s * levels.FULL) for s in cell] for cell in row] for row in true]
    assert found.raster.tolist() == stored
    assert any(low < RESIZED_MS < high for low, high in pairwise(edges)), "an interval contains the edit"
    assert max(share or 0 for row in true for cell in row for share in cell) <= 1
    if rows == 128:
        assert any(None in cell and set(cell) != {None} for row in true for cell in row), "of one resource nothing"

    for columns in (128, 32, 1):
        page = viewer.get(f"/api/runs/{run.pk}/levels/", {"columns": columns}).json()
        assert page["source"] == "stored"
        width = 128 // columns
        means = [
            [[_mean([cell[r] for cell in row[k : k + width]]) for r in range(len(row[0]))]
             for k in range(0, 128, width)]
            for row in stored
        ]  # fmt: skip
        assert cells(page) == [[largest(cell) for cell in row] for row in means]


def _mean(stored):
    """Of the intervals with capacity."""
    known = [share for share in stored if share != levels.NONE]
    return Fraction(sum(known), len(known) * levels.FULL) if known else None


@pytest.mark.parametrize("edit_ms", [RESIZED_MS, ADDED_MS, REMOVED_MS, FAILED_MS])
def test_every_cell_of_a_window_from_the_log_is_of_the_capacity_then(viewer, large, edit_ms):
    run = large("drf")
    window = {"from_ms": edit_ms - 1_000, "to_ms": edit_ms + 900, "columns": 19}
    found = viewer.get(f"/api/runs/{run.pk}/levels/", window).json()
    assert found["source"] == "log"
    assert cells(found) == [[largest(cell) for cell in row] for row in recount(run, found, found["edges"])]


@pytest.mark.parametrize("scheduler", ["fifo", "drf", "themis"])
def test_every_cell_of_the_thumbnail_is_of_the_capacity_then(viewer, edited, scheduler):
    run = edited(scheduler)
    found = viewer.get(f"/api/runs/{run.pk}/thumbnail/").json()
    span, columns = found["to_ms"] - found["from_ms"], found["columns"]
    edges = [found["from_ms"] + span * k // columns for k in range(columns + 1)]
    assert cells(found) == [[largest(cell) for cell in row] for row in recount(run, found, edges)]


@pytest.mark.parametrize("scheduler", ["srtf", "gavel"])
def test_typed_workers_and_machines_count_from_their_addition_to_their_removal(large, scheduler):
    run = large(scheduler)
    found = stored_levels.of(run)
    assert found.meta["measure"] == {"srtf": "workers", "gavel": "machines"}[scheduler]
    begins, ends = found.columns["edges"][:-1], found.columns["edges"][1:]
    none = (found.raster == levels.NONE).all(axis=2)
    servers = store.of_run(run)[0].servers
    at = {names[0]: row for row, names in enumerate(_rows(servers, found.meta["rows"]))}
    assert len(at) == len(servers)
    assert (none[at[LEAVING]] == (begins >= REMOVED_MS)).all()
    for added in range(len(servers) - 3, len(servers)):
        assert (none[at[added]] == (ends <= ADDED_MS)).all()
    without_gpu = begins >= RESIZED_MS if scheduler == "srtf" else begins < 0  # has no typed workers, but is a machine
    assert (none[at[EMPTIED]] == without_gpu).all()
    others = {*range(len(servers) - 3)} - {LEAVING, EMPTIED}
    assert not none[[at[server] for server in others]].any()


def _rows(servers, rows):
    """[row] servers."""
    left = {row["site"]: [i for i, own in enumerate(servers) if own.site == row["site"]] for row in rows}
    return [[left[row["site"]].pop(0) for _ in range(row["servers"])] for row in rows]


def test_a_share_above_what_a_cell_can_state_is_not_taken_for_no_capacity(large):
    run = large("drf")
    made = levels.Levels(run)
    made.read()
    none = stored_levels.of(run).raster == levels.NONE
    made.used *= 1_000
    _, columns = unpack(made.packed())
    raster = columns["raster"].reshape(none.shape)
    assert raster[~none].max() == levels.NONE - 1
    assert ((raster == levels.NONE) == none).all()


def test_levels_of_an_older_version_are_computed_again(large):
    run = large("drf")
    run.folded.version = stored_levels.VERSION - 1
    run.folded.save()
    assert stored_levels.of(run) is None
    assert stored_levels.due() == run.pk
    state_task.run(run.pk)
    assert stored_levels.of(run) is not None


@pytest.mark.parametrize("scheduler", ["fifo", "themis"])
def test_curves_of_the_situation_divide_by_the_capacity_of_then(edited, scheduler):
    run = edited(scheduler)
    clusters = store.clusters(run)
    cluster, jobs = clusters[-1][1], store.of_run(run)[1]
    state = stored_states.at(run.pk)
    held = load.held(run, state, cluster, jobs, run.sim_ms, 0)
    curve = load.curve(held, 0, run.sim_ms, 61)
    phases = {from_ms: then.servers for from_ms, then in clusters}
    for name, shares in zip(held.scale, curve["shares"], strict=True):
        resource = RESOURCES.index(name)
        for at_ms, share in zip(curve["at_ms"], shares, strict=True):
            servers = phases[max(from_ms for from_ms in phases if from_ms <= at_ms)]
            away = [cluster.servers[i].is_away(at_ms) for i in range(len(servers))]
            total = sum(one.capacity[resource] for one, gone in zip(servers, away, strict=True) if not gone)
            used = sum(
                (jobs[bar[JOB]].worker if bar[ROLE] == 0 else jobs[bar[JOB]].ps)[resource] * bar[COUNT]
                for bar in state.bars.rows.tolist()
                if bar[DIED] == NEVER and bar[START] <= at_ms < bar[END] and not away[bar[SERVER]]
            )
            assert share == (round(used / total, 4) if total else None), (name, at_ms)
