"""Dorm's integer program: how many workers each job gets.

maximize   what is used of each resource, as shares of the cluster, summed
subject to each type of server holds its units; parameter servers are as many as the workers need;
           fairness: |share - fair share| of the jobs adds up to at most `unfair`;
           adjustment: at most `changes` of the jobs that run get another number of workers.

A worker may run on any type on which it fits; only the sums over the types are integers, since their places do not
matter. The costly part is to choose the running jobs that change. `narrow` chooses first and leaves to the integer
program the workers of those jobs and of the jobs that wait: it takes the jobs that the linear relaxation changes most
and, where that finds nothing, those whose change brings most fairness. That may miss an allocation; the reported gap is
relative to the relaxation of the whole program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduling.slotted.solvers.program import Program

SLACK = 1e-9  # of a bound that is rounded down to whole workers
SATURATED = 1e-9  # share of a resource that counts as none
HALVINGS = 60
# of scipy.optimize.milp, which calls the node limit "other"
STATUS = ("optimal", "time", "infeasible", "failed", "limit")


@dataclass(frozen=True, slots=True)
class Demands:
    """The active jobs. Arrays by job; amounts in thousandths of the resources that count."""

    worker: np.ndarray  # [job, resource]
    ps: np.ndarray
    most: np.ndarray  # workers
    need: np.ndarray  # w workers have ceil(w need / give) parameter servers
    give: np.ndarray
    before: np.ndarray  # workers that it has; 0 for a job that does not run


@dataclass(frozen=True, slots=True)
class Pool:
    """A type of server."""

    capacity: np.ndarray  # [resource], of all its servers together
    worker_room: np.ndarray  # [job] workers that its empty servers hold
    ps_room: np.ndarray


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of the solver; workers is None without a solution.

    status: optimal (within the gap asked for), narrowed (the best of the narrowed program, its gap relative to the
    relaxation), limit (of nodes), time (the wall clock: another machine may find something else), infeasible or failed.
    gap: relative, to its bound.
    """

    status: str
    workers: np.ndarray | None
    gap: float


