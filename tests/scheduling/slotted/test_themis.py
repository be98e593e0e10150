"""Themis: auctions against all allocations, and runs by hand."""

from dataclasses import replace
from itertools import product
from math import floor, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.algorithms.themis import Themis
from scheduling.kernel.resource_vector import unpack
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Server
from scheduling.reporting.reasons import sentence
from scheduling.slotted.auction.partial_allocation import Auction, Bidder
from scheduling.slotted.auction.places import Places
from scheduling.slotted.gangs.packing import Packing, Servers
from scheduling.slotted.gangs.rates import JobRates
from tests.cases import cases
from tests.scheduling.builders import random_away
from tests.scheduling.builders_slotted import cluster, job, ps_server, worker_server
from tests.scheduling.primal_dual.builders_pd_ors import cluster as shared_cluster
from tests.scheduling.primal_dual.builders_pd_ors import job as sampled
from tests.scheduling.primal_dual.builders_pd_ors import server
from tests.scheduling.rivals import (
    bars_of,
    completed,
    cuts_of,
    events_of,
    in_pieces,
    verified,
    workers,
    workload,
)

NAME = "themis"
EIGHT = cluster(worker_server("w", 8), ps_server("s", 100), horizon=60)
ALL = {"fairness": 0.0}
RATES = JobRates("oasis", 1_000)


def bidders_of(seed, demands=False):
    """(capacity of the server in GPUs and vCPUs, bidders) at random; a worker is a GPU, or some GPUs and vCPUs."""
    rng = np.random.default_rng(seed)
    gpus = int(rng.integers(2, 9))
    count = int(rng.integers(1, min(gpus, 4) + 1))
    found = []
    for number in range(count):
        need = tuple(int(n) * 1_000 for n in rng.integers(1, 4, size=2)) if demands else (1_000, 0)
        row = job(f"j{number}", workers=8, worker=(*need, 0, 0, 0), ps=(0, 0, 0, 0, 0))
        cost = max(need[0] / (gpus * 1_000), need[1] / 8_000)
        left = float(rng.integers(1, 60))
        shape = RATES.shape(row)
        found.append(Bidder(number, shape, int(rng.integers(1, 9)), float(rng.integers(0, 20)), left, left, cost))
    return gpus, found


def places_of(gpus):
    machines = cluster(Server("w", "edge", (gpus * 1_000, 8_000, 0, 0, 0), ("worker",)), ps_server("s"))
    servers = Servers(machines, RATES)
    return Places(Packing(servers), servers, local=False)


def valuation(bidder, count):
    return 1 / (bidder.elapsed + bidder.spread / count) if count else 0.0


def best(gpus, bidders):
    """(workers of each bidder, product of the valuations) of the greatest product, by trying all."""

    def fits(counts):
        return all(
            sum(n * unpack(one.shape.worker)[r] for n, one in zip(counts, bidders, strict=True)) <= most
            for r, most in enumerate((gpus * 1_000, 8_000))
        )  # fmt: skip

    every = product(*(range(1, one.most + 1) for one in bidders))
    values = [(np.prod([valuation(one, n) for one, n in zip(bidders, counts, strict=True)]), counts)
              for counts in every if fits(counts)]  # fmt: skip
    return max(values, default=(0.0, ()))


def test_auctions_are_those_of_all_allocations():
    """Workers of one GPU: the product, the part of each winner and what it keeps are exact."""
    for seed in range(cases(300, 60)):
        gpus, bidders = bidders_of(seed)
        fair = Auction(places_of(gpus), bidders)
        fair.run(payments=False)
        counts = [fair.places.workers[one.job] for one in bidders]
        most, _ = best(gpus, bidders)
        own = np.prod([valuation(one, n) for one, n in zip(bidders, counts, strict=True)])
        assert own == pytest.approx(most, rel=1e-9), seed
        paid = Auction(places_of(gpus), bidders)
        paid.run()
        for one, count in zip(bidders, counts, strict=True):
            others = [other for other in bidders if other is not one]
            without, _ = best(gpus, others)
            part = own / valuation(one, count) / without if others and count > 1 else 1.0
            assert paid.parts[one.job] == pytest.approx(part, rel=1e-9), seed
            assert paid.places.workers[one.job] == max(1, floor(part * count + 1e-6)), seed


