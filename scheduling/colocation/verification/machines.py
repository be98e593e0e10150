"""Machines of a group: availability, speed and network."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.verification.rules import Row

NIC = 1.1  # Gbps of a server that names none; that of the first is the reference of comm_ms


def workers(demand: Sequence[int] | None, server: Row) -> int:
    """Workers of a job that a machine holds, at least one."""
    if demand is None:
        return 1
    amounts = [round(1000 * (server["capacity"].get(r) or 0)) for r in ("gpu", "cpu", "memory", "storage")]
    return max(1, min((have // need for have, need in zip(amounts, demand, strict=True) if need), default=1))


def powers(demand: Sequence[int] | None, most: int | None, servers: Sequence[Row]) -> tuple[float, float]:
    """Speed of machines in workers of the reference speed: of all, and of the fastest `most` workers on them."""
    rows = sorted(((float(s.get("speed") or 1.0), workers(demand, s)) for s in servers), reverse=True)
    total, used = sum(speed * count for speed, count in rows), 0.0
    left = sum(count for _, count in rows) if most is None else most
    for speed, count in rows:
        used += speed * min(left, count)
        left -= min(left, count)
    return total, used


def nic_gbps(server: Row) -> float:
    return float(server.get("nic_gbps") or server["capacity"].get("bandwidth") or NIC)


def is_away(server: Row, at_ms: int) -> bool:
    return any(begin <= at_ms < end for begin, end in server["away"])
