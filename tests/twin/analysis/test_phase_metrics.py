"""Metrics of one execution model in runs whose servers or schedulers are changed by edits, against plain sums."""

from itertools import pairwise

import numpy as np
import pytest

from scheduling.model.bars import COUNT, END, ROLE, SERVER, START, WORKER_SLOT
from scheduling.reporting.metrics import summarize
from tests.twin.scenarios.builders_phases import scenario_state, staged
from twin.eventlog.fold import ARRIVED, COMPLETED_AT, DIED, NEVER, WORKER, RunState
from twin.scenarios.store import played

H = 3_600_000
AT_MS = 24 * H


def played_with(first, **edit):
    base = scenario_state("pd-ors", first, 2, jobs=8, servers=5)
    stages = staged(base, [{"at_ms": AT_MS, **edit}])
    clusters = [(stage.at_ms, stage.state.cluster) for stage in stages]
    jobs = stages[-1].state.jobs
    events = list(played(stages, 5).events())
    state = RunState().feed(events)
    bars = state.bars.rows[state.bars.rows[:, DIED] == NEVER]
    return summarize(events, clusters[-1][1], jobs, clusters), state, bars, clusters


def moments(clusters, first_ms, last_ms, extra):
    cuts = {first_ms, last_ms, *(ms for ms, _ in clusters), *extra}
    cuts |= {ms for _, cluster in clusters for server in cluster.servers for pair in server.away for ms in pair}
    return [ms for ms in sorted(cuts) if first_ms <= ms <= last_ms]


def available(clusters, at_ms):
    """Servers that are there at a moment."""
    cluster = [one for begin, one in clusters if begin <= at_ms][-1]
    return [server for server in cluster.servers if not any(left <= at_ms < back for left, back in server.away)]


def busy_by_hand(state, bars, clusters, from_ms=0, until_ms=1 << 60):
    """(mean, greatest) share of the GPUs of the servers that are there which run a worker, in a phase of SRTF."""
    own = bars[(bars[:, ROLE] == WORKER) & (bars[:, WORKER_SLOT] >= 0) & (bars[:, SERVER] >= 0)]
    first_ms = max(from_ms, int(state.jobs.rows[:, ARRIVED].min()))
    last_ms = min(until_ms, int(own[:, END].max()))
    used = offered = peak = 0.0
    edges = moments(clusters, first_ms, last_ms, own[:, [START, END]].ravel().tolist())
    for begin, end in pairwise(edges):
        worker_slots = sum(
            server.capacity[0] // 1000 for server in available(clusters, begin) if "worker" in server.roles
        )
        running = int(own[(own[:, START] <= begin) & (own[:, END] > begin)][:, COUNT].sum())
        used, offered = used + running * (end - begin), offered + worker_slots * (end - begin)
        peak = max(peak, running / worker_slots)
    return used / offered, peak


@pytest.mark.parametrize(
    "edit",
    [
        {"verb": "resize_servers", "servers": "h0[1-4]", "resource": "gpu", "amount": 1},
        {"verb": "resize_servers", "servers": "h0[1-4]", "resource": "gpu", "amount": 16},
        {"verb": "remove_servers", "servers": "h0[1-4]"},
    ],
)
def test_occupancy_counts_the_workers_that_servers_had_at_each_time(edit):
    found, state, bars, clusters = played_with("srtf", **edit)
    mean, peak = busy_by_hand(state, bars, clusters)
    assert found["lanes"]["mean_busy"] == pytest.approx(mean)
    assert found["lanes"]["peak_busy"] == pytest.approx(peak)
    assert peak <= 1


@pytest.mark.parametrize(("first", "then", "span"), [("fifo", "srtf", (AT_MS, 1 << 60)), ("srtf", "fifo", (0, AT_MS))])
def test_occupancy_covers_the_phases_of_typed_workers_only(first, then, span):
    found, state, bars, clusters = played_with(first, verb="change_scheduler", scheduler=then)
    mean, peak = busy_by_hand(state, bars, clusters, *span)
    assert found["lanes"]["mean_busy"] == pytest.approx(mean)
    assert found["lanes"]["peak_busy"] == pytest.approx(peak)
    assert found["lanes"]["mean_slowdown"] is None, "alone, a job takes another time in the other model"


def groups_by_hand(state, clusters, from_ms=0):
    """(CPU utilization, mean number of jobs) over the servers that are there, from the first arrival on."""
    jobs = state.jobs.rows
    first_ms, last_ms = max(from_ms, int(jobs[:, ARRIVED].min())), int(jobs[:, COMPLETED_AT].max())
    ends = [ms for begin, end, _ in state.groups for ms in (begin, end)]
    cpu = offered = in_groups = 0.0
    for begin, end in pairwise(moments(clusters, first_ms, last_ms, ends)):
        here = [data for left, back, data in state.groups if left <= begin and (back == NEVER or begin < back)]
        for data in here:
            for job, comp, pace, ready in zip(
                data["jobs"], data["comp_ms"], data["pace_ms"], data["ready_ms"], strict=True
            ):
                over = min(end, int(jobs[job, COMPLETED_AT])) if jobs[job, COMPLETED_AT] >= 0 else end
                cpu += data["machines"] * comp / pace * max(0, over - max(begin, ready))
        in_groups += sum(len(data["jobs"]) for data in here) * (end - begin)
        offered += len(available(clusters, begin)) * (end - begin)
    return cpu / offered, in_groups / (last_ms - first_ms)


@pytest.mark.parametrize(
    ("first", "edit", "from_ms"),
    [
        ("harmony", {"verb": "remove_servers", "servers": "h0[34]"}, 0),
        ("harmony", {"verb": "add_servers", "like": "h00", "count": 7}, 0),
        ("fifo", {"verb": "change_scheduler", "scheduler": "harmony"}, AT_MS),
    ],
)
def test_utilization_of_groups_counts_the_machines_that_are_there(first, edit, from_ms):
    found, state, _, clusters = played_with(first, **edit)
    cpu, jobs = groups_by_hand(state, clusters, from_ms)
    assert found["groups"]["cpu_utilization"] == pytest.approx(cpu)
    assert found["groups"]["mean_jobs"] == pytest.approx(jobs)
    assert np.isfinite(cpu)
    assert cpu > 0


def test_without_a_completion_there_is_no_time_over_which_groups_have_means():
    found, *_ = played_with("harmony", verb="fail_servers", servers="h0[0-4]", at_ms=25_200_000, for_ms=1 << 40)
    assert found["completed"] == 0
    assert {name: found["groups"][name] for name in ("cpu_utilization", "mean_jobs")} == {
        "cpu_utilization": None,
        "mean_jobs": None,
    }
