"""Gavel: shares by its programs against other programs, rounds against loops, and runs by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from scheduling.colocation.job_mapping import facts
from scheduling.colocation.rounds.machine_types import available_by_type, fit, types_of
from scheduling.colocation.rounds.round_choice import choose
from scheduling.colocation.rounds.share_programs import MAKESPAN, MAX_MIN, MAX_SUM, shares
from scheduling.colocation.site_pool import Pool
from scheduling.model.values import Job, Server, Utility
from scheduling.reporting.reasons import sentence
from scheduling.workloads import generate
from tests.cases import cases
from tests.scheduling.builders import random_away
from tests.scheduling.builders_colocation import job, machines, small
from tests.scheduling.colocation.grouped import encoded, events_of, groups_at, in_pieces, verified
from tests.scheduling.rivals import completed, cuts_of, decided

NAME = "gavel"
MINUTE = {"round_min": 1, "machines": 2}
COMPUTING, SENDING = (16, 0), (0, 4)  # machine-seconds of computation, seconds of communication


def two_types(fast=2, slow=2, speed=2.0, away=None):
    """Fast machines f0, f1, ... and then slow ones."""
    cluster = machines(fast + slow, away=away)
    servers = [replace(server, speed=speed if i < fast else 1.0) for i, server in enumerate(cluster.servers)]
    return replace(cluster, servers=tuple(servers))


def where(events, jobs, minute):
    """{job: name of the first server of its group} in that minute."""
    return {
        jobs[job].id: data["servers"][0] for data in groups_at(events, minute * 60_000).values() for job in data["jobs"]
    }


def program(policy, rates, held, counts, weights, left):
    """(optimum, greatest sum of an optimum) by dense programs that are written from the paper."""
    jobs, types = rates.shape
    if policy == MAKESPAN:
        value = rates / left[:, None]
    elif policy == MAX_SUM:
        value = np.array([[rate / max(row) for rate in row] for row in rates])
    else:
        value = np.zeros(rates.shape)
        for m in range(jobs):
            equal = sum(rates[m, k] * counts[k] for k in range(types)) / sum(counts)
            usable = [k for k in range(types) if rates[m, k] > 0]
            size = sum(held[m, k] * counts[k] for k in usable) / sum(counts[k] for k in usable)
            value[m] = rates[m] * size / equal / weights[m]
    wide = jobs * types
    rows, most = [], []
    for m in range(jobs):
        row = np.zeros(wide + 1)
        row[m * types : (m + 1) * types] = 1
        rows, most = [*rows, row], [*most, 1]
        row = np.zeros(wide + 1)
        row[m * types : (m + 1) * types], row[-1] = -value[m], 1
        rows, most = [*rows, row], [*most, 0]
    for k in range(types):
        row = np.zeros(wide + 1)
        row[k:wide:types] = held[:, k]
        rows, most = [*rows, row], [*most, counts[k]]
    bounds = [(0, None if rates[m, k] else 0) for m in range(jobs) for k in range(types)] + [(0, None)]
    level = np.append(np.zeros(wide), -1)
    total = np.append(-value.ravel(), 0)
    if policy == MAX_SUM:
        best = 0.0
    else:
        best = -linprog(level, A_ub=np.array(rows), b_ub=most, bounds=bounds, method="highs-ds").fun
        bounds[-1] = (best * (1 - 1e-9), None)
    return value, best, -linprog(total, A_ub=np.array(rows), b_ub=most, bounds=bounds, method="highs-ds").fun


def instance(seed):
    rng = np.random.default_rng(seed)
    jobs, types = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    counts = rng.integers(1, 8, size=types)
    held = np.minimum(rng.integers(1, 5, size=(jobs, 1)) + rng.integers(0, 2, size=(jobs, types)), counts)
    rates = rng.uniform(0.1, 4.0, size=(jobs, types)) * (rng.random((jobs, types)) < 0.8)
    for row in rates:
        if not row.any():
            row[int(rng.integers(types))] = 1.0
    return rates, np.where(rates > 0, held, 0), counts, rng.uniform(0.5, 3.0, size=jobs), rng.uniform(1, 500, size=jobs)


@pytest.mark.parametrize("policy", [MAX_MIN, MAX_SUM, MAKESPAN])
def test_shares_are_optimal(policy):
    for seed in range(cases(150, 30)):
        rates, held, counts, *_ = given = instance(seed)
        found = shares(policy, *given)
        value, level, total = program(policy, *given)
        assert (found >= 0).all(), seed
        assert (found[rates == 0] == 0).all(), seed
        assert (found.sum(axis=1) <= 1 + 1e-6).all(), seed
        assert ((held * found).sum(axis=0) <= counts + 1e-5).all(), seed
        own = (value * found).sum(axis=1)
        if policy != MAX_SUM:
            assert own.min() == pytest.approx(level, rel=1e-4), seed
        assert own.sum() == pytest.approx(total, rel=1e-4), seed


@settings(max_examples=cases(50, 10))
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4))
def test_on_one_type_equal_jobs_have_equal_shares(jobs, count, size):
    size = min(size, count)
    ones = np.ones((jobs, 1))
    found = shares(MAX_MIN, ones, ones * size, np.array([count]), np.ones(jobs), np.ones(jobs))
    assert found.ravel() == pytest.approx(np.full(jobs, min(1.0, count / (jobs * size))), abs=1e-6)


def test_shares_of_cases_by_hand():
    """Two types of one machine each, of which the first is 2 and 4 times as fast for the two jobs."""
    rates, one = np.array([[2.0, 1.0], [4.0, 1.0]]), np.ones((2, 2))
    given = rates, one, np.array([1, 1]), np.ones(2), np.ones(2)
    # 4 x + 1 (1 - x) over 2.5 = 2 (1 - x) + 1 x over 1.5, with x the share of the second job on the first machine
    x = (2 / 1.5 - 1 / 2.5) / (3 / 2.5 + 1 / 1.5)
    assert shares(MAX_MIN, *given) == pytest.approx(np.array([[1 - x, x], [x, 1 - x]]), abs=1e-5)
    assert shares(MAX_SUM, *given) == pytest.approx(np.array([[0, 1], [1, 0]]), abs=1e-5)
    # both end together: 1 (1 - x) + 4 x = 2 (1 - x) + 1 x
    assert shares(MAKESPAN, *given) == pytest.approx(np.array([[0.75, 0.25], [0.25, 0.75]]), abs=1e-5)
    # with twice the weight the second job gets twice the normalized throughput of the first
    weighted = shares(MAX_MIN, *given[:3], np.array([1.0, 2.0]), np.ones(2))
    own = (rates * weighted).sum(axis=1) / [1.5, 2.5]
    assert own[1] / own[0] == pytest.approx(2, rel=1e-4)


def chosen_by_loops(target, due, received, held, counts, current):
    left, taken, out = list(counts), set(), []
    pairs = [(m, k) for m in range(len(target)) for k in range(len(counts)) if target[m, k] > 0]

    def rank(pair):
        m, k = pair
        priority = due[m, k] / received[m, k] if received[m, k] else float("inf")
        return -round(priority, 9), -round(due[m, k], 9), current[m] != k, m, k

    for m, k in sorted(pairs, key=rank):
        if m not in taken and held[m, k] <= left[k]:
            left[k] -= held[m, k]
            taken.add(m)
            out.append((m, k))
    return out


def test_rounds_are_those_of_plain_loops():
    for seed in range(cases(200, 30)):
        rates, held, counts, weights, left = instance(seed)
        rng = np.random.default_rng(seed)
        target = shares(MAX_MIN, rates, held, counts, weights, left)
        received = rng.integers(0, 4, size=target.shape).astype(float)
        current = rng.integers(-1, len(counts), size=len(target))
        due = target * int(rng.integers(1, 9))
        given = target, due, received, held, counts.tolist(), current
        assert choose(*given) == chosen_by_loops(*given), seed


def test_received_shares_come_close_to_those_due():
    """Jobs of one machine each: after 300 rounds each pair has had its share up to 2 %."""
    for seed in range(cases(40, 8)):
        rates, held, counts, weights, left = instance(seed)
        held = np.minimum(held, 1)
        target = shares(MAX_MIN, rates, held, counts, weights, left)
        received, current = np.zeros(target.shape), np.full(len(target), -1)
        for number in range(1, 301):
            current[:] = -1
            for m, k in choose(target, target * number, received, held, counts.tolist(), current):
                received[m, k] += 1
        assert (target - received / 300).max() < 0.02, seed


def test_the_worked_example():
    """Two fast and two slow machines, two for each job. On fast ones an iteration of a, b and c takes 3, 4 and 3 s, on
    slow ones 12, 4 and 6 s. After 10 rounds everybody has had exactly what was due: see docs/rivals.md."""
    cluster = two_types(speed=4.0)
    jobs = [job("a", 24, 0, 900), job("b", 0, 4, 900), job("c", 8, 2, 900)]
    events = events_of(cluster, jobs, NAME, MINUTE)
    fast, slow = 0, 2
    assert [where(events, jobs, minute) for minute in range(10)] == [
        {"a": fast, "b": slow}, {"c": fast, "b": slow}, {"a": fast, "c": slow}, {"c": fast, "b": slow},
        {"c": fast, "b": slow}, {"a": fast, "b": slow}, {"a": fast, "c": slow}, {"c": fast, "b": slow},
        {"c": fast, "b": slow}, {"a": fast, "b": slow},
    ]  # fmt: skip
    first = {e.data["job"]: e.data for e in reversed(events) if e.kind == "decided" and e.data["kind"] == "started"}
    assert first[1]["values"] == {
        "group": 0, "machines": 2, "pace_ms": 4_000.0, "away_ms": 0, "like": "m2", "share": 0.8,
        "received": 0.0,
    }  # fmt: skip
    verified(cluster, jobs, NAME, MINUTE)


def test_arrivals_and_completions_wait_for_the_next_round():
    """b comes in the first round and waits for the second. Both are due half of the time on each type: they take turns.

    a makes 15, 7.5, 15 and 12.5 iterations and ends in the fourth minute; b gets the fast machines in the fifth."""
    jobs = [job("a", *COMPUTING, 50), job("b", *COMPUTING, 100, arrival_s=10)]
    events = events_of(two_types(), jobs, NAME, MINUTE)
    assert where(events, jobs, 0) == {"a": 0}
    assert [where(events, jobs, minute) for minute in range(1, 5)] == [
        {"a": 2, "b": 0}, {"a": 0, "b": 2}, {"a": 0, "b": 2}, {"b": 0},
    ]  # fmt: skip
    assert completed(events)[0] == 230_000
    regrouped = [(e.at_ms, e.data["cause"]) for e in events if e.kind == "regrouped"]
    assert regrouped == [
        (0, "round"), (60_000, "round"), (120_000, "round"), (240_000, "completion"), (540_000, "completion")
    ]  # fmt: skip


def test_moving_takes_time():
    """3 GB of input and 1 GB of model, read twice, by two disks of 0.15 GB/s: 5 GB in 16.7 s."""
    jobs = [job(name, *COMPUTING, 900, input_gb=3.0, model_gb=1.0) for name in "abc"]
    events = events_of(two_types(), jobs, NAME, MINUTE)
    away = {
        e.data["values"]["away_ms"] for e in events if e.kind == "decided" and e.data["kind"] in ("resumed", "moved")
    }
    assert away == {16_667}
    verified(two_types(), jobs, NAME, MINUTE)


def test_a_machine_that_leaves_stops_its_job_until_the_next_round():
    cluster = two_types(speed=3.0, away={0: ((90_000, 300_000),)})
    jobs = [job("a", *COMPUTING, 900)]
    events = events_of(cluster, jobs, NAME, MINUTE)
    found = [(at, kind, code) for at, _, kind, code in decided(events)]
    assert found[1:4] == [
        (0, "started", "gavel.runs"), (90_000, "paused", "gavel.machine_left"), (120_000, "resumed", "gavel.runs"),
    ]  # fmt: skip
    # the fast machine that is left is faster than both slow ones
    assert where(events, jobs, 2) == {"a": 1}
    verified(cluster, jobs, NAME, MINUTE)


def test_types_of_machines_and_the_throughput_of_a_job_on_them():
    """Machines that hold 2 and 4 workers of 2 vCPUs, the larger ones with half the speed."""
    server = Server("a", "edge", (0, 4_000, 32_000, 0, 1_100), nic_gbps=2.2)
    large = replace(server, name="b", capacity=(0, 8_000, 32_000, 0, 1_100), speed=0.5)
    cluster = replace(machines(1), servers=(server, large, replace(server, name="c"), replace(large, name="d")))
    pool = Pool(cluster, range(4), lambda _: None, lambda *_: None)
    types = types_of(pool)
    assert [one.servers for one in types] == [[0, 2], [1, 3]]
    assert available_by_type(types, {0, 1, 2}) == [2, 1]
    row = Job(
        "j", 0, worker=(0, 2_000, 1_000, 0, 100), epochs=1, num_chunks=4, minibatches_per_chunk=10,
        minibatch_ms=1_000.0, gradient_mb=110.0, requested_workers=4, chunk_mb=100.0,
    )  # fmt: skip
    known = facts(row)
    assert (known.comp, known.comm, known.iterations) == (4_000.0, pytest.approx(1_600), 10)
    # two machines of two workers: 1 s + 1.6 s x 1.1 / 2.2; one of four at half the speed: 2 s + 0.8 s
    assert fit(types[0], row, known, 2) == (2, pytest.approx(1 / 1_800))
    assert fit(types[1], row, known, 2) == (1, pytest.approx(1 / 2_800))
    assert fit(types[1], row, known, 2, requested=2) == (2, pytest.approx(1 / 1_800))
    assert fit(types[0], row, known, 1) == (1, pytest.approx(1 / 2_800))
    assert fit(types[0], row, known._replace(data=known.data._replace(input_gb=60.0)), 2).machines == 0


def test_jobs_that_no_type_holds_are_rejected():
    jobs = [job("large", 4, 2, 3, input_gb=60.0), job("small", 4, 2, 3, input_gb=10.0)]
    events = events_of(two_types(), jobs, NAME, {"round_min": 1})
    # 60 GB need 1.5 x 60 = 90 GB, or 4 machines of 27.2; both types have two
    assert decided(events)[0] == (0, 0, "rejected", "gavel.no_type")
    assert next(e.data["values"] for e in events if e.kind == "decided") == {
        "need": pytest.approx(4 * 27.2), "most": pytest.approx(2 * 27.2)
    }  # fmt: skip
    assert sorted(completed(events)) == [1]


def test_priorities_can_be_the_weights():
    """One place, two equal jobs: the one with three times the weight has three of four rounds."""
    jobs = [job(name, *COMPUTING, 900, utility=Utility(weight, 0.0, 1.0)) for name, weight in (("a", 3.0), ("b", 1.0))]
    for weights, share in (("priority", 0.75), ("equal", 0.5)):
        events = events_of(two_types(slow=0), jobs, NAME, MINUTE | {"weights": weights})
        found = [where(events, jobs, minute) for minute in range(8)]
        assert sum("a" in one for one in found) / 8 == share


def test_reasons_are_sentences():
    values = {
        "machines": 2,
        "like": "m0",
        "share": 0.5,
        "received": 1 / 3,
        "pace_ms": 4_000.0,
        "away_ms": 0,
        "group": 0,
    }
    assert sentence("gavel.runs", values) == (
        "Runs this round on 2 machines of the type of m0: its share of time there is 50 %, and it has received 33.3 % "
        "so far. Time per iteration: 4 s."
    )
    assert sentence("gavel.runs", values | {"away_ms": 16_667}).endswith("Reading its model and input takes 16.7 s.")
    assert sentence("gavel.waits", {"iterations": 15.0, "share": 0.25, "received": 1.0}) == (
        "Suspended after 15.0 iterations: jobs that are further behind their shares run in this round. Its share "
        "of time is 25 %, and it has received 100 % so far."
    )
    assert sentence("gavel.no_type", {"need": 108.8, "most": 54.4}) == (
        "Rejected: needs 108.8 GB of memory on machines of one type; the type with the most memory has 54.4 GB."
    )
    assert "unavailable" in sentence("gavel.machine_left", {"iterations": 1.0})


@pytest.mark.parametrize("policy", [MAX_MIN, MAX_SUM, MAKESPAN])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.thorough
def test_runs_are_verified_with_and_without_absences_and_continue_after_a_save(policy, seed):
    rng = np.random.default_rng(seed)
    cluster, jobs = small(seed)
    speeds = rng.choice([1.0, 2.0, 4.0], size=len(cluster.servers))
    cluster = replace(
        cluster, servers=tuple(replace(s, speed=float(x)) for s, x in zip(cluster.servers, speeds, strict=True))
    )
    for with_away in (False, True):
        if with_away:
            cluster = random_away(cluster, rng, 300)
        own = {"policy": policy, "round_min": 20}
        events = verified(cluster, jobs, NAME, own, seed)
        assert completed(events)
        cuts = cuts_of(events, seed)
        assert encoded(in_pieces(cluster, jobs, NAME, cuts, own, seed)) == encoded(events)


@pytest.mark.parametrize("profile", ["oasis", "pd-ors", "a-online"])
def test_the_jobs_of_other_papers_run(profile):
    cluster, jobs = generate(profile, num_jobs=12, num_servers=12, seed=2)
    own = {"round_min": 60}
    events = events_of(cluster, jobs, NAME, own)
    assert completed(events)
    verified(cluster, jobs, NAME, own)
