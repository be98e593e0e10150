"""Numbers behind a decision by prices: the cost of the schedule, by resource, role and cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduling.model.values import Demand
from scheduling.slotted.pricing.prices import UNIT, PriceBook

MAX_CELLS = 10  # cells that an explanation names
SERVER, RESOURCE, SLOT, PRICE, COST = range(5)  # columns of cells


class Held(NamedTuple):
    """The units of one role in a schedule: parallel arrays, one row per (slot, server)."""

    book: PriceBook
    demand: Demand  # of one unit, of the resources that are priced
    slots: np.ndarray
    servers: np.ndarray  # position within the book
    counts: np.ndarray
    names: np.ndarray  # index in the cluster of each server of the book


def costs(parts: Sequence[Held]) -> dict[str, Any]:
    """{cost_by_resource, cost_by_role, cells: [[server, resource, slot, price, cost], ...]}, in utility.

    The most expensive cells come first.
    """
    by_role = []
    rows: list[np.ndarray] = []
    for book, demand, slots, servers, counts, names in parts:
        price = book.price[:, slots, servers]  # [resource, cell]
        cost = price * (np.array(demand)[:, None] / UNIT) * counts
        by_role.append(cost.sum(axis=1).tolist())
        resources, cells = np.nonzero(cost)
        found = (names[servers[cells]], resources, slots[cells], price[resources, cells], cost[resources, cells])
        rows.append(np.column_stack(found))
    cells = np.concatenate(rows)
    if len(cells) > MAX_CELLS:  # only what can be among the most expensive is sorted, ties included
        cells = cells[cells[:, COST] >= np.partition(cells[:, COST], -MAX_CELLS)[-MAX_CELLS]]
    most_expensive = cells[
        np.lexsort((cells[:, RESOURCE], cells[:, SERVER], cells[:, SLOT], -cells[:, COST]))[:MAX_CELLS]
    ]
    return {
        "cost_by_resource": [w + p for w, p in zip(*by_role, strict=True)],
        "cost_by_role": [sum(own) for own in by_role],
        "cells": [[int(s), int(r), int(t), p, c] for s, r, t, p, c in most_expensive.tolist()],
    }
