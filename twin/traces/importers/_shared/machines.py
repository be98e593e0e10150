"""Conversion of a list of servers to a cluster; missing values follow fixed rules, each listed in a note.

Site: every fourth machine of a kind (with GPUs, without) is at the edge. Storage: 500 GB. Bandwidth: sampled from 20-50
Gbps, keyed by the machine's name. CPUs: 8 vCPUs for each GPU, at least 8. Memory: 4 GB for each vCPU, at least 32 GB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduling.model.values import MAX_SERVERS, Cluster, Server
from scheduling.reporting.quantities import counted
from twin.traces.importing.drafts import ImportRefused, ReadOptions
from twin.traces.synthesis import uniform

STORAGE = 500_000  # thousandths of a GB
BANDWIDTH = (20_000, 50_001)  # thousandths of a Gbps, the end excluded
CPU_PER_GPU, MIN_CPU = 8, 8_000  # vCPU; thousandths
MEMORY_PER_CPU, MIN_MEMORY = 4, 32_000  # GB; thousandths of a GB
EDGE_EVERY = 4
MAX_NUMBER = 2**50


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine of a list, in thousandths; None = not in the list. away: (from_ms, to_ms) in which it does not exist."""

    name: str
    gpu: int
    cpu: int | None = None
    memory: int | None = None
    storage: int | None = None
    bandwidth: int | None = None
    site: str | None = None
    away: tuple[tuple[int, int], ...] = ()


def is_server_name(name: str) -> bool:
    """True if a machine may have this name."""
    return 0 < len(name) <= 200 and name.isprintable() and not any(c in ", \t" for c in name) and name != "cloud"


def to_cluster(name: str, machines: Sequence[Machine], options: ReadOptions, source: str) -> tuple[Cluster, list[str]]:
    """The cluster and the notes on what was filled. source: the file that a refusal names."""
    if not machines:
        raise ImportRefused(f"{source}: the list has no servers")
    if len(machines) > MAX_SERVERS:
        raise ImportRefused(f"{source}: {len(machines):,} servers; a cluster has at most {MAX_SERVERS:,}")
    separate = {machine.gpu > 0 for machine in machines} == {True, False}
    widths = uniform(options.seed, "bandwidth", [machine.name for machine in machines], *BANDWIDTH).astype(int).tolist()
    servers, counts = [], {True: 0, False: 0}
    for machine, width in zip(machines, widths, strict=True):
        kind = machine.gpu > 0
        site = machine.site or ("edge" if counts[kind] % EDGE_EVERY == 0 else "cloud")
        counts[kind] += 1
        roles = (("worker",) if kind else ("ps",)) if separate else ("worker", "ps")
        cpu = max(MIN_CPU, machine.gpu * CPU_PER_GPU) if machine.cpu is None else machine.cpu
        memory = max(MIN_MEMORY, cpu * MEMORY_PER_CPU) if machine.memory is None else machine.memory
        storage = STORAGE if machine.storage is None else machine.storage
        width = width if machine.bandwidth is None else machine.bandwidth
        servers.append(
            Server(machine.name, site, (machine.gpu, cpu, memory, storage, width), roles=roles, away=machine.away)
        )
    return Cluster(name, options.slot_ms, tuple(servers)), _notes(machines, separate)


def _notes(machines: Sequence[Machine], separate: bool) -> list[str]:
    """Notes on the roles of servers and the fields that the list lacks."""
    notes = [
        "Servers with GPUs host workers; those without GPUs host parameter servers."
        if separate
        else "Every server hosts workers and parameter servers."
    ]
    rules = {
        "sites": ("site", "every fourth server of a kind is at the edge"),
        "CPUs": ("cpu", f"a server has {CPU_PER_GPU} vCPUs per GPU and at least {MIN_CPU // 1000}"),
        "memory": ("memory", f"a server has {MEMORY_PER_CPU} GB per vCPU and at least {MIN_MEMORY // 1000}"),
        "storage": ("storage", f"storage is {STORAGE // 1000} GB"),
        "network": ("bandwidth", "bandwidth is sampled from 20-50 Gbps"),
    }
    lacking = {word: rule for word, (field, rule) in rules.items() if any(getattr(m, field) is None for m in machines)}
    if lacking:
        words = list(lacking)
        listed = " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
        notes.append(f"The list has no {listed}{_of(machines, lacking, rules)}: {', '.join(lacking.values())}.")
    return notes


def _of(machines: Sequence[Machine], lacking: dict[str, str], rules: dict[str, tuple[str, str]]) -> str:
    """Note on the number of machines that lack a field, where not all do."""
    fields = [field for word, (field, _) in rules.items() if word in lacking]
    count = sum(any(getattr(machine, field) is None for field in fields) for machine in machines)
    return "" if count == len(machines) else f" for {count:,} of {counted(len(machines), 'server')}"
