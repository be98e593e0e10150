"""Proved upper bounds on the utility of any schedule of the arrived jobs, whatever the scheduler.

Every bound is weak duality: for any prices p >= 0,

    D(p) = sum_{t,r} p_r(t) C_r(t) + sum_i max(0, max_tau f_i(tau - a_i) - LB_i(tau; p))  >=  OPT,

where C are the capacities of the whole cluster, and LB_i is a lower bound of what job i alone pays for its work by slot
tau: the cheapest worker-slots, with as many parameter servers as its ratio asks for, not rounded up. With PD-ORS at
most as many workers are fast in a slot as fit on one server with their parameter servers; others have the external rate
(Fact 1). Kinds, from the loosest:

    trivial         D(0): every job ends as early as it could alone
    repaired_dual   D of the scheduler's own prices, the cheapest server of a slot standing for all (the papers' D is
                    no bound: docs/papers/primal_dual.md)
    pooled_lp       the optimum of the linear relaxation in which all servers of a role are one, as the solver gives it
    lp_priced_dual  D of that relaxation's prices: rechecked without the solver that found them
    branched_dual   all schedules divided by the completions of jobs, and the greatest D of the parts, each with prices
                    of its own (branching/): no job completes in fractions, and parameter servers are whole

Beyond MAX_LP_JOBS jobs the relaxation is that of a sample of them on the same share of the cluster: any prices prove a
bound by D, so the bound is still about all jobs, only less tight; the optimum of the sample itself proves nothing and
is no bound.

Valid for slotted schedulers of jobs of one of the two papers (TRAINING_MODELS); others get none. The
bound is about the jobs known so far. It certifies a schedule, not the competitive ratio of the algorithm that made it.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from typing import Any

import numpy as np

from scheduling.model.training_models import EPSILON
from scheduling.model.utility import utility_at
from scheduling.model.values import Certificate, ModelError
from scheduling.slotted.branching.tree import tree_bound
from scheduling.slotted.certificate_problem import BOTH, PARAMETER_SERVERS, WORKERS, Problem, Task

BOUND_TYPES = ("trivial", "repaired_dual", "pooled_lp", "lp_priced_dual", "branched_dual")
POOLS = ("worker", "ps", "all")  # servers that may hold workers, that may hold parameter servers, and both together
SAFE = 1 + 1e-9  # bounds are sums in floating point: rounded up by this
MIN_WORTH = 1e-3  # of f_i(0): completions worth less are not variables of the LP but added to its value
# of the LP: beyond, slots are taken together; D of its prices, taken slot by slot, hardly loses by it
MAX_COLUMNS = 10_000
MAX_LP_JOBS = 2_000  # of the LP
MAX_SERVER_CELLS = 500_000_000  # slots x servers x jobs of D with prices per server: some seconds
MAX_SOLVER_S = 20.0
TOLERANCE = 1e-6  # relative, of the solver


def certify(
    task_problem: Problem, achieved: float, server_prices: np.ndarray | None = None, time_limit_s: float = MAX_SOLVER_S
) -> Certificate:
    """Best valid bound with its name. server_prices: [slot, server, resource] of the scheduler, NaN for none."""
    found: list[tuple[float, str, dict[str, Any]]] = [(trivial(task_problem), "trivial", {})]
    cells = task_problem.slots * len(task_problem.servers) * len(task_problem.tasks)
    if server_prices is not None and len(server_prices) >= task_problem.slots and cells <= MAX_SERVER_CELLS:
        found.append((dual_of_servers(task_problem, server_prices[: task_problem.slots]), "repaired_dual", {}))
    priced = sample(task_problem)
    solved = pooled_lp(priced, time_limit_s)
    if solved is not None:
        value, prices = solved
        duals: dict[str, Any] = {"prices": prices}
        if priced is not task_problem:
            duals["sampled"] = len(priced.tasks)
        found.append((dual_bound(task_problem, prices), "lp_priced_dual", duals))
        if priced is task_problem:
            found.append((value * (1 + TOLERANCE), "pooled_lp", duals))
            divided = divided_dual(task_problem, prices, max(achieved, 0.0))
            if divided is not None:
                found.append((SAFE * divided[0], "branched_dual", {**duals, "tree": divided[1]}))
    bound, kind, proof = min(found, key=lambda item: item[0])
    return Certificate(kind, achieved, max(bound, achieved), proof)


def divided_dual(task_problem: Problem, prices: np.ndarray, enough: float) -> tuple[float, Any] | None:
    """(bound, tree) of a search over completions; None where it finds none, or its solver is not installed."""
    try:
        from scheduling.slotted.branching.search import search
    except ImportError:  # the looser bounds need no such solver
        return None
    return search(task_problem, prices, enough=enough)


def ratio(certificate: Certificate) -> float | None:
    """Proved share of the optimum, rounded down to four decimals; None where the bound is 0."""
    if certificate.bound <= 0:
        return None
    return math.floor(min(1.0, certificate.achieved / certificate.bound) * 10_000) / 10_000


def plain(certificate: Certificate) -> dict[str, Any]:
    """{kind, achieved, bound, ratio} as in summary.json; sampled: of how many jobs the prices are, where not of all."""
    data = {
        "kind": certificate.kind,
        "achieved": certificate.achieved,
        "bound": certificate.bound,
        "ratio": ratio(certificate),
    }
    return data | {name: certificate.duals[name] for name in ("sampled",) if name in certificate.duals}


def recheck(task_problem: Problem, certificate: Certificate, server_prices: np.ndarray | None = None) -> None:
    """Recomputation of the bound from its duals alone; ModelError if it does not prove the certificate."""
    slack = SAFE
    if certificate.kind == "trivial":
        bound = trivial(task_problem)
    elif certificate.kind in ("lp_priced_dual", "pooled_lp"):
        bound = dual_bound(task_problem, np.asarray(certificate.duals["prices"], dtype=float))
        slack = SAFE if certificate.kind == "lp_priced_dual" else 1 + 2 * TOLERANCE
    elif certificate.kind == "branched_dual":
        bound = SAFE * tree_bound(task_problem, certificate.duals["tree"])
    elif certificate.kind == "repaired_dual" and server_prices is not None:
        bound = dual_of_servers(task_problem, server_prices[: task_problem.slots])
    else:
        raise ModelError(
            f"certificate: kind must be one of {', '.join(BOUND_TYPES)}, with the prices "
            f"that it uses, got {certificate.kind!r}"
        )
    if certificate.bound * slack < bound:
        raise ModelError(f"certificate: {certificate.kind} proves a bound of {bound!r}, not of {certificate.bound!r}")
    if certificate.achieved > certificate.bound * SAFE:
        raise ModelError(
            f"certificate: {certificate.achieved!r} was achieved, more than the bound of {certificate.bound!r}"
        )


def trivial(task_problem: Problem) -> float:
    """Bound D(0): the utility of all jobs if each runs alone on an empty cluster."""
    return SAFE * sum(utility_at(task.utility, min(task.shortest - 1, task.window)) for task in task_problem.tasks)


def dual_bound(task_problem: Problem, prices: np.ndarray) -> float:
    """D(p) of prices [slot, pool, resource] per whole unit and slot, >= 0."""
    p = np.maximum(np.nan_to_num(prices), 0.0)
    paid = float((p * task_problem.capacity).sum())
    workers, ps = p[:, WORKERS] + p[:, BOTH], p[:, PARAMETER_SERVERS] + p[:, BOTH]
    return SAFE * (paid + sum(_surplus(task, workers @ task.worker + ps @ task.ps) for task in task_problem.tasks))


def dual_of_servers(task_problem: Problem, prices: np.ndarray) -> float:
    """D(p) of prices per server: each unit of a job pays at least the cheapest server of the slot that may hold it."""
    counted = list(task_problem.counted)
    p = np.maximum(np.nan_to_num(prices), 0.0)[:, :, counted]
    there = ~task_problem.away
    paid = float((p * task_problem.servers[:, counted] * there[:, :, None]).sum())
    hosts_w, hosts_p = task_problem.hosts
    total = 0.0
    for task in task_problem.tasks:
        cost = _cheapest(p[:, hosts_w] @ task.worker[counted], there[:, hosts_w])
        if task.ps.any():
            cost = cost + _cheapest(p[:, hosts_p] @ task.ps[counted], there[:, hosts_p])
        total += _surplus(task, cost)
    return SAFE * (paid + total)


def _cheapest(cost: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Least [slot] of [slot, server], infinite where no server is available."""
    return np.where(there, cost, np.inf).min(axis=1, initial=np.inf)