def test_with_several_resources_the_product_is_close_to_the_greatest():
    """Workers of 1 to 3 GPUs and vCPUs: where all bidders can win, valuations are 0.99 of the best in the mean."""
    ratios = []
    for seed in range(cases(300, 60)):
        gpus, bidders = bidders_of(seed, demands=True)
        most, _ = best(gpus, bidders)
        if not most:
            continue
        auction = Auction(places_of(gpus), bidders)
        auction.run(payments=False)
        own = [valuation(one, auction.places.workers[one.job]) for one in bidders]
        ratios.append(float(np.exp((np.log(own).sum() - log(most)) / len(bidders))))
    assert len(ratios) > cases(100, 20)
    assert max(ratios) <= 1 + 1e-9
    assert (np.mean(ratios) > 0.99, min(ratios) > 0.8) == (True, True), (np.mean(ratios), min(ratios))


@settings(max_examples=cases(60, 10))
@given(st.integers(0, 100_000))
def test_payments_leave_between_one_worker_and_all(seed):
    gpus, bidders = bidders_of(seed, demands=True)
    fair, paid = (Auction(places_of(gpus), bidders) for _ in range(2))
    fair.run(payments=False)
    paid.run()
    assert fair.places.workers.keys() == paid.places.workers.keys()
    assert all(1 <= paid.places.workers[one] <= fair.places.workers[one] for one in fair.places.workers)
    assert all(0 < part <= 1 for part in paid.parts.values())


def test_the_worked_example():
    """8 GPUs. a asks for 6 and has 24 worker-slots to do, b for 4 with 20, c, which comes at 1 s, for 2 with 6. The
    allocations of the first two slots are computed in docs/rivals.md."""
    jobs = [job("a", workers=6, slots=4), job("b", workers=4, slots=5), job("c", 1_000, workers=2, slots=3)]
    events = events_of(EIGHT, jobs, NAME, **ALL)
    assert workers(events, 0) == [
        (0, 1_000, 5), (1_000, 2_000, 3), (2_000, 3_000, 4), (3_000, 4_000, 3), (4_000, 6_000, 5)
    ]  # fmt: skip
    assert workers(events, 1) == [(0, 2_000, 3), (2_000, 3_000, 2), (3_000, 6_000, 3), (6_000, 7_000, 4)]
    assert workers(events, 2) == [(1_000, 4_000, 2)]
    started = {e.data["job"]: e.data["values"] for e in events if e.kind == "decided" and e.data["kind"] == "started"}
    assert started[0] == {"workers": 5, "ps": 3, "bidders": 2, "part": 1.0, "won": 4, "rho": 0.5, "jobs": 2.0}
    assert started[1] == {
        "workers": 3, "ps": 2, "bidders": 2, "part": pytest.approx(4 / 6), "won": 2, "rho": 0.5, "jobs": 2.0
    }  # fmt: skip
    assert started[2]["part"] == pytest.approx((5.75 * 5.25) / (1 + 19 / 3) / (1 + 17 / 3))
    verified(EIGHT, jobs, NAME, **ALL)


def test_most_jobs_wait_while_the_one_that_is_treated_worst_takes_what_it_asks_for():
    """f = 0.8: one of three jobs bids. It has all of its 6 workers, and the others share 2 in turn."""
    jobs = [job("a", workers=6, slots=4), job("b", workers=4, slots=5), job("c", workers=4, slots=5)]
    started = {e.data["job"]: e.data for e in events_of(EIGHT, jobs, NAME) if e.kind == "decided" and e.at_ms == 0}
    assert [(started[index]["code"], started[index]["values"]["workers"]) for index in range(3)] == [
        ("themis.won", 6), ("themis.left_over", 1), ("themis.left_over", 1)
    ]  # fmt: skip


def test_the_job_that_waits_longest_for_its_work_bids_first():
    """4 GPUs, one bidder. a has all of them for a lease of 3 slots, although b comes at 1 s; then b has them: it would
    finish (2 + 1) / (1 x 2) times as late as on half the cluster, a (3 + 2) / (5 x 1.4) times."""
    machines = cluster(worker_server("w", 4), ps_server("s"), horizon=60)
    jobs = [job("a", workers=4, slots=5), job("b", 1_000, workers=4, slots=1)]
    events = events_of(machines, jobs, NAME, lease_slots=3)
    assert workers(events, 0) == [(0, 3_000, 4), (4_000, 6_000, 4)]
    assert workers(events, 1) == [(3_000, 4_000, 4)]
    found = {(e.at_ms, e.data["job"]): e.data for e in events if e.kind == "decided"}
    assert found[3_000, 1]["values"]["rho"] == pytest.approx((2 + 1) / (1 * 2))
    assert (found[3_000, 0]["code"], found[3_000, 0]["values"]["rho"]) == (
        "themis.lease_over", pytest.approx((3 + 2) / (5 * (1 + 2 * 2) / 3))
    )  # fmt: skip
    assert found[4_000, 0]["kind"] == "resumed"


