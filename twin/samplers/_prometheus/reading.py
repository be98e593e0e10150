"""Reading of the answers: the use of each node, without what cannot be true or is too old."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scheduling.reporting.quantities import counted
from twin.connectors.facts import NodeFact
from twin.samplers._prometheus.client import Series
from twin.samplers._prometheus.nodes import Names
from twin.samplers.facts import NodeUse

ROUNDING = 0.05  # a rate over changing intervals may be a little below 0 or above 1
USED_GPU_MEMORY = 0.05  # share of its memory from which on a GPU is in use: a driver alone needs less


@dataclass(slots=True)
class Reading:
    """Content of a round of answers. odd: values that are out of range; stale: nodes."""

    uses: list[NodeUse] = field(default_factory=list)
    stale: set[str] = field(default_factory=set)
    odd: list[str] = field(default_factory=list)

    def why(self, strangers: Iterable[str]) -> str:
        """Sentence about all that was left out; "": nothing."""
        parts = []
        if self.stale:
            parts.append(f"{counted(len(self.stale), 'node')} with samples that are too old ({_some(self.stale)})")
        if self.odd:
            parts.append(f"{counted(len(self.odd), 'value')} out of range ({self.odd[0]})")
        if names := sorted(strangers):
            parts.append(f"{counted(len(names), 'name')} that no node of the cluster has ({_some(names)})")
        return "; ".join(parts)


def read(
    answers: Mapping[str, list[Series]], nodes: Mapping[str, NodeFact], names: Names, max_age_s: float
) -> tuple[Reading, float | None]:
    """(reading, the clock of the source in seconds); None without any series."""
    found = Reading()
    now_s = max((one.at_s for series in answers.values() for one in series), default=None)
    gpu_at, node_at = ({names.node(one.labels): one.value for one in answers[key]} for key in ("gpu_at", "node_at"))
    busy, memory_of_gpu = (_by_gpu(found, answers[key], names, key) for key in ("gpu_busy", "gpu_memory"))
    cpu, memory = (_by_node(found, answers[key], names, key) for key in ("cpu", "memory"))
    for name, node in nodes.items():
        times = []
        fresh = {}
        for key, of in (("gpu", gpu_at), ("node", node_at)):
            at_s = of.get(name)
            fresh[key] = at_s is not None and now_s is not None and now_s - at_s <= max_age_s
            if fresh[key] and at_s is not None:
                times.append(at_s)
            elif at_s is not None:
                found.stale.add(name)
        gpus = sorted({*busy.get(name, {}), *memory_of_gpu.get(name, {})})[: node.gpus] if fresh["gpu"] else []
        own = {gpu: share for gpu, share in busy.get(name, {}).items() if gpu in gpus}
        filled = {gpu for gpu in gpus if memory_of_gpu.get(name, {}).get(gpu, 0) >= USED_GPU_MEMORY}
        in_use = filled | {gpu for gpu, share in own.items() if share > 0}
        cpus, filled_memory = (of.get(name) if fresh["node"] else None for of in (cpu, memory))
        if gpus or cpus is not None or filled_memory is not None:
            found.uses.append(
                NodeUse(
                    name, round(max(times) * 1000), len(in_use) if gpus else None,
                    None if cpus is None else cpus * node.cpus,
                    None if filled_memory is None else filled_memory * node.memory_mb,
                    sum(own.values()) if own else None, len(own),
                )
            )  # fmt: skip
    return found, now_s


def _by_gpu(found: Reading, series: list[Series], names: Names, key: str) -> dict[str, dict[str, float]]:
    """{node: {GPU: share}}."""
    scale = 100 if key == "gpu_busy" else 1
    out: dict[str, dict[str, float]] = {}
    for one in series:
        gpu = "/".join(str(value) for label, value in sorted(one.labels.items()) if label not in names.labels)
        node, share = names.node(one.labels), _share(found, one, key, scale)
        if node is not None and share is not None:
            out.setdefault(node, {})[gpu] = max(share, out.get(node, {}).get(gpu, 0))
    return out


def _by_node(found: Reading, series: list[Series], names: Names, key: str) -> dict[str, float]:
    out: dict[str, float] = {}
    for one in series:
        node, share = names.node(one.labels), _share(found, one, key, 1)
        if node is not None and share is not None:
            out[node] = max(share, out.get(node, 0))
    return out


def _share(found: Reading, one: Series, key: str, scale: int) -> float | None:
    """The value as a share from 0 to 1; None, and an entry of `odd`, where it cannot be one."""
    slack = ROUNDING if key == "cpu" else 0
    if one.value is None or not -slack <= one.value / scale <= 1 + slack:
        of = ", ".join(str(value) for value in one.labels.values())
        found.odd.append(f"{key} {'is not a number' if one.value is None else f'{one.value:g}'} of {of}"[:120])
        return None
    return min(1.0, max(0.0, one.value / scale))


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(name[:60] for name in ordered[:3]) + (", ..." if len(ordered) > 3 else "")
