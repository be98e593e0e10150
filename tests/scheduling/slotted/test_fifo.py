"""FIFO worked by hand: who starts when and where, and why others wait or are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import simulate
from scheduling.model.bars import Placement
from scheduling.model.values import Server
from tests.cases import cases
from tests.scheduling.builders import random_away
from tests.scheduling.builders_slotted import ONE_SAMPLE, ONE_VCPU, cluster, job, ps_server, worker_server
from tests.scheduling.rivals import in_pieces, workload

TWO_SERVERS = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"))


def play(machines, jobs, **parameters):
    return list(simulate(machines, jobs, build("fifo", parameters), 0))


def records_of(events, *kinds):
    return [
        (e.at_ms, e.kind, e.data["job"] if "job" in e.data else e.data["keys"][0]) for e in events if e.kind in kinds
    ]


def bars(events):
    return {e.data["keys"][0]: e.data["bars"] for e in events if e.kind == "plan_changed"}


def refusals(events):
    return {e.data["job"]: (e.data["code"], e.data["values"]) for e in events if e.data.get("kind") == "rejected"}


def test_the_head_of_the_queue_blocks_a_job_that_would_fit():
    """4 GPUs: a takes 3 for 2 slots; b wants 2 and waits; c wants 1, would fit, but stands behind b."""
    events = play(TWO_SERVERS, [job("a", 0, workers=3, slots=2), job("b", 100, workers=2), job("c", 200)])
    assert bars(events) == {
        0: [Placement(0, 0, 0, 0, 2_000, 2), Placement(0, 0, 1, 0, 2_000, 1), Placement(0, 1, 2, 0, 2_000, 2)],
        1: [
            Placement(1, 0, 1, 2_000, 3_000, 1),
            Placement(1, 0, 0, 2_000, 3_000, 1),
            Placement(1, 1, 2, 2_000, 3_000, 1),
        ],
        2: [Placement(2, 0, 1, 2_000, 3_000, 1), Placement(2, 1, 2, 2_000, 3_000, 1)],
    }
    assert records_of(events, "job_arrived", "plan_changed", "job_completed") == [
        (0, "job_arrived", 0), (0, "plan_changed", 0), (100, "job_arrived", 1), (200, "job_arrived", 2),
        (2_000, "job_completed", 0), (2_000, "plan_changed", 1), (2_000, "plan_changed", 2),
        (3_000, "job_completed", 1), (3_000, "job_completed", 2),
    ]  # fmt: skip
    waits = [e.data["values"]["waited_ms"] for e in events if e.kind == "decided"]
    assert waits == [0, 1_900, 1_800]


def test_backfill_lets_the_small_job_pass():
    events = play(
        TWO_SERVERS, [job("a", 0, workers=3, slots=2), job("b", 100, workers=2), job("c", 200)], backfill=True
    )
    assert records_of(events, "plan_changed") == [
        (0, "plan_changed", 0),
        (1_000, "plan_changed", 2),
        (2_000, "plan_changed", 1),
    ]
    codes = [(e.data["job"], e.data["code"]) for e in events if e.kind == "decided"]
    assert codes == [(0, "in_order"), (2, "out_of_order"), (1, "in_order")], "b, which waits, has arrived before c"


def test_the_round_robin_pointer_persists_and_skips_full_servers():
    """One worker each on w0, w1, w0, w1, then none is free; the fifth waits for the first to end and takes w0."""
    jobs = [job("a", slots=1), *(job(f"b{i}", slots=3) for i in range(3)), job("c")]
    events = play(TWO_SERVERS, jobs)
    assert [plan[0].server for plan in bars(events).values()] == [0, 1, 0, 1, 0]
    assert bars(events)[4][0].start_ms == 1_000


def test_a_job_starts_only_when_a_slot_begins():
    events = play(TWO_SERVERS, [job("a", 1), job("b", 1_000)])
    assert [plan[0].start_ms for plan in bars(events).values()] == [1_000, 1_000]


def test_parameter_servers_follow_the_ratio_of_bandwidths():
    """3 workers of 1 Gbps need ceil(3 / 2) = 2 servers of 2 Gbps."""
    events = play(TWO_SERVERS, [job("a", workers=3)])
    assert [(b.role, b.count) for b in bars(events)[0]] == [(0, 2), (0, 1), (1, 2)]


def test_the_gang_is_the_request_within_the_number_of_chunks():
    """requested 9, 4 chunks of 2 slots: 4 workers and 8 / 4 = 2 slots."""
    events = play(TWO_SERVERS, [job("a", workers=4, slots=2, requested_workers=9)])
    assert sum(b.count for b in bars(events)[0] if b.role == 0) == 4
    assert bars(events)[0][0].end_ms == 2_000


def test_a_job_that_the_horizon_cuts_off_is_worth_nothing():
    events = play(cluster(worker_server("w0"), ps_server("s0"), horizon=3), [job("a", slots=5), job("b", slots=1)])
    assert bars(events)[0][0].end_ms == 3_000
    assert [e.data["utility"] for e in events if e.kind == "job_completed"] == [5.0]  # only b
    assert [(e.at_ms, e.data) for e in events[-2:]] == [
        (3_000, {"job": 0, "kind": "unfinished", "code": "horizon", "values": {"horizon_slots": 3}}),
        (3_000, {}),
    ]


@pytest.mark.parametrize(
    ("changes", "code", "values"),
    [
        (
            {"worker": (3_000, 0, 0, 0, 1_000)},
            "fits_nowhere",
            {"role": "worker", "resource": "gpu", "need": 3.0, "most": 2.0},
        ),
        ({"ps": (0, 9_000, 0, 0, 2_000)}, "fits_nowhere", {"role": "ps", "resource": "cpu", "need": 9.0, "most": 8.0}),
        ({"workers": 5}, "gang_too_large", {"role": "worker", "count": 5, "most": 4}),
        ({"minibatch_ms": None}, "missing_part", {"part": "minibatch_ms"}),
        ({"requested_workers": None}, "missing_part", {"part": "requested_workers"}),
        ({"worker": (0, 0, 0, 0, 0), "gradient_mb": 1.0}, "missing_part", {"part": "worker.bandwidth"}),
        ({"worker": (0, 0, 0, 0, 3_000)}, "ps_too_slow", {"worker_gbps": 3.0, "ps_gbps": 2.0}),
        ({"ps": (0, 0, 0, 0, 0)}, "ps_too_slow", {"worker_gbps": 1.0, "ps_gbps": 0.0}),
    ],
)
def test_it_refuses_what_can_never_run_and_goes_on(changes, code, values):
    events = play(TWO_SERVERS, [job("a", **changes), job("b")])
    assert refusals(events) == {0: (code, values)}
    assert records_of(events, "plan_changed") == [(0, "plan_changed", 1)]


def test_in_the_world_of_pd_ors_one_server_is_faster_and_bandwidth_is_free():
    """100 samples. Alone: 100 + 2 * 1 MB * 8 / 16 Gbps = 101 ms a sample; apart at 0.16 Gbps: 100 + 100 = 200 ms."""
    shared = {"num_samples": 100, "global_batch": 1, "workers_per_ps": 1, "sample_ms": 100.0, "gradient_mb": 1.0,
              "internal_gbps": 16.0, "external_gbps": 0.16}  # fmt: skip
    big = Server("big", "edge", (4_000, 8_000, 8_000, 8_000, 0))
    alone = play(cluster(big, horizon=None), [job("a", **shared)])
    assert [(b.role, b.server, b.end_ms) for b in bars(alone)[0]] == [(0, 0, 11_000), (1, 0, 11_000)]  # ceil(10.1)
    apart = play(cluster(worker_server("w"), ps_server("s"), horizon=None), [job("a", **shared)], model="pd-ors")
    assert [(b.role, b.server, b.end_ms) for b in bars(apart)[0]] == [(0, 0, 20_000), (1, 1, 20_000)]


def test_a_gang_that_no_order_can_place_is_rejected_when_the_cluster_is_empty():
    """Workers and PS each fit by themselves, but the one worker leaves no vCPU for the PS on the only server."""
    events = play(ONE_VCPU, [job("a", **ONE_SAMPLE)])
    assert refusals(events) == {0: ("gang_fits_nowhere", {"workers": 1, "ps": 1})}


@settings(max_examples=cases(60, 10))
@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 5), st.integers(1, 6)), max_size=25),
    st.booleans(),
    st.sampled_from([None, 12]),
)
def test_whoever_starts_keeps_a_whole_gang_for_its_whole_work(rows, backfill, horizon):
    """Capacity is the ledger's; here: nobody starts before arrival, gangs are whole, work is done, order is kept."""
    machines = cluster(worker_server("w0"), worker_server("w1"), ps_server("s0"), horizon=horizon)
    jobs = [job(f"j{i}", at, workers=n, slots=k) for i, (at, n, k) in enumerate(sorted(rows))]
    events = play(machines, jobs, backfill=backfill)
    for index, plan in bars(events).items():
        row, workers = jobs[index], [b for b in plan if b.role == 0]
        start, end = workers[0].start_ms, workers[0].end_ms
        assert {(b.start_ms, b.end_ms) for b in plan} == {(start, end)}
        assert start >= row.arrival_ms
        assert start % 1_000 == 0
        assert sum(b.count for b in workers) == row.requested_workers
        assert end == min(start + row.minibatches_per_chunk * 1_000, horizon * 1_000 if horizon else end)
    starts = [(plan[0].start_ms, index) for index, plan in bars(events).items()]
    assert starts == sorted(starts) if not backfill else len(set(starts)) == len(starts)
    verdicts = {e.data["job"] for e in events if e.kind == "decided"}
    assert verdicts == set(range(len(jobs)))


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_is_cut_goes_on_the_same_when_servers_come_and_go(seed):
    """Jobs that were stopped stand at the head of the queue, the latest first: not in their order of arrival."""
    machines, jobs = workload("pd-ors", num_jobs=120, num_servers=12, seed=seed)
    machines = random_away(machines, np.random.default_rng(seed), 40)
    for backfill in (False, True):
        events = play(machines, jobs, backfill=backfill)
        assert in_pieces(machines, jobs, "fifo", [40] * 12, 0, backfill=backfill) == events
