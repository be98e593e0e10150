"""Nodes, from `scontrol show node -d -o`: one line a node."""

from __future__ import annotations

import re

from twin.connectors._slurm import amounts, states
from twin.connectors.facts import ConnectorError, NodeFact

FIELD = re.compile(r"(?:^|\s)(NodeName|CPUEfctv|CPUTot|RealMemory|Gres|State|Partitions|ActiveFeatures|Arch)=(\S*)")
REASON = re.compile(r"\sReason=(.*?)(?:\s\[\S*@\S*\])?\s*(?:\sComment=.*|\sExtra=.*)?$", re.DOTALL)
NONE = "No nodes in the system"
GPU_TYPE = re.compile(r"gpu:([^:,()]*[^:,()\d][^:,()]*):\d")


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
