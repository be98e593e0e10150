"""cluster.json: a cluster as plain data, in whole units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from scheduling.model.limits import MIN_REAL
from scheduling.model.values import ROLES, Cluster, ModelError, Server, shown
from twin.files.textcheck import BOM, check_text
from twin.files.units import MAX_INT, read_demand, shorten, write_demand

CLUSTER_KEYS = ("name", "slot_ms", "horizon_slots", "servers", "cloud")
SERVER_KEYS = (
    "name",
    "site",
    "roles",
    "capacity",
    "worker_lanes",
    "ps_lanes",
    "speed",
    "nic_gbps",
    "disk_gbps",
    "away",
    "queues",
)


def load_cluster(path: Path) -> Cluster:
    """Cluster of a file; ModelError states the file, and line and column if it is not JSON."""
    return parse_cluster(path.read_bytes(), path.name)


def parse_cluster(data: bytes, filename: str = "cluster.json") -> Cluster:
    """Bytes of a cluster.json as a Cluster."""
    try:
        value = orjson.loads(data.removeprefix(BOM))
    except orjson.JSONDecodeError as error:
        check_text(data, filename)
        raise ModelError(f"{filename}: not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from error
    try:
        return cluster_from_dict(value)
    except ModelError as error:
        raise ModelError(f"{filename}: {error}") from error


def cluster_from_dict(value: Any) -> Cluster:
    """Plain data as a Cluster; ModelError says what is wrong and which keys are known."""
    _check_keys("cluster", value, CLUSTER_KEYS)
    name = _get("cluster", value, "name", str)
    servers = _get("cluster", value, "servers", list)
    cloud = value.get("cloud")
    if cloud is not None and cloud != {"unlimited": True}:
        raise ModelError(
            f'cluster {shown(name)}: cloud must be null or {{"unlimited": true}}, got {shorten(repr(cloud))}'
        )
    horizon = value.get("horizon_slots")
    if horizon is not None and (isinstance(horizon, bool) or not isinstance(horizon, int)):
        raise ModelError(
            f"cluster {shown(name)}: horizon_slots must be null or an integer > 0, got {shorten(repr(horizon))}"
        )
    cluster = Cluster(
        name=name,
        slot_ms=_get(f"cluster {shown(name)}", value, "slot_ms", int),
        servers=tuple(_server(i, server) for i, server in enumerate(servers)),
        horizon_slots=horizon,
        unlimited_cloud=cloud is not None,
    )
    return check_end(cluster)


def check_end(cluster: Cluster) -> Cluster:
    """Cluster, if its horizon is a time that files and browsers can represent."""
    end_ms = cluster.slot_ms * (cluster.horizon_slots or 1)
    if end_ms > MAX_INT:
        raise ModelError(f"cluster {cluster.name}: slot_ms x horizon_slots must be at most 2^53 ms, got {end_ms:,}")
    return cluster


def cluster_with(cluster: Cluster, slot_ms: int | None, horizon_slots: int | None) -> Cluster:
    """The same machines under another slot length or horizon."""
    changes: dict[str, Any] = {}
    if slot_ms is not None:
        changes["slot_ms"] = slot_ms
    if horizon_slots is not None:
        changes["horizon_slots"] = horizon_slots
    return check_end(replace(cluster, **changes))


def cluster_to_dict(cluster: Cluster) -> dict[str, Any]:
    """The inverse of `cluster_from_dict`."""
    return {
        "name": cluster.name,
        "slot_ms": cluster.slot_ms,
        "horizon_slots": cluster.horizon_slots,
        "servers": [
            {
                "name": server.name,
                "site": server.site,
                "roles": list(server.roles),
                "capacity": write_demand(server.capacity),
                "worker_lanes": dict(server.worker_lanes),
                "ps_lanes": dict(server.ps_lanes),
                "speed": server.speed,
                "nic_gbps": server.nic_gbps,
                "disk_gbps": server.disk_gbps,
                **({"away": [list(interval) for interval in server.away]} if server.away else {}),
                **({"queues": list(server.queues)} if server.queues else {}),
            }
            for server in cluster.servers
        ],
        "cloud": {"unlimited": True} if cluster.unlimited_cloud else None,
    }


def dump_cluster(cluster: Cluster) -> bytes:
    """The content of cluster.json."""
    return orjson.dumps(cluster_to_dict(cluster), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _server(position: int, value: Any) -> Server:
    subject = f"server {position + 1}"
    _check_keys(subject, value, SERVER_KEYS)
    name = _get(subject, value, "name", str)
    subject = f"server {shown(name)}"
    roles = value.get("roles", list(ROLES))
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise ModelError(f"{subject}: roles must be a list among {', '.join(ROLES)}, got {shorten(repr(roles))}")
    return Server(
        name=name,
        site=value.get("site", "edge"),
        capacity=read_demand(subject, "capacity", _get(subject, value, "capacity", dict)),
        roles=tuple(roles),
        worker_lanes=_worker_slots(subject, value, "worker_lanes"),
        ps_lanes=_worker_slots(subject, value, "ps_lanes"),
        speed=1.0 if value.get("speed") is None else _number(subject, value, "speed", 1.0),
        nic_gbps=_rate(subject, value, "nic_gbps"),
        disk_gbps=_rate(subject, value, "disk_gbps"),
        away=_away(subject, value.get("away") or []),
        queues=_queues(subject, value.get("queues") or []),
    )


def _queues(subject: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise ModelError(f"{subject}: queues must be a list of names, got {shorten(repr(value))}")
    return tuple(value)


def _away(subject: str, value: Any) -> tuple[tuple[int, int], ...]:
    whole = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    if not whole or not all(type(ms) is int and 0 <= ms <= MAX_INT for pair in value for ms in pair):
        raise ModelError(f"{subject}: away must be a list of [from_ms, to_ms], got {shorten(repr(value))}")
    return tuple((begin, end) for begin, end in value)


def _worker_slots(subject: str, value: Mapping[str, Any], key: str) -> dict[str, int]:
    found = value.get(key) or {}
    counts = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_INT for count in counts):
        raise ModelError(
            f"{subject}: {key} must be an object of worker types and their counts, got {shorten(repr(found))}"
        )
    return dict(found)


def _rate(subject: str, value: Mapping[str, Any], key: str) -> float | None:
    found = _number(subject, value, key, None)
    if found is not None and not MIN_REAL <= found <= MAX_INT:
        raise ModelError(f"{subject}: {key} must be a number from 1e-9 to 2^53 Gbps, got {shorten(repr(found))}")
    return found


def _check_keys(subject: str, value: Any, known: tuple[str, ...]) -> None:
    if not isinstance(value, Mapping):
        raise ModelError(f"{subject}: must be an object with {', '.join(known)}, got {type(value).__name__}")
    unknown = [key for key in value if key not in known]
    if unknown:
        raise ModelError(f"{subject}: unknown key {shorten(unknown[0])!r}; known: {', '.join(known)}")


TYPE_NAMES: dict[type, str] = {int: "a whole number", str: "text", list: "a list", dict: "an object"}  # in messages


def _get(subject: str, value: Mapping[str, Any], key: str, kind: type) -> Any:
    if key not in value:
        raise ModelError(f"{subject}: {key} is missing")
    found = value[key]
    if kind is int and isinstance(found, float) and found.is_integer():  # such as 6e19; the model checks its size
        return int(found)
    if not isinstance(found, kind) or isinstance(found, bool):
        raise ModelError(f"{subject}: {key} must be {TYPE_NAMES[kind]}, got {shorten(repr(found))}")
    return found


def _number(subject: str, value: Mapping[str, Any], key: str, default: float | None) -> Any:
    found = value.get(key, default)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int | float)):
        raise ModelError(f"{subject}: {key} must be a number, got {shorten(repr(found))}")
    return found
