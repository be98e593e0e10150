"""The parts of PD-ORS against slow and obvious ones: placements on one machine and several, the program over slots."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.slotted.solvers import multi_machine_exact
from scheduling.slotted.solvers.knapsack import Options, best_plan, near_plan
from scheduling.slotted.solvers.multi_machine_exact import Machines, cheapest
from scheduling.slotted.solvers.multi_machine_greedy import least_costs, nested_greedy
from scheduling.slotted.solvers.multi_machine_lp import Relaxation
from scheduling.slotted.solvers.rounding import gain, packing_width, round_off
from scheduling.slotted.solvers.single_machine import internal_costs, pair_room
from tests.cases import cases


def instance(seed, servers=3, resources=2):
    """(machines, gamma): up to 6 units of each of two resources on a machine, demands up to 3."""
    rng = np.random.default_rng(seed)
    free = rng.integers(0, 7, size=(servers, resources))
    worker, ps = rng.integers(0, 4, size=resources), rng.integers(0, 3, size=resources)
    worker[0] += not worker.any()
    cost = np.round(rng.uniform(0.5, 5, size=(2, servers)) * 64) / 64
    room = [
        np.array([min((int(f // d) for f, d in zip(row, demand, strict=True) if d), default=9) for row in free])
        for demand in (worker, ps)
    ]
    return Machines(free, worker, ps, cost[0], cost[1], np.minimum(room[0], 9), np.minimum(room[1], 9)), int(
        rng.integers(1, 4)
    )


def brute(machines, workers, ps):
    """Cheapest cost of exactly so many units, by trying all placements."""
    own = [
        [
            (w, s, w * cw + s * cs)
            for w in range(workers + 1) for s in range(ps + 1)
            if (w * machines.worker + s * machines.ps <= free).all()
        ]
        for free, cw, cs in zip(machines.free, machines.worker_cost, machines.ps_cost, strict=True)
    ]  # fmt: skip
    return min(
        (
            sum(c for _, _, c in row)
            for row in product(*own)
            if sum(w for w, _, _ in row) == workers and sum(s for _, s, _ in row) == ps
        ),
        default=math.inf,
    )


def greedy(machines, group, most):
    orders = [
        [int(h) for h in np.argsort(cost, kind="stable") if room[h]]
        for cost, room in ((machines.worker_cost, machines.worker_room), (machines.ps_cost, machines.ps_room))
    ]
    return nested_greedy(machines.free, machines.worker.tolist(), machines.ps.tolist(), *orders, group, most)


def one_by_one(machines, group, most):
    """The greedy search, literally: unit after unit."""
    left, total, costs = machines.free.copy(), 0.0, [0.0]
    for y in range(1, most + 1):
        units = [(machines.worker, machines.worker_cost, machines.worker_room)]
        if (y - 1) % group == 0:
            units.insert(0, (machines.ps, machines.ps_cost, machines.ps_room))
        for demand, cost, room in units:
            hosts = [h for h in np.argsort(cost, kind="stable") if room[h] and (demand <= left[h]).all()]
            if not hosts:
                return costs
            left[hosts[0]] -= demand
            total += cost[hosts[0]]
        costs.append(total)
    return costs


@pytest.mark.parametrize("seed", range(60))
def test_strides_place_as_unit_after_unit_does(seed):
    machines, group = instance(seed, servers=4)
    ps_of = -(-np.arange(9) // group)
    nested = greedy(machines, group, 8)
    costs = nested.costs(machines.worker_cost, machines.ps_cost, ps_of)
    expected = one_by_one(machines, group, 8)
    assert costs[: len(expected)] == pytest.approx(expected)
    assert nested.reach == len(expected) - 1
    least = least_costs(*(a[None] for a in machines[3:]), ps_of)[0]
    assert (least[: len(expected)] <= np.array(expected) + 1e-9).all()
    for workers in range(1, nested.reach + 1):
        w, s = nested.place(workers, int(ps_of[workers]))
        assert sum(w.values()) == workers
        assert sum(s.values()) == ps_of[workers]
        held = [w.get(h, 0) * machines.worker + s.get(h, 0) * machines.ps for h in range(4)]
        assert (np.array(held) <= machines.free).all()
        assert (len({*w, *s}) == 1) == (workers <= nested.single(ps_of))


@pytest.mark.parametrize("seed", range(60))
def test_the_integer_program_finds_the_cheapest_placement_or_proves_that_there_is_none(seed):
    machines, group = instance(seed)
    for workers in (1, 2, 4):
        ps = -(-workers // group)
        best = brute(machines, workers, ps)
        found = cheapest(machines, workers, ps, math.inf, 10)
        assert found.cost == pytest.approx(best)
        assert found.status == ("optimal" if math.isfinite(best) else "infeasible")
        costs = one_by_one(machines, group, workers)
        if len(costs) > workers:
            better = cheapest(machines, workers, ps, costs[workers], 10)
            assert min(better.cost, costs[workers]) == pytest.approx(best)
            assert better.status == ("bound" if costs[workers] <= best + 1e-9 else "optimal")


@pytest.mark.parametrize("seed", range(30))
def test_one_machine_is_the_cheapest_that_holds_all(seed):
    machines, group = instance(seed)
    ps_of = -(-np.arange(6) // group)
    room = pair_room(machines.free.T[:, None], machines.worker, machines.ps, group, 5)
    cost, place = internal_costs(room, machines.worker_cost[None], machines.ps_cost[None], ps_of)
    for w in range(1, 6):
        held = w * machines.worker + ps_of[w] * machines.ps
        fits = (held <= machines.free).all(axis=1)
        total = np.where(fits, w * machines.worker_cost + ps_of[w] * machines.ps_cost, np.inf)
        if not fits.any():
            assert w >= cost.shape[1] or cost[0, w] == np.inf
        else:
            assert (cost[0, w], place[0, w]) == (total.min(), total.argmin())


@pytest.mark.parametrize("seed", range(80))
def test_the_program_over_slots_equals_trying_everything(seed):
    rng = np.random.default_rng(seed)
    kinds, columns, slots = 2, 4, 4
    gain = rng.integers(1, 6, size=(kinds, columns)).astype(float)
    cost = np.where(rng.random((kinds, columns)) < 0.2, np.inf, rng.integers(1, 40, size=(kinds, columns)) / 4)
    kind, need = rng.integers(0, kinds, size=slots), int(rng.integers(1, 14))
    utility = np.sort(rng.integers(1, 80, size=slots) / 2)[::-1]
    if seed % 3 == 0:
        utility[:] = utility[0]  # no hurry
    guess = cost * rng.uniform(0.2, 1, size=cost.shape)
    lazy = Options(kind, gain.copy(), guess, np.ones(columns, dtype=bool), lambda k: (gain[k], cost[k]))
    plain = Options(kind, gain.copy(), cost.copy(), np.zeros(columns, dtype=bool))
    best, last = 0.0, -1
    for chosen in product(range(-1, columns), repeat=slots):
        used = [(t, kind[t], c) for t, c in enumerate(chosen) if c >= 0]
        if used and sum(gain[k, c] for _, k, c in used) >= need:
            payoff = utility[used[-1][0]] - sum(cost[k, c] for _, k, c in used)
            if payoff > best + 1e-9 or (payoff > best - 1e-9 and used[-1][0] < last):
                best, last = payoff, used[-1][0]
    for options in (plain, lazy):
        plan = best_plan(need, utility, options)
        if best <= 1e-9:
            assert plan is None
            continue
        assert (plan.payoff, plan.last) == (pytest.approx(best), last)
        used = np.flatnonzero(plan.options >= 0)
        assert gain[kind[used], plan.options[used]].sum() >= need
        assert cost[kind[used], plan.options[used]].sum() == pytest.approx(plan.cost)
        assert near_plan(need, utility, options).payoff <= best + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_the_relaxation_bounds_the_integer_program(seed):
    """Asked for one point after another, each begins where the last ended; a new program gives the same."""
    machines, group = instance(seed)
    relaxation = Relaxation(machines, 10)
    for workers in (1, 3, 2, 9, 2):
        ps = -(-workers // group)
        status, found = relaxation.solve(workers, ps)
        alone, cold = Relaxation(machines, 10).solve(workers, ps)
        assert status == alone == ("infeasible" if found is None else "optimal")
        if found is None:
            assert brute(machines, min(workers, 4), -(-min(workers, 4) // group)) == math.inf or workers == 9
            continue
        n = len(relaxation.hosts)
        assert relaxation.cost @ found == pytest.approx(relaxation.cost @ cold)
        assert found[:n].sum() >= workers - 1e-6
        assert found[n:].sum() >= ps - 1e-6
        if workers < 9:
            assert relaxation.cost @ found <= brute(machines, workers, ps) + 1e-6


def test_a_relaxation_out_of_time_says_so_and_can_be_asked_again():
    machines, group = instance(1)
    relaxation = Relaxation(machines, 0.0)
    assert relaxation.solve(2, -(-2 // group)) == ("limit", None)
    relaxation.seconds = 10
    assert relaxation.solve(2, -(-2 // group))[0] == "optimal"


def test_a_solver_that_breaks_is_reported_as_such(monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no licence")

    machines, _ = instance(1)
    monkeypatch.setattr(multi_machine_exact, "milp", broken)
    assert cheapest(machines, 1, 1, math.inf, 1).status in ("error", "infeasible")


def test_roundings_are_feasible_and_the_cheapest_of_the_first():
    """2.5 workers and half a parameter server on each of two machines: 2 or 3 and 0 or 1 units after rounding."""
    free = np.array([[4, 1], [4, 1]])
    relaxed, cost = np.array([2.5, 2.5, 0.5, 0.5]), np.array([1.0, 2.0, 1.0, 1.0])
    found = round_off(relaxed, 1.0, 5, 6, 5, free, np.array([1, 0]), np.array([0, 1]), cost, np.full(4, 9), 500, 50,
                      np.random.default_rng(0))  # fmt: skip
    assert (found.workers, sum(found.ps.values()), found.cost) == ({0: 3, 1: 2}, 1, 8.0)
    none = round_off(relaxed, 0.1, 5, 6, 5, free, np.array([1, 0]), np.array([0, 1]), cost, np.full(4, 9), 50, 5,
                     np.random.default_rng(0))  # fmt: skip
    assert none is None


def test_the_gain_solves_the_equation_of_the_theorems():
    for cover in (False, True):
        g = gain(0.1, 20.0, 5, cover)
        factor = 2 if cover else 3
        assert (1 - g) ** 2 / g == pytest.approx(factor * math.log(3 * 5 / 0.1) / 20)
        assert (g > 1) == cover
    assert gain(0.1, 0.0, 5, False) == 0
    assert packing_width(np.array([[8, 0], [6, 3]]), np.array([2, 0]), np.array([0, 3]), 100) == 1
    assert packing_width(np.array([[0, 0]]), np.array([2, 0]), np.array([0, 3]), 100) == 0


@settings(max_examples=cases(60, 10))
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_bounds_never_exceed_the_cheapest(seed, workers):
    machines, group = instance(seed)
    ps = -(-workers // group)
    ps_of = -(-np.arange(workers + 1) // group)
    best = brute(machines, workers, ps)
    assert least_costs(*(a[None] for a in machines[3:]), ps_of)[0, workers] <= best + 1e-9
    hosts = np.arange(len(machines.free))
    if math.isfinite(best):
        _, bound = multi_machine_exact._candidates(machines, hosts, workers, ps, best * 1.5)
        assert bound <= best + 1e-9