def _surplus(task: Task, cost: np.ndarray) -> float:
    """max(0, max over completions of f - LB); cost: of one worker with its parameter servers, by slot of problem.

    LB: the cheapest `need` of what the slots so far offer. What is held is a heap with the dearest first.
    """
    best = max(0.0, task.later)
    steps, need = task.steps, task.need
    held: list[tuple[float, float]] = []  # (- price of a unit, work)
    work = paid = 0.0
    for worth, price in zip(task.worth.tolist(), cost[task.first : task.first + task.window].tolist(), strict=True):
        if worth <= best:
            break
        if price == math.inf:
            continue  # no server is available
        for size, factor in steps:
            heapq.heappush(held, (-price * factor, size))
            work += size
            paid += price * factor * size
        while work > need:
            dearest, size = heapq.heappop(held)
            given = min(size, work - need)
            work -= given
            paid += dearest * given
            if given < size:
                heapq.heappush(held, (dearest, size - given))
                break
        if work >= need - EPSILON:
            best = max(best, worth - paid)
    return best


def sample(task_problem: Problem) -> Problem:
    """The problem itself, or MAX_LP_JOBS of its jobs, the same at each call, on as large a share of the cluster."""
    count = len(task_problem.tasks)
    if count <= MAX_LP_JOBS:
        return task_problem
    chosen = np.sort(np.random.default_rng(count).permutation(count)[:MAX_LP_JOBS])
    tasks = tuple(task_problem.tasks[i] for i in chosen.tolist())
    return replace(task_problem, tasks=tasks, capacity=task_problem.capacity * (MAX_LP_JOBS / count))


