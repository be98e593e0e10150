"""Types of the workers and parameter servers of each server."""

from __future__ import annotations

from scheduling.verification.rules import Row


def declares_types(cluster: Row) -> bool:
    """True if a server of the cluster declares types of workers or parameter servers."""
    return any(server.get("worker_lanes") or server.get("ps_lanes") for server in cluster["servers"])


def lane_types(cluster: Row, role: int) -> list[list[str]]:
    """[server][lane] its type. If no server declares lanes, GPUs are workers, vCPUs parameter servers, one type."""
    declares = declares_types(cluster)
    out: list[list[str]] = []
    for server in cluster["servers"]:
        if ("worker", "ps")[role] not in server["roles"]:
            out.append([])
        elif declares:
            found = server.get("ps_lanes" if role else "worker_lanes") or {}
            out.append([kind for kind, count in found.items() for _ in range(count)])
        else:
            amount = (server.get("capacity") or {}).get("cpu" if role else "gpu") or 0
            out.append([""] * int(round(amount * 1000) // 1000))
    return out
