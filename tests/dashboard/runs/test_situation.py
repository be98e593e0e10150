"""The situation of a run: load of servers, queue, next events and points of attention, against plain recounts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dashboard.readmodels import run_summary
from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START
from tests.dashboard.builders import played
from tests.twin.mirror.builders import NODES, job, polled, running, suspended
from tests.twin.mirror.builders_stored import following
from tests.twin.runtime.queues import work
from tests.twin.studies.builders_shadows import poll
from twin.analysis import situation
from twin.analysis.situation import queue
from twin.connectors.facts import DOWN
from twin.eventlog.fold import DIED, NEVER
from twin.eventlog.job_states import PLANNED, QUEUED, STATES, job_states
from twin.eventlog.stored_states import at
from twin.models import Connection, Forecasting, Run
from twin.runs import runner
from twin.scenarios import store

HOUR = 3_600_000


@pytest.fixture
def run_of(make_run):
    return lambda scheduler: played(scheduler, jobs=20, servers=8)


def seen_at(viewer, run: Run, at_ms: int, monkeypatch) -> dict:
    """The situation as it was at a moment of the log: the state of then, and the run's clock there."""

    class Then:
        def __init__(self, of: Run) -> None:
            self.state = at(of.pk, at_ms=at_ms)

        def __enter__(self):
            return self.state

        def __exit__(self, *error: object) -> None:
            pass

    for module in (situation, run_summary):
        monkeypatch.setattr(module, "Newest", Then)
    Run.objects.filter(pk=run.pk).update(sim_ms=at_ms)
    return viewer.get(f"/api/runs/{run.pk}/situation/").json()


