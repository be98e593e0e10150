"""Data of a `priced` event: a scheduler's prices over the servers of each site."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.bars import Placement
from scheduling.model.values import RESOURCES, SITES

_DIGITS = 6  # significant ones that an event carries
_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # those that a float holds exactly


def price_event(scheduler: BaseScheduler, slots: Sequence[int], all_slots: int | None = None) -> dict[str, Any] | None:
    """Minimum, mean and maximum price per unit in each slot, flat by slot, site, resource; None without prices.

    When these are all the slots of the horizon and their prices are the same, one slot's values stand for "all".
    """
    prices = scheduler.prices(np.array(slots, dtype=np.int64))  # [slot, server, resource], NaN where there is none
    if prices is None or not len(slots):
        return None
    named: Any = list(slots)
    if len(slots) == all_slots and np.array_equal(prices, np.broadcast_to(prices[:1], prices.shape), equal_nan=True):
        named, prices = "all", prices[:1]
    shape = (len(prices), len(SITES), len(RESOURCES))
    low, mean, high = (np.full(shape, np.nan) for _ in range(3))
    for position, site in enumerate(SITES):
        of_site = prices[:, [i for i, server in enumerate(scheduler.cluster.servers) if server.site == site]]
        missing = np.isnan(of_site)
        count = (~missing).sum(axis=1)  # [slot, resource]
        low[:, position] = np.where(missing, np.inf, of_site).min(axis=1, initial=np.inf)
        high[:, position] = np.where(missing, -np.inf, of_site).max(axis=1, initial=-np.inf)
        mean[:, position] = np.where(missing, 0.0, of_site).sum(axis=1) / np.where(count, count, np.nan)
    return {"slots": named, "low": _plain(low), "mean": _plain(mean), "high": _plain(high)}


def slots_of(bars: Iterable[Placement], now_ms: int, slot_ms: int) -> list[int]:
    """Slots, from the current one on, that the bars touch."""
    spans = {(max(bar.start_ms, now_ms) // slot_ms, -(-bar.end_ms // slot_ms)) for bar in bars if bar.end_ms > now_ms}
    return sorted({slot for first, end in spans for slot in range(first, end)})


def _plain(values: np.ndarray) -> list[float | None]:
    """Floats rounded to six significant digits, None where there is no finite one."""
    values = values.ravel()
    known = np.isfinite(values) & (values != 0)
    size = np.floor(np.log10(np.abs(values), where=known, out=np.zeros_like(values))).astype(np.int64)
    shift = np.clip(_DIGITS - 1 - size, 1 - len(_POWERS), len(_POWERS) - 1)
    up, down = _POWERS[np.maximum(shift, 0)], _POWERS[np.maximum(-shift, 0)]
    rounded = np.round(np.where(known, values, 0.0) * up / down) * down / up
    return [
        None if not finite else value
        for finite, value in zip(np.isfinite(values).tolist(), rounded.tolist(), strict=True)
    ]
