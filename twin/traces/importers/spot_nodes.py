"""Alibaba spot GPU node list (v2026): `gpu_model,gpu_capacity_num,cpu_num,node_name`, in the header's order.

One machine a row, without memory; the type of its GPUs is not kept. What the list lacks is filled as in machines.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twin.traces.importers._shared.machines import Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.tables import Table, closeness, header

FORMAT = "spot_nodes"
TITLE = "Alibaba spot GPU node list"
COLUMNS = ("gpu_model", "gpu_capacity_num", "cpu_num", "node_name")
NEEDED = COLUMNS[1:]
PREFIX = "node-"  # names are numbers


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Servers, one per row."""
    skipped, machines, seen, rows = Skipped(), list[Machine](), set[str](), 0
    for source in sources:
        table = Table(source, NEEDED, skipped, options)
        machines += _machines(table, skipped, seen)
        rows += table.rows
    if not machines:
        raise skipped.nothing(sources[0].name, rows, "server")
    cluster, notes = to_cluster(safe_name(sources[0].name), machines, options, sources[0].name)
    return Read(rows, skipped, cluster=cluster, notes=notes)


def _machines(table: Table, skipped: Skipped, seen: set[str]) -> Iterator[Machine]:
    for portion in table.portions():
        cells = (
            portion.lines.tolist(),
            portion.columns["node_name"],
            portion.numbers("gpu_capacity_num").tolist(),
            portion.numbers("cpu_num").tolist(),
        )
        for line, name, gpus, cpus in zip(*cells, strict=True):
            if not name or not is_server_name(PREFIX + name):
                skipped.add(line, "unreadable_name", name)
            elif name in seen:
                skipped.add(line, "duplicate_id", name)
            elif not (0 <= gpus < 10_000 and gpus == int(gpus) and 0 < cpus < 1_000_000):  # NaN fails each comparison
                skipped.add(line, "unreadable_cell", f"{gpus:g},{cpus:g}")
            else:
                seen.add(name)
                yield Machine(PREFIX + name, int(gpus) * 1000, round(cpus * 1000))
