"""Nodes on which a part of a waiting job fits: a table [node, kind of job], kept up to date node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduling.forecast.values import Node, Waiting


class Fitting:
    """Free amounts of the nodes, and which kinds fit on which node. A kind: alike in every demand and choice of nodes.

    Of a job with several groups, all kinds are in the table: `kinds[job]` has one number per group.
    """

    def __init__(self, nodes: Sequence[Node], waiting: Sequence[Waiting]) -> None:
        resources = len(nodes[0].capacity) if nodes else 1
        self.capacity = np.array([node.capacity for node in nodes], dtype=np.int64).reshape(len(nodes), resources)
        self.free = self.capacity.copy()
        self.kinds: list[tuple[int, ...]] = []
        demands: list[tuple[int, ...]] = []
        whole: list[bool] = []
        allowed: list[np.ndarray] = []
        known: dict[tuple[object, ...], int] = {}
        masks: dict[tuple[object, ...], np.ndarray] = {}
        for job in waiting:
            choice = (job.queues, job.reservation, job.only, job.not_on)
            numbers = []
            for group in job.groups:
                key = (group.amounts, job.exclusive, *choice)
                if key not in known:
                    known[key] = len(demands)
                    demands.append(group.amounts)
                    whole.append(job.exclusive)
                    if choice not in masks:
                        masks[choice] = np.array([_takes(node, job) for node in nodes], dtype=bool)
                    allowed.append(masks[choice])
                numbers.append(known[key])
            self.kinds.append(tuple(numbers))
        self.demand = np.array(demands, dtype=np.int64).reshape(len(demands), -1 if demands else resources)
        self.whole = np.array(whole, dtype=bool)
        self.allowed = np.array(allowed, dtype=bool).reshape(len(demands), len(nodes)).T.copy()
        self.possible = self.allowed & fits(self.demand[None], self.capacity[:, None])
        self.table = self.possible.copy()
        self.counts = self.table.sum(axis=0)

    def take(self, nodes: np.ndarray, amounts: np.ndarray) -> None:
        """Subtraction of amounts [node, resource] from distinct nodes; negative amounts are given back."""
        self.free[nodes] -= amounts
        free = self.free[nodes]
        fit = self.possible[nodes] & fits(self.demand[None], free[:, None])
        if self.whole.any():
            idle = (free == self.capacity[nodes]).all(axis=1)
            fit &= ~self.whole[None] | idle[:, None]
        self.counts += fit.sum(axis=0) - self.table[nodes].sum(axis=0)
        self.table[nodes] = fit

    def lost(self, on: np.ndarray, spare: np.ndarray) -> np.ndarray:
        """[kind] number of nodes on which a part fits now, but not into what is spare there."""
        nodes = np.flatnonzero(on)
        needed = self.demand[None] if not self.whole.any() else self._needed(nodes)
        fit = fits(needed, spare[nodes][:, None])
        return np.asarray((self.table[nodes] & ~fit).sum(axis=0))

    def _needed(self, nodes: np.ndarray) -> np.ndarray:
        """[node, kind, resource]"""
        return np.where(self.whole[None, :, None], self.capacity[nodes][:, None], self.demand[None])

    def amounts(self, kind: int, nodes: np.ndarray) -> np.ndarray:
        """Amounts [node, resource] that a part of the kind takes on these nodes."""
        return self.capacity[nodes] if self.whole[kind] else np.tile(self.demand[kind], (len(nodes), 1))


def fits(needed: np.ndarray, free: np.ndarray) -> np.ndarray:
    """True where amounts [..., resource] are free; of none that a part does not need.

    Free amounts are below 0 on a node whose jobs hold more than the cluster states as its capacity.
    """
    return np.asarray(((needed <= free) | (needed == 0)).all(axis=-1))


def _takes(node: Node, job: Waiting) -> bool:
    """True if the node takes jobs like this one, as far as its free amounts allow."""
    if not node.available or (node.queues and job.queues and not node.queues & job.queues):
        return False
    if job.reservation and all(closed.name != job.reservation for closed in node.closed):
        return False
    return (not job.only or node.name in job.only) and node.name not in job.not_on