def share_out(
    jobs: Demands, pools: Sequence[Pool], unfair: float | None, changes: int, gap: float, node_limit: int,
    time_limit: float, narrow: bool = False,
) -> Answer:  # fmt: skip
    """unfair: None for no constraint. At least one job and one pool."""
    total = np.maximum(np.sum([pool.capacity for pool in pools], axis=0), 1)
    dominant = dominant_shares(jobs, total)
    fair = fair_shares(jobs, total, dominant)
    program = Program()
    most = jobs.most
    if unfair is not None:  # a single job may not be further from its fair share
        furthest = np.divide(fair + unfair, dominant, out=np.full_like(fair, np.inf), where=dominant > 0)
        most = np.minimum(most, np.floor(furthest + SLACK)).astype(np.int64)
    least = np.where(dominant > 0, 0, most)  # a job without demands has all it can use
    workers = program.columns(least, most, (jobs.worker / total).sum(axis=1), integer=True)
    ps = program.columns(
        np.zeros_like(least), -(-most * jobs.need // jobs.give), (jobs.ps / total).sum(axis=1), integer=True
    )
    program.rows([(ps, 1), (workers, -jobs.need / jobs.give)], 0, 1 - 1 / jobs.give)  # ceil, in exact steps of 1 / give
    spread: list[tuple[np.ndarray, np.ndarray]] = []  # columns of each pool
    for pool in pools:
        spread.append((program.columns(0 * least, pool.worker_room), program.columns(0 * least, pool.ps_room)))
        for r in np.flatnonzero(pool.capacity).tolist():
            amounts = jobs.worker[:, r] / pool.capacity[r], jobs.ps[:, r] / pool.capacity[r]
            program.row(list(zip(spread[-1], amounts, strict=True)), -np.inf, 1)
    for role, whole in enumerate((workers, ps)):
        program.rows([(whole, -1), *((columns[role], 1) for columns in spread)], 0, 0)
    if unfair is not None:
        loss = program.columns(0 * least, np.inf)
        program.rows([(workers, dominant), (loss, -1)], -np.inf, fair)
        program.rows([(workers, dominant), (loss, 1)], fair, np.inf)
        program.row([(loss, 1)], -np.inf, unfair)
    runs = np.flatnonzero(jobs.before)
    if not len(runs):
        return _solve(program, workers, gap, node_limit, time_limit)
    before = jobs.before[runs]
    adjusted = program.columns(0 * before, 1, integer=True)
    program.rows([(workers[runs], 1), (adjusted, -np.maximum(most[runs] - before, 0))], -np.inf, before)
    program.rows([(workers[runs], 1), (adjusted, before)], before, np.inf)
    program.row([(adjusted, 1)], -np.inf, changes)
    if not narrow or not 0 < changes < len(runs):  # otherwise there is no choice
        return _solve(program, workers, gap, node_limit, time_limit)
    relaxed = program.relaxation()
    if relaxed.x is None:
        return Answer(STATUS[relaxed.status], None, np.inf)
    for gain in (relaxed.x[adjusted], (np.abs(dominant * jobs.before - fair) - _least_loss(dominant, fair))[runs]):
        order = adjusted[np.argsort(-gain, kind="stable")]
        program.fix(order[:changes], 1)
        program.fix(order[changes:], 0)
        answer = _solve(program, workers, gap, node_limit, time_limit, -relaxed.fun)
        if answer.workers is not None or answer.status == "time":
            return answer
    return Answer("narrowed", None, np.inf)


def dominant_shares(jobs: Demands, total: np.ndarray) -> np.ndarray:
    """[job] the largest share of a resource that one worker takes, with its part of a parameter server."""
    return _unit(jobs, total).max(axis=1)


def fair_shares(jobs: Demands, total: np.ndarray, dominant: np.ndarray) -> np.ndarray:
    """[job] the dominant share under DRF of divisible workers: all rise together until a wanted resource is used up."""
    ceiling = dominant * jobs.most
    usage = np.divide(
        _unit(jobs, total), dominant[:, None], out=np.zeros_like(jobs.worker, dtype=float), where=dominant[:, None] > 0
    )
    share, rising = np.zeros(len(dominant)), dominant > 0
    while rising.any():
        low, high = float(share[rising].max()), float(ceiling[rising].max())
        if (np.where(rising, ceiling, share) @ usage <= 1).all():
            low = high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if (np.where(rising, np.minimum(ceiling, middle), share) @ usage <= 1).all():
                low = middle
            else:
                high = middle
        share = np.where(rising, np.minimum(ceiling, low), share)
        empty = share @ usage >= 1 - SATURATED
        stuck = rising & ((usage[:, empty] > 0).any(axis=1) | (share >= ceiling))
        if not stuck.any():
            break
        rising &= ~stuck
    return share


def _unit(jobs: Demands, total: np.ndarray) -> np.ndarray:
    return (jobs.worker + jobs.ps * (jobs.need / jobs.give)[:, None]) / total


def _least_loss(dominant: np.ndarray, fair: np.ndarray) -> np.ndarray:
    """[job] how far from its fair share a whole number of workers leaves it at least."""
    below = np.floor(np.divide(fair, dominant, out=np.zeros_like(fair), where=dominant > 0) + SLACK) * dominant
    return np.minimum(np.abs(fair - below), np.abs(below + dominant - fair))


def _solve(
    program: Program, asked: np.ndarray, gap: float, node_limit: int, time_limit: float, bound: float | None = None
) -> Answer:
    """The values of the integer columns `asked`. bound: of the program before some columns were fixed."""
    found = program.solve(mip_rel_gap=gap, node_limit=node_limit, time_limit=time_limit)
    status = STATUS[found.status]
    if found.x is None:
        return Answer(status, None, np.inf)
    reached = float(found.mip_gap or 0.0)
    if bound is not None:
        reached = max(0.0, (bound + found.fun) / max(-found.fun, SATURATED))
        status = status if found.status == 1 else "optimal" if reached <= gap else "narrowed"
    return Answer(status, np.rint(found.x[asked]).astype(np.int64), reached)