def test_a_lease_that_is_renewed_changes_nothing():
    events = events_of(EIGHT, [job("a", workers=6, slots=4), job("b", workers=6, slots=4)], NAME, payments=False)
    changed = [(e.at_ms, *e.data["keys"]) for e in events if e.kind == "plan_changed"]
    assert len(changed) == len(set(changed))
    alone = events_of(EIGHT, [job("a", workers=6, slots=4)], NAME)
    assert [e.at_ms for e in alone if e.kind == "plan_changed"] == [0]


def test_gangs_are_placed_on_one_server_where_that_is_faster():
    """Of a gang of 2 on several servers a sample takes three times as long: each job gets a server of its own."""
    machines = shared_cluster(server("h0", 2, 4), server("h1", 2, 4), slots=20)
    jobs = [replace(sampled(f"j{i}", work=4.0, batch=2, gamma=2, slower=3.0), requested_workers=2) for i in range(2)]
    events = events_of(machines, jobs, NAME, fairness=0.0)
    assert [{bar.server for bar in bars_of(events)[index]} for index in range(2)] == [{0}, {1}]
    assert completed(events) == {0: 2_000, 1: 2_000}
    verified(machines, jobs, NAME, fairness=0.0)


def test_a_worker_that_would_slow_the_gang_down_is_not_taken():
    """Two servers of one GPU: a second worker on the other server would make the job 1.5 times slower."""
    machines = shared_cluster(server("h0", 1, 4), server("h1", 1, 4), slots=20)
    jobs = [replace(sampled("j", work=4.0, batch=2, gamma=2, slower=3.0), requested_workers=2)]
    events = events_of(machines, jobs, NAME, fairness=0.0)
    assert workers(events, 0) == [(0, 4_000, 1)]


def test_demand_is_what_a_job_requests_or_all_it_can_use():
    row = job("a", workers=8, slots=1, requested_workers=2)
    assert workers(events_of(EIGHT, [row], NAME), 0) == [(0, 4_000, 2)]
    assert workers(events_of(EIGHT, [row], NAME, demand="usable"), 0) == [(0, 1_000, 8)]


def test_reasons_are_sentences():
    values = {"workers": 5, "ps": 3, "bidders": 2, "part": 0.75, "won": 4, "rho": 1.25, "jobs": 2.5}
    fairness = "With all its workers it would take 1.25 times as long as with 1/2.5 of the cluster"
    assert sentence("themis.won", values) == (
        "Holds 5 workers and 3 parameter servers: won 4 workers in an auction among 2 jobs, 75 % of its fair share. "
        f"It also got 1 worker that no winner kept. {fairness}."
    )
    assert sentence("themis.left_over", values) == (
        f"Got 5 workers and 3 parameter servers that the auction left over. {fairness}, a lower ratio than that of "
        "the jobs in the auction."
    )
    assert sentence("themis.lease_over", values) == (
        f"Preempted: its lease has ended, and the other jobs leave no capacity for its workers. {fairness}. "
        "Completed work is kept."
    )


@pytest.mark.parametrize("world", ["oasis", "pd-ors"])
@pytest.mark.parametrize("own", [{}, {"fairness": 0.0, "lease_slots": 3}, {"fairness": 1.0, "demand": "usable"}])
@pytest.mark.thorough
def test_generated_workloads_are_verified_with_and_without_absences(world, own):
    machines, jobs = workload(world, seed=1)
    rng = np.random.default_rng(1)
    for with_away in (False, True):
        if with_away:
            machines = random_away(machines, rng, 40)
        events = verified(machines, jobs, NAME, 1, **own)
        assert completed(events)
        assert in_pieces(machines, jobs, NAME, cuts_of(events, 1), 1, **own) == events


class Watched(Themis):
    """Checks each allocation: no worker that a job could use stays free."""

    slots = 0

    def allocate(self, now_ms, slot):
        found, verdicts = super().allocate(now_ms, slot)
        packing = Packing(self.servers)
        for one, units in found.items():
            packing.take(self.shapes[one], units)
        for one, shape in self.shapes.items():
            if one not in found:
                assert not packing.grow(shape, {}, 0)
                self.slots += 1
        return found, verdicts


def test_no_job_waits_while_a_worker_of_it_fits():
    machines, jobs = workload("oasis", num_jobs=60, num_servers=8, seed=3)
    scheduler = Watched(Watched.Parameters())
    assert list(Simulation(machines, jobs, scheduler, 0).events())
    assert scheduler.slots > 50
