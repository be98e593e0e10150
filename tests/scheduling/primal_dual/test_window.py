"""The cheapest window: slot costs, the dynamic programme, its pruning and its ties."""

import numpy as np
import pytest

from scheduling.slotted.solvers.slot_cost import fill, marginal_costs, prefix
from scheduling.slotted.solvers.window import best_completion, near_best
from tests.scheduling.builders import curves_of


def test_a_slot_fills_the_cheapest_server_first():
    unit, room = np.array([[3.0, 1.0, 2.0]]), np.array([[5, 2, 1]])
    assert marginal_costs(unit, room, 5).tolist() == [[1, 1, 2, 3, 3]]
    assert prefix(marginal_costs(unit, room, 5)).tolist() == [[0, 1, 2, 4, 7, 10]]
    rows, servers, counts = fill(unit, room, np.array([4]))
    assert (rows.tolist(), servers.tolist(), counts.tolist()) == ([0, 0, 0], [1, 2, 0], [2, 1, 1])


def test_beyond_the_room_units_cost_infinity():
    assert marginal_costs(np.array([[1.0, 1.0]]), np.array([[1, 0]]), 3).tolist() == [[1, np.inf, np.inf]]


def test_equal_prices_go_to_the_lowest_server():
    _, servers, counts = fill(np.ones((1, 40)), np.full((1, 40), 2), np.array([3]))
    assert (servers.tolist(), counts.tolist()) == ([0, 1], [2, 1])


def test_greedy_marginals_are_not_enough():
    """3 workers share a parameter server. Slot 0: worker 1, PS 5; slot 1: worker 3, PS 0.5. Greedy: 9.5, best: 8."""
    worker = np.array([[1.0, 1, 1], [3, 3, 3]])
    ps = np.array([[5.0], [0.5]])
    curves = curves_of(worker, ps, np.array([0, 1, 1, 1]), 1 / 3)
    best = best_completion(3, np.array([100.0, 100.0]), curves)
    assert (best.cost, best.payoff, best.workers.tolist()) == (8.0, 92.0, [3])


def test_the_earliest_of_equal_completions_wins():
    worker = np.ones((4, 2))
    curves = curves_of(worker, np.zeros((4, 2)), np.arange(3), 1.0)
    best = best_completion(2, np.full(4, 10.0), curves)
    assert (best.last, best.workers.tolist()) == (0, [2])


def test_of_equal_plans_the_later_slot_gets_fewest_workers():
    """4 worker-slots in two slots of at most 3: 3 + 1, not 2 + 2 or 1 + 3."""
    curves = curves_of(np.ones((2, 3)), np.zeros((2, 3)), np.arange(4), 1.0)
    assert best_completion(4, np.full(2, 10.0), curves).workers.tolist() == [3, 1]


def test_a_payoff_of_zero_is_none():
    curves = curves_of(np.ones((1, 2)), np.zeros((1, 2)), np.arange(3), 1.0)
    assert best_completion(2, np.array([2.0]), curves) is None
    assert near_best(2, np.array([2.0]), curves).payoff == 0.0


def test_without_room_there_is_no_completion():
    curves = curves_of(np.full((3, 2), np.inf), np.zeros((3, 2)), np.arange(3), 1.0)
    assert best_completion(1, np.full(3, 5.0), curves) is None
    assert near_best(1, np.full(3, 5.0), curves) is None


@pytest.mark.parametrize("seed", range(300))
def test_pruning_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    slots, most = int(rng.integers(1, 40)), int(rng.integers(1, 7))
    gbps, ps_gbps = sorted(rng.integers(1, 6, size=2).tolist())
    needed = np.array([-(-y * gbps // ps_gbps) for y in range(most + 1)])
    worker = np.sort(rng.integers(1, 20, size=(slots, most)).astype(float), axis=1)
    ps = np.sort(rng.integers(0, 20, size=(slots, int(needed[-1]))).astype(float), axis=1)
    worker[rng.random(worker.shape) < 0.2] = np.inf  # cells in the middle too: what follows is out of reach as well
    worker = np.maximum.accumulate(worker, axis=1)
    utility = np.sort(rng.uniform(0, 80, size=slots))[::-1]
    need = int(rng.integers(1, slots * most + 1))
    curves = curves_of(worker, ps, needed, gbps / ps_gbps)
    least = float(np.min(worker, initial=20, where=worker < np.inf))
    plain = best_completion(need, utility, curves, 0.0, prune=False)
    pruned = best_completion(need, utility, curves, least)
    if plain is None:
        assert pruned is None
        guess = near_best(need, utility, curves, least)
        assert guess is None or guess.payoff <= 1e-9
    else:
        assert (pruned.last, pruned.workers.tolist()) == (plain.last, plain.workers.tolist())
        assert pruned.payoff == pytest.approx(plain.payoff, abs=1e-9)
        assert near_best(need, utility, curves, least).payoff <= plain.payoff + 1e-9
