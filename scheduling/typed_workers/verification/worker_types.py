"""Types of the workers and parameter servers of each server."""

from __future__ import annotations

from scheduling.verification.rules import Row

EVERY = "any"  # type of a worker that takes every job


def declares_types(cluster: Row) -> bool:
    """True if workers or parameter servers of the cluster are declared with types that jobs have to match."""
    return any(
        set(server.get(worker_slots) or ()) - {EVERY}
        for server in cluster["servers"]
        for worker_slots in ("worker_lanes", "ps_lanes")
    )


def slot_types(cluster: Row, role: int) -> list[list[str]]:
    """[server][worker] its type. If no server declares workers, GPUs are workers, vCPUs parameter servers, one type.

    Where no server has a GPU, vCPUs are workers, too.
    """
    servers = cluster["servers"]
    declares = any(server.get("worker_lanes") or server.get("ps_lanes") for server in servers)
    gpus = any(((server.get("capacity") or {}).get("gpu") or 0) >= 1 for server in servers)
    out: list[list[str]] = []
    for server in servers:
        if ("worker", "ps")[role] not in server["roles"]:
            out.append([])
        elif declares:
            found = server.get("ps_lanes" if role else "worker_lanes") or {}
            out.append([kind for kind, count in found.items() for _ in range(count)])
        else:
            amount = (server.get("capacity") or {}).get("gpu" if gpus and not role else "cpu") or 0
            out.append([""] * int(round(amount * 1000) // 1000))
    return out
