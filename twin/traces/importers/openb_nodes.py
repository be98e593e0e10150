"""Alibaba openb node list: `sn,cpu_milli,memory_mib,gpu,model`, a cluster without jobs.

Nodes with GPUs host workers and nodes without host parameter servers (when there are both kinds; otherwise every node
takes both). Sites, storage and network, which the list lacks, are filled as in machines.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twin.traces.importers._shared.machines import MAX_NUMBER, Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.tables import Table, closeness, header

FORMAT = "openb_nodes"
TITLE = "Alibaba openb node list"
COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
NEEDED = COLUMNS[:4]
MIB_TO_MB = 1.048576


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Servers, one per row."""
    if len(sources) > 1:  # openb's two lists number their nodes each from 0
        names = " and ".join(source.name for source in sources)
        raise ImportRefused(f"{names} may give the same name to different servers; import one of them")
    skipped, source = Skipped(), sources[0]
    table = Table(source, NEEDED, skipped, options)
    machines = list(_machines(table, skipped))
    if not machines:
        raise skipped.nothing(source.name, table.rows, "server")
    cluster, notes = to_cluster(safe_name(source.name), machines, options, source.name)
    return Read(table.rows, skipped, cluster=cluster, notes=notes)


def _machines(table: Table, skipped: Skipped) -> Iterator[Machine]:
    """Machines of the good rows."""
    seen: set[str] = set()
    for portion in table.portions():
        cells = (portion.lines, portion.columns["sn"], *(portion.numbers(name) for name in NEEDED[1:]))
        for line, name, c, m, g in zip(*cells, strict=True):
            if not is_server_name(name):
                skipped.add(int(line), "unreadable_name", name)
            elif name in seen:
                skipped.add(int(line), "duplicate_id", name)
            elif not (
                0 <= c < MAX_NUMBER and 0 <= m < MAX_NUMBER and 0 <= g < 10_000 and g == int(g)
            ):  # NaN fails each comparison
                skipped.add(int(line), "unreadable_cell", f"{c:g},{m:g},{g:g}")
            else:
                seen.add(name)
                yield Machine(name, int(g) * 1000, int(c), round(m * MIB_TO_MB))