@pytest.mark.parametrize("scheduler", ["oasis", "fifo"])
def test_allocated_shares_are_sums_of_demands(viewer, run_of, scheduler, monkeypatch):
    run = run_of(scheduler)
    cluster, jobs = store.of_run(run)
    starts = sorted(at(run.pk).bars.rows[:, START].tolist())
    for moment in (starts[len(starts) // 3], starts[len(starts) // 2]):
        found = seen_at(viewer, run, moment, monkeypatch)
        load = found["load"]
        assert (load["measure"], load["scale"][0]) == ("resources", "gpu")
        state = at(run.pk, at_ms=moment)
        used = [[0] * 5 for _ in cluster.servers]
        on: list[set[int]] = [set() for _ in cluster.servers]
        for bar in state.bars.rows.tolist():
            if bar[DIED] == NEVER and bar[START] <= moment < bar[END] and bar[SERVER] >= 0:
                job = jobs[bar[JOB]]
                demand = (job.worker, job.ps)[bar[ROLE]]
                used[bar[SERVER]] = [u + bar[COUNT] * d for u, d in zip(used[bar[SERVER]], demand, strict=True)]
                on[bar[SERVER]].add(bar[JOB])
        assert any(map(any, used))
        for i, server in enumerate(cluster.servers):
            for r in range(5):
                share = int(used[i][r] * 1000 / server.capacity[r] + 0.5) if server.capacity[r] else -1
                assert load["servers"]["shares"][r][i] == share
        assert load["servers"]["jobs"] == [len(own) for own in on]
        total = sum(server.capacity[0] for server in cluster.servers)
        assert load["curve"]["shares"][0][-1] == pytest.approx(sum(u[0] for u in used) / total, abs=1e-4)
        assert sum(site["used"][0] for site in load["sites"]) == sum(u[0] for u in used)
        summary = {site["site"]: site for site in viewer.get(f"/api/runs/{run.pk}/now/").json()["sites"]}
        for site in load["sites"]:
            shares = [u / c for u, c in zip(site["used"], site["capacity"], strict=True) if c]
            assert list(summary[site["site"]]["allocated"].values()) == shares, "the summary of the run says the same"


@pytest.mark.parametrize(
    ("scheduler", "left"), [("drf", 12), ("dorm", 12), ("srtf", 6), ("oasis", 0), ("fifo", 0), ("harmony", 9)]
)
def test_the_curve_of_the_queue_follows_the_states_of_jobs_to_the_end(viewer, make_run, scheduler, left):
    """A job that the run leaves unfinished does not wait after the end."""
    run = make_run(scheduler=scheduler, jobs=14, servers=3)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    state = at(run.pk)

    def waiting(at_ms: int) -> int:
        return int(np.isin(job_states(state, at_ms), (QUEUED, PLANNED)).sum())

    found = viewer.get(f"/api/runs/{run.pk}/situation/").json()["queue"]
    shown = found["curve"]
    assert (found["total"], shown["waiting"][-1]) == (0, 0)
    assert shown["waiting"] == [waiting(at_ms) for at_ms in shown["at_ms"]]
    whole = queue.curve(state, job_states(state, run.sim_ms), 0, run.sim_ms, 200)
    assert whole["waiting"] == [waiting(at_ms) for at_ms in whole["at_ms"]]
    assert waiting(run.sim_ms - 1) == left


@pytest.mark.parametrize("scheduler", ["oasis", "fifo", "a_online", "harmony"])
def test_the_queue_is_what_the_states_of_jobs_say_at_each_time(viewer, run_of, scheduler, monkeypatch):
    run = run_of(scheduler)
    found = seen_at(viewer, run, run.sim_ms // 2, monkeypatch)
    curve = found["queue"]["curve"]
    state = at(run.pk, at_ms=run.sim_ms // 2)
    codes = [STATES[code] for code in job_states(state, run.sim_ms // 2) if code >= 0]
    waiting = sum(code in ("queued", "planned") for code in codes)
    assert (found["queue"]["total"], found["rejected"]["total"]) == (waiting, codes.count("rejected"))
    assert (curve["waiting"][-1], curve["rejected"][-1]) == (waiting, codes.count("rejected"))
    assert len(found["queue"]["oldest"]) == min(6, waiting)
    assert [row["since_ms"] for row in found["queue"]["oldest"]] == sorted(
        row["since_ms"] for row in found["queue"]["oldest"]
    )
    assert [row["at_ms"] for row in found["next"]] == sorted(row["at_ms"] for row in found["next"])
    assert all(row["at_ms"] > found["sim_ms"] for row in found["next"])


def test_typed_workers_and_machines_have_measures_of_their_own(viewer, run_of, monkeypatch):
    load = seen_at(viewer, run_of("a_online"), HOUR, monkeypatch)["load"]
    assert (load["measure"], load["scale"]) == ("workers", ["workers"])
    for run in Run.objects.all():
        for site in viewer.get(f"/api/runs/{run.pk}/now/").json()["sites"]:
            assert (site["allocated"], site["capacity"]["gpu"] > 0) == ({}, True), "typed workers take no resources"
    run = run_of("harmony")
    moment = run.sim_ms // 2
    load = seen_at(viewer, run, moment, monkeypatch)["load"]
    assert (load["measure"], load["scale"]) == ("machines", ["machines"])
    state = at(run.pk, at_ms=moment)
    machines = {s for begin, end, data in state.groups for s in data["servers"] if begin <= moment and end == NEVER}
    assert machines
    assert [i for i, share in enumerate(load["servers"]["shares"][0]) if share == 1000] == sorted(machines)
    assert load["curve"]["shares"][0][-1] == pytest.approx(len(machines) / len(load["servers"]["name"]), abs=1e-4)


def test_a_finished_run_has_nothing_next_and_its_rejected_jobs_with_reasons(viewer, run_of):
    run = run_of("oasis")
    found = viewer.get(f"/api/runs/{run.pk}/situation/").json()
    assert found["next"] == []
    assert found["queue"]["total"] == 0
    assert found["utility"] == pytest.approx(run.metrics["total_utility"])
    assert found["rejected"]["total"] == run.metrics["rejected"]
    assert sum(one["jobs"] for one in found["rejected"]["reasons"]) <= found["rejected"]["recent"]


def test_starts_of_a_followed_cluster_are_those_of_its_forecast(viewer, db):
    """24 jobs of 10 minutes on 4 places, 2 minutes apart: the jobs that wait after half an hour have a forecast."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    one.apply(poll(1_800))
    run = connection.run
    found = viewer.get(f"/api/runs/{run.pk}/situation/").json()
    assert found["window_ms"] == HOUR
    waiting = [row["job"] for row in found["queue"]["oldest"]]
    assert waiting == [12, 13, 14]
    assert (found["next"], [row["forecast_ms"] for row in found["queue"]["oldest"]]) == ([], [None] * 3)
    late, soon = found["sim_ms"] - 5, found["sim_ms"] + 60_000
    rows = [
        {"job": waiting[0], "start_ms": late}, {"job": waiting[1], "start_ms": soon},
        {"job": waiting[2], "start_ms": None, "never": "It is held."},
    ]  # fmt: skip
    ends = [{"job": 0, "finish_ms": late}, {"job": 8, "finish_ms": late}, {"job": 9, "finish_ms": soon + 1}]
    Forecasting.objects.create(connection=connection, run=run, rows=rows, ends=ends)
    one.apply(poll(1_801))
    found = viewer.get(f"/api/runs/{run.pk}/situation/").json()
    now = found["sim_ms"]
    assert [(row["kind"], row["job"], row["at_ms"]) for row in found["next"]] == [
        ("forecast", waiting[0], now + 1),
        ("forecast_finish", 8, now + 1),
        ("forecast", waiting[1], soon),
        ("forecast_finish", 9, soon + 1),
    ], "job 0 has ended"  # fmt: skip
    assert [row["forecast_ms"] for row in found["queue"]["oldest"]] == [now + 1, soon, None, None]
    assert [row["never"] for row in found["queue"]["oldest"]] == ["", "", "It is held.", ""]


def test_curves_of_a_live_cluster_begin_with_its_first_poll(viewer, db):
    """Nothing is known of the time before: a curve at 0 would be a wrong statement."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    one.apply(polled(0, running("1", 600)))
    one.apply(polled(900, running("1", 600)))
    found = viewer.get(f"/api/runs/{connection.run.pk}/situation/").json()
    begin = found["sim_ms"] - 900_000
    assert (found["load"]["curve"]["at_ms"][0], found["queue"]["curve"]["at_ms"][0]) == (begin, begin)
    assert begin > 0


def test_jobs_on_a_node_that_is_down_are_no_part_of_what_is_allocated(viewer, db):
    """Two nodes of 4 GPUs; `1` holds 2 of the first, `2` 2 of the second, which is down from second 1,800 to 2,400."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    jobs = (running("1", 600, node="edge1"), running("2", 600, node="cloud1"))
    down = (NODES[0], replace(NODES[1], state=DOWN))
    one.apply(polled(0))
    one.apply(polled(600, *jobs))
    one.apply(polled(1_800, *jobs, nodes=down))
    one.apply(polled(2_000, *jobs, nodes=down))
    run = connection.run
    load = viewer.get(f"/api/runs/{run.pk}/situation/").json()["load"]
    used, capacity = [sum(site[key][0] for site in load["sites"]) for key in ("used", "capacity")]
    assert (used, capacity, load["unavailable_jobs"]) == (2_000, 4_000, 1)
    assert load["servers"]["jobs"] == [1, 1], "the jobs of a server are stated beside its state"
    found = viewer.get(f"/api/runs/{run.pk}/now/").json()
    assert found["unavailable_jobs"] == 1
    assert {site["site"]: site["allocated"].get("gpu") for site in found["sites"]} == {"edge": 0.5, "cloud": None}
    one.apply(polled(2_400, *jobs))
    load = viewer.get(f"/api/runs/{run.pk}/situation/").json()["load"]
    assert load["unavailable_jobs"] == 0
    curve = load["curve"]
    started = viewer.get(f"/api/runs/{run.pk}/situation/").json()["sim_ms"] - 1_800_000
    assert curve["shares"][0] == [0.5 if at_ms >= started else 0.0 for at_ms in curve["at_ms"]], "also in the outage"


def test_a_quiet_cluster_is_shown_at_its_last_poll(viewer, db):
    """Job `1` waits from second 600 on; later polls find nothing new, the last one at second 1,800."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    for second in (0, 600, 1_200, 1_800):
        one.apply(polled(second, *([job("1", submitted_ms=polled(600).at_ms)] if second else [])))
    run = connection.run
    run.refresh_from_db()
    before = viewer.get(f"/api/runs/{run.pk}/situation/").json()
    connection.health = {"seen_ms": polled(1_800).at_ms}
    connection.save()
    after = viewer.get(f"/api/runs/{run.pk}/situation/").json()
    assert after["sim_ms"] == polled(1_800).at_ms - round(run.clock_wall.timestamp() * 1000)
    assert after["sim_ms"] - before["sim_ms"] == 1_200_000, "its newest event is at second 600"
    assert [row["id"] for row in after["queue"]["oldest"]] == ["1"]


def test_suspended_jobs_of_a_followed_cluster_do_not_run(viewer, db):
    """Two jobs run from second 600 on; `2` is seen suspended at second 1,200."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    jobs = (running("1", 600, node="edge1"), running("2", 600, node="cloud1"))
    for each in (polled(0), polled(600, *jobs), polled(1_200, jobs[0], suspended(jobs[1]))):
        one.apply(each)
    run = connection.run
    found = viewer.get(f"/api/runs/{run.pk}/situation/").json()
    assert (found["jobs"]["running"], found["jobs"]["suspended"]) == (1, 1)
    now = viewer.get(f"/api/runs/{run.pk}/now/").json()
    assert (now["jobs"]["running"], now["jobs"]["suspended"]) == (1, 1)
    run.refresh_from_db()
    facts = situation.situation(run).facts
    assert (facts.suspended.tolist(), facts.suspended_id) == ([[found["sim_ms"], 1]], "2"), "since it was seen"
    one.apply(polled(1_800, *jobs))
    assert viewer.get(f"/api/runs/{run.pk}/now/").json()["jobs"]["suspended"] == 0


def on_cloud1(load):
    return {name: shares[1] for name, shares in zip(load["scale"], load["servers"]["shares"], strict=True)}


def test_the_cpus_of_a_suspended_job_are_free_where_the_cluster_frees_them(viewer, db):
    """The job holds 2 of 4 GPUs, 2 of 8 CPUs and 4,194 of 16,777 MB of memory of its node."""
    connection = Connection.objects.create(name="lab", connector="slurm")
    one = following(connection, polled(0))
    job = running("1", 600, node="cloud1")
    for each in (polled(0), polled(600, job), polled(1_200, replace(suspended(job), frees_cpus=True))):
        one.apply(each)
    address = f"/api/runs/{connection.run.pk}/situation/"
    found = viewer.get(address).json()["load"]
    assert on_cloud1(found) == {"gpu": 500, "cpu": 0, "memory": 250}
    one.apply(polled(1_800, job))
    found = viewer.get(address).json()["load"]
    assert on_cloud1(found) == {"gpu": 500, "cpu": 250, "memory": 250}


def test_an_outage_that_was_stated_late_is_shown_since_it_began(viewer, db):
    """At second 600 the cluster states that a node has been down since second 360."""
    connection = Connection.objects.create(name="lab", connector="push")
    one = following(connection, polled(0))
    down = replace(NODES[1], state=DOWN, since_ms=polled(360).at_ms)
    one.apply(polled(0))
    one.apply(polled(600, nodes=(NODES[0], down)))
    run = connection.run
    run.refresh_from_db()
    [away] = situation.situation(run).facts.away
    assert away["since_ms"] == run.sim_ms - 240_000
    texts = [row["text"] for row in viewer.get(f"/api/runs/{run.pk}/events/table/").json()["rows"]]
    assert "server cloud1 has been unavailable since 00:12:40" in texts, "the log begins 400 s before second 0"


def test_a_node_that_the_cluster_no_longer_has_is_removed_and_not_away(viewer, db):
    """cloud1 is down first; then the cluster has it no longer; at last it has it again."""
    connection = Connection.objects.create(name="lab", connector="push")
    one = following(connection, polled(0))
    run, found = connection.run, []
    down = (NODES[0], replace(NODES[1], state=DOWN, reason="Not responding"))
    for second, nodes in ((0, NODES), (600, down), (1_200, NODES[:1]), (1_800, NODES)):
        one.apply(polled(second, nodes=nodes))
        run.refresh_from_db()
        load = viewer.get(f"/api/runs/{run.pk}/situation/").json()["load"]
        now = viewer.get(f"/api/runs/{run.pk}/now/").json()["sites"]
        away = [server["name"] for server in situation.situation(run).facts.away]
        counts = [[site["servers"] for site in sites if site["site"] == "cloud"] for sites in (load["sites"], now)]
        found.append((load["servers"]["state"], away, counts))
    assert found == [
        ([0, 0], [], [[1], [1]]), ([0, 1], ["cloud1"], [[1], [1]]), ([0, 2], [], [[0], [0]]), ([0, 0], [], [[1], [1]]),
    ]  # fmt: skip
