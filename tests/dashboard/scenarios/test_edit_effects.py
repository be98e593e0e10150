"""Effects of edits before they run: capacity and arrivals over time, and loads of the servers at a fork."""

from dataclasses import replace

from scheduling.model.bars import END, JOB, SERVER, START
from scheduling.model.values import Cluster, Job, Server
from tests.dashboard.builders import post
from twin.analysis.situation import situation
from twin.analysis.situation.past import loads_at
from twin.eventlog.fold import BORN, DIED, NEVER
from twin.eventlog.state_cache import Newest
from twin.scenarios.edits import parse
from twin.scenarios.edits.base import ScenarioState
from twin.scenarios.edits.curves import BINS, curves

H = 3_600_000
SIZE = (4_000, 8_000, 0, 0, 0)
CLUSTER = Cluster("c", H, (Server("a", "edge", SIZE), Server("b", "cloud", SIZE)), horizon_slots=60)
JOBS = [Job("j", 5 * H), Job("k", 30 * H)]


def test_capacity_falls_while_servers_are_away_and_rises_with_new_ones():
    state = ScenarioState(CLUSTER, JOBS, "fifo", {})
    given = [
        {"verb": "fail_servers", "servers": "a", "at_ms": 10 * H, "for_ms": 5 * H},
        {"verb": "resize_servers", "servers": "b", "resource": "gpu", "amount": 6, "at_ms": 20 * H},
    ]
    found = curves(state, parse(given))
    assert (found["to_ms"], found["resource"]) == (60 * H, "gpu")
    assert found["capacity"]["before"] == [[0, 8.0]]
    assert found["capacity"]["after"] == [[0, 8.0], [10 * H, 4.0], [15 * H, 8.0], [20 * H, 10.0]]
    assert found["arrivals"]["before"] == found["arrivals"]["after"]
    assert [i for i, count in enumerate(found["arrivals"]["before"]) if count] == [5, 30]


def test_a_cluster_without_gpus_is_counted_by_its_cpus():
    bare = replace(CLUSTER, servers=(Server("a", "edge", (0, 8_000, 0, 0, 0)),))
    found = curves(ScenarioState(bare, JOBS, "fifo", {}), [])
    assert (found["resource"], found["capacity"]["after"]) == ("cpu", [[0, 8.0]])
    assert len(found["arrivals"]["after"]) == BINS


def test_the_load_at_the_newest_time_is_that_of_the_overview(finished_run):
    found = loads_at(finished_run, finished_run.sim_ms)
    shown = situation(finished_run).shown["load"]
    assert found == {name: shown[name] for name in found}


def test_the_load_at_a_fork_counts_the_jobs_whose_bars_were_known_and_ran_then(operator, finished_run):
    with Newest(finished_run) as state:
        bars = state.bars.rows.copy()
    starts = sorted({int(row[START]) for row in bars})
    at_ms = starts[len(starts) // 2]
    made = post(operator, f"/api/runs/{finished_run.pk}/forks/", {"at_ms": at_ms}).json()["scenario"]
    loads = operator.get(f"/api/scenarios/{made['id']}/loads/").json()
    jobs: dict[int, set[int]] = {}
    for row in bars:
        alive = row[DIED] == NEVER or row[DIED] > at_ms
        if alive and row[BORN] <= at_ms and row[START] <= at_ms < row[END] and row[SERVER] >= 0:
            jobs.setdefault(int(row[SERVER]), set()).add(int(row[JOB]))
    assert jobs, "something runs then"
    assert {i: count for i, count in enumerate(loads["servers"]["jobs"]) if count} == {
        server: len(on) for server, on in jobs.items()
    }
    assert all(max(share) > 0 for share in zip(*loads["servers"]["shares"], strict=True) if max(share))


def test_a_scenario_without_a_parent_has_no_loads(viewer, finished_run):
    answer = viewer.get(f"/api/scenarios/{finished_run.scenario_id}/loads/")
    assert (answer.status_code, answer.json()) == (200, {})
