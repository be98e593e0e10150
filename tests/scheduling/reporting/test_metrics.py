"""Every metric of summary.json, worked by hand from a short log."""

import numpy as np
import pytest

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.model.bars import Placement
from scheduling.model.values import RESOURCES, Event
from scheduling.reporting.metrics import summarize
from scheduling.workloads import generate
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server

MACHINES = cluster(worker_server("w0"), ps_server("s0"))  # 2 GPUs, 8 + 8 vCPUs, 8 + 8 GB


def log(*facts):
    return [Event(seq, at_ms, kind, data) for seq, (at_ms, kind, data) in enumerate(facts, 1)]


def planned(at_ms, *bars):
    job = bars[0].job
    return (
        at_ms,
        "plan_changed",
        {"scope": "job", "keys": [job], "jobs": [[job, bars[0].start_ms, -1]], "bars": list(bars)},
    )


def test_fifo_on_one_server():
    """2 GPUs. a runs [0, 2), b (2 workers) [2, 4), c is too large, d [4, 7) seconds; d arrived at 0.5 s."""
    jobs = [job("a", 0, slots=2), job("b", 0, workers=2, slots=2), job("c", 0, workers=3), job("d", 500, slots=3)]
    found = summarize(simulate(MACHINES, jobs, build("fifo"), 0), MACHINES, jobs)
    utilization = found.pop("utilization")
    assert found == {
        "total_utility": 15.0, "jobs": 4, "admitted": 3, "rejected": 1, "completed": 3,
        "mean_jct_ms": (2_000 + 4_000 + 6_500) / 3, "median_jct_ms": 4_000.0, "p95_jct_ms": 4_000 + 0.9 * 2_500,
        "makespan_ms": 7_000, "suspensions": 0,
    }  # fmt: skip
    assert utilization["gpu"] == (2 + 4 + 3) / (2 * 7)  # GPU-seconds held, of 2 GPUs for 7 s
    assert utilization["cpu"] == (2 + 4 + 3 + 2 + 2 + 3) / (16 * 7)  # one PS beside each gang
    assert utilization["storage"] == 0.0


def test_a_replaced_plan_counts_only_until_it_was_replaced():
    """Planned for [0, 4), cut at 1 s, resumed for [3, 4): one suspension and 2 GPU-seconds of 2 GPUs in 4 s."""
    events = log(
        (0, "job_arrived", {"job": 0}), (0, "decided", {"job": 0, "kind": "started", "code": "in_order", "values": {}}),
        planned(0, Placement(0, 0, 0, 0, 4_000, 1)), planned(1_000, Placement(0, 0, 0, 3_000, 4_000, 1)),
        (4_000, "job_completed", {"job": 0, "utility": 2.5}), (4_000, "run_finished", {}),
    )  # fmt: skip
    found = summarize(events, MACHINES, [job("a")])
    assert (found["suspensions"], found["utilization"]["gpu"], found["total_utility"]) == (1, 0.25, 2.5)


def test_chunks_are_suspended_one_by_one():
    """Chunk 0 pauses from 1 to 2 s; chunk 1 stops at 3 s for good, which leaves no gap between two bars."""
    events = log(
        (0, "job_arrived", {"job": 0}),
        planned(0, Placement(0, 0, 0, 0, 1_000, 1, chunk=0), Placement(0, 0, 0, 2_000, 5_000, 1, chunk=0),
                Placement(0, 0, 0, 0, 3_000, 1, chunk=1)),
        (5_000, "run_finished", {}),
    )  # fmt: skip
    assert summarize(events, MACHINES, [job("a")])["suspensions"] == 1


def test_an_empty_run_has_no_times():
    found = summarize(simulate(MACHINES, [], build("fifo"), 0), MACHINES, [])
    assert (found["jobs"], found["mean_jct_ms"], found["makespan_ms"], found["utilization"]["gpu"]) == (
        0,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(("name", "profile", "packed"), [
    ("oasis", "oasis", RESOURCES), ("pd_ors", "pd-ors", RESOURCES[:4]), ("fifo", "pd-ors", RESOURCES[:4]),
    ("srtf", "a-online", ()),
])  # fmt: skip
def test_only_what_servers_run_out_of_has_a_utilization(name, profile, packed):
    machines, jobs = generate(profile, num_jobs=8, num_servers=4, seed=1)
    found = summarize(simulate(machines, jobs, build(name), 0), machines, jobs)["utilization"]
    offered = np.sum([server.capacity for server in machines.servers], axis=0)
    assert [key for key, share in found.items() if share is not None] == [
        key for r, key in enumerate(RESOURCES) if key in packed and offered[r]
    ]
    assert all(share is None or 0 <= share <= 1 for share in found.values())