def pooled_lp(task_problem: Problem, time_limit_s: float = MAX_SOLVER_S) -> tuple[float, np.ndarray] | None:
    """(optimum with what was left out added, prices[slot, pool, resource]).

    None when the solver gives none in time, or is not installed.

    u_i(t): the share of job i that ends in slot t or later, y_i(t) and z_i(t): its near and far workers. max sum f_i(t)
    (u_i(t) - u_i(t + 1)) subject to y_i(t) / near_i + z_i(t) / far_i <= u_i(t), sum_t y_i(t) + slow_i z_i(t) >= W_i
    u_i(first), and the capacities of the pools. Slots are taken
    together in groups where there are too many columns: a job is then worth what the first slot of a group is, which
    only raises the optimum. ModelError for more than MAX_LP_JOBS jobs: see `sample`.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix
    except ImportError:  # the looser bounds need no solver
        return None
    if len(task_problem.tasks) > MAX_LP_JOBS:
        raise ModelError(
            f"certificate: the relaxation accepts at most {MAX_LP_JOBS:,} jobs, got {len(task_problem.tasks):,}"
        )
    group = 1
    while _columns(task_problem, group) > MAX_COLUMNS and group < task_problem.slots:
        group *= 2
    lp = _Rows(task_problem, group)
    for task in task_problem.tasks:
        lp.add(task)
    if not lp.gain:
        return lp.left_out, np.zeros_like(task_problem.capacity)
    limits, keys = lp.capacities()
    matrix = coo_matrix((lp.factors, (lp.rows, lp.columns)), shape=(lp.count, len(lp.gain))).tocsr()
    bounds = np.array(lp.bounds + limits)
    result = linprog(
        -np.array(lp.gain), matrix, bounds, bounds=(0, None), method="highs-ds", options={"time_limit": time_limit_s}
    )
    if result.status != 0:
        return None
    prices = np.zeros_like(task_problem.capacity)
    duals = np.maximum(-result.ineqlin.marginals[len(lp.bounds) :], 0.0)
    for (g, pool, r), dual in zip(keys, duals.tolist(), strict=True):
        prices[g * group : (g + 1) * group, pool, r] = dual
    return float(-result.fun) + lp.left_out, prices


def _columns(task_problem: Problem, group: int) -> int:
    return sum((2 + (task.far > 0)) * (1 + task.window // group) for task in task_problem.tasks)


class _Rows:
    """The LP as it grows: rows of the jobs first, then one of each group of slots, pool and resource that is used."""

    def __init__(self, task_problem: Problem, group: int) -> None:
        self.problem, self.group = task_problem, group
        self.gain: list[float] = []
        self.bounds: list[float] = []
        self.left_out = 0.0  # what the completions that are no columns are worth at most
        self.row_parts: list[np.ndarray] = []
        self.column_parts: list[np.ndarray] = []
        self.factor_parts: list[np.ndarray] = []
        self.used: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []  # group, column of y, worker, ps

    def add(self, task: Task) -> None:
        """The columns u and y of a task, and its own rows."""
        known = task.worth
        keep = int(np.searchsorted(-known, -MIN_WORTH * known[0], side="right")) if task.window else 0
        self.left_out += max(task.later, float(known[keep]) if keep < task.window else 0.0)
        if keep < task.shortest:
            return
        first, last = task.first // self.group, (task.first + keep - 1) // self.group
        count = last - first + 1
        begins = np.maximum((first + np.arange(count)) * self.group, task.first)
        ends = np.minimum((first + np.arange(count) + 1) * self.group, task.first + keep)
        worth = known[begins - task.first]
        ready = (ends - task.first) < task.shortest  # too early for any completion
        worth[ready] = worth[max(0, int(ready.sum()))] if ready.any() and not ready.all() else worth[ready]
        u = len(self.gain) + np.arange(count)
        ways = [(workers, rate) for workers, rate in ((task.near, 1.0), (task.far, task.slow)) if workers > 0]
        ys = [u + count * (place + 1) for place in range(len(ways))]
        self.gain += [*(worth - np.concatenate(([0.0], worth[:-1]))).tolist(), *([0.0] * count * len(ways))]
        span = ends - begins
        self._rows(  # the shares of the ways in which a slot is used
            np.concatenate((*ys, u)),
            np.concatenate((*(np.full(count, 1 / workers) for workers, _ in ways), -1.0 * span)),
            np.tile(np.arange(count), len(ways) + 1),
            [0.0] * count,
        )
        self._rows(
            np.append(np.concatenate(ys), u[0]),
            np.append(np.concatenate([np.full(count, -rate) for _, rate in ways]), task.need),
            np.zeros(len(ways) * count + 1, dtype=np.int64),
            [0.0],
        )
        if count > 1:
            order = np.tile(np.arange(count - 1), 2)
            self._rows(np.concatenate((u[1:], u[:-1])), np.repeat([1.0, -1.0], count - 1), order, [0.0] * (count - 1))
        self._rows(u[:1], np.ones(1), np.zeros(1, dtype=np.int64), [1.0])
        self.used += [(first + np.arange(count), y, task.worker, task.ps) for y in ys]

    def _rows(self, columns: np.ndarray, factors: np.ndarray, rows: np.ndarray, bounds: list[float]) -> None:
        self.column_parts.append(columns)
        self.factor_parts.append(factors)
        self.row_parts.append(rows + len(self.bounds))
        self.bounds += bounds

    def capacities(self) -> tuple[list[float], list[tuple[int, int, int]]]:
        """(bounds, (group, pool, resource)) of the rows of capacity; pools that cannot bind are left out."""
        p, group = self.problem, self.group
        groups = -(-p.slots // group)
        starts = np.arange(groups) * group
        capacity = np.add.reduceat(p.capacity, starts, axis=0)
        place = {(pool, r): k for k, (pool, r) in enumerate((pool, r) for pool in p.pools for r in p.counted)}
        first = len(self.bounds)
        for slots, y, worker, ps in self.used:
            for (pool, r), k in place.items():
                amount = (worker[r] if pool != 1 else 0.0) + (ps[r] if pool != 0 else 0.0)
                if amount:
                    self.column_parts.append(y)
                    self.factor_parts.append(np.full(len(y), amount))
                    self.row_parts.append(first + k * groups + slots)
        self.count = first + len(place) * groups
        self.rows, self.columns = np.concatenate(self.row_parts), np.concatenate(self.column_parts)
        self.factors = np.concatenate(self.factor_parts)
        keys = [(g, pool, r) for pool, r in place for g in range(groups)]
        return [float(capacity[g, pool, r]) for g, pool, r in keys], keys
