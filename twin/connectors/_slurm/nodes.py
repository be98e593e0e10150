"""Nodes and their reservations, from `scontrol show node -d -o` and `scontrol show reservation -o`: one line each."""

from __future__ import annotations

import re

from twin.connectors._slurm import amounts, states
from twin.connectors._slurm.hostlist import hosts
from twin.connectors.facts import ConnectorError, NodeFact, ReservationFact

FIELD = re.compile(r"(?:^|\s)(NodeName|CPUEfctv|CPUTot|RealMemory|Gres|State|Partitions|ActiveFeatures|Arch)=(\S*)")
REASON = re.compile(r"\sReason=(.*?)(?:\s\[\S*@\S*\])?\s*(?:\sComment=.*|\sExtra=.*)?$", re.DOTALL)
NONE = "No nodes in the system"
GPU_TYPE = re.compile(r"gpu:([^:,()]*[^:,()\d][^:,()]*):\d")
RESERVATION = "ReservationName="
RESERVED = re.compile(r"(?:^|\s)(ReservationName|StartTime|EndTime|Nodes|Flags|Users|Accounts)=(\S*)")
NO_RESERVATIONS = "No reservations in the system"
FLOATS = "TIME_FLOAT"  # begins at a constant distance from now, hence at no time
MAX_TEXT = 200


def read_nodes(text: str) -> tuple[NodeFact, ...]:
    """Facts of all nodes; a reason with line breaks stays with its node."""
    start, *lines = re.split(r"^NodeName=", text, flags=re.MULTILINE)
    if start.strip() and start.strip() != NONE:
        raise ConnectorError(f"scontrol show node: the answer begins with {start.strip()[:100]!r} instead of NodeName=")
    return tuple(_node("NodeName=" + line) for line in lines)


def _node(line: str) -> NodeFact:
    found: dict[str, str] = {}
    for name, value in FIELD.findall(line):
        found.setdefault(name, value)  # free text comes later in the line
    missing = {"State", "RealMemory", "CPUTot"} - found.keys()
    if missing:
        raise ConnectorError(f"scontrol show node: {', '.join(sorted(missing))} is missing in the line {line[:100]!r}")
    state, more = states.node_state(found["State"])
    reason = REASON.search(line)
    features, kinds = amounts.known(found.get("ActiveFeatures", "")), GPU_TYPE.findall(found.get("Gres", ""))
    labels = {"features": features, "gpu": ",".join(kinds), "arch": found.get("Arch", "")}
    return NodeFact(
        name=found["NodeName"], state=state, reason=_one_line(reason[1]) if reason else more,
        gpus=amounts.gpus(found.get("Gres", "")), cpus=amounts.count(found.get("CPUEfctv") or found["CPUTot"]),
        memory_mb=amounts.megabytes(found["RealMemory"]),
        queues=tuple(filter(None, amounts.known(found.get("Partitions", "")).split(","))),
        labels={name: value for name, value in labels.items() if value},
    )  # fmt: skip


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def read_reservations(text: str) -> tuple[ReservationFact, ...]:
    """Facts of all reservations of nodes that have a time, in the order of their start."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.strip() == NO_RESERVATIONS:
            continue
        if not line.startswith(RESERVATION):
            raise ConnectorError(
                f"scontrol show reservation: the answer has the line {line.strip()[:100]!r} instead of {RESERVATION}"
            )
        fields = dict(reversed(RESERVED.findall(line)))  # of a repeated field the first: free text comes later
        flags = fields.get("Flags", "").split(",")
        names = hosts(amounts.known(fields.get("Nodes", "")))
        from_ms, until_ms = (amounts.seconds_ms(fields.get(name, "")) for name in ("StartTime", "EndTime"))
        if not names or FLOATS in flags or from_ms is None or until_ms is None:
            continue
        holders = amounts.known(fields.get("Users", "")) or amounts.known(fields.get("Accounts", ""))
        found.append(
            ReservationFact(
                fields["ReservationName"][:MAX_TEXT], from_ms, until_ms, names, "MAINT" in flags, holders[:MAX_TEXT]
            )
        )
    return tuple(sorted(found, key=lambda fact: (fact.from_ms, fact.name)))
