"""Machines of a group: availability, speed and network."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.verification.rules import Row

NIC = 1.1  # Gbps of a server that names none; that of the first is the reference of comm_ms


def power(demand: Sequence[int] | None, server: Row) -> float:
    """Speed of a machine, in workers of the reference speed."""
    speed = float(server.get("speed") or 1.0)
    if demand is None:
        return speed
    amounts = [round(1000 * (server["capacity"].get(r) or 0)) for r in ("gpu", "cpu", "memory", "storage")]
    return max(1, min((have // need for have, need in zip(amounts, demand, strict=True) if need), default=1)) * speed


def nic_gbps(server: Row) -> float:
    return float(server.get("nic_gbps") or server["capacity"].get("bandwidth") or NIC)


def is_away(server: Row, at_ms: int) -> bool:
    return any(begin <= at_ms < end for begin, end in server["away"])
