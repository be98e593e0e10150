"""Nodes of the virtual clusters of the derived Philly trace: `vc,node num`, a cluster without jobs."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.model.values import MAX_SERVERS
from twin.traces.importers._shared.machines import Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.tables import Table, closeness, header

FORMAT = "philly_vc"
TITLE = "Nodes of the Philly virtual clusters"
COLUMNS = ("vc", "node num")
GPUS = 8  # of a node


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Nodes of each row, named vc-1, vc-2, ..."""
    skipped, rows, seen = Skipped(), 0, set[str]()
    machines: list[Machine] = []
    for source in sources:
        table = Table(source, COLUMNS, skipped, options)
        for portion in table.portions():
            cells = portion.columns["node num"]
            for line, vc, nodes, cell in zip(
                portion.lines.tolist(), portion.columns["vc"], portion.numbers("node num").tolist(), cells, strict=True
            ):
                if not is_server_name(f"{vc}-1") or not vc or len(vc) > 190:
                    skipped.add(line, "unreadable_name", vc)
                elif vc in seen:
                    skipped.add(line, "duplicate_id", vc)
                elif not (0 <= nodes < 2**31 and nodes == int(nodes)):  # NaN fails each comparison
                    skipped.add(line, "unreadable_nodes", cell)
                elif nodes == 0:
                    skipped.add(line, "no_nodes", vc)
                else:
                    seen.add(vc)
                    if len(machines) + nodes > MAX_SERVERS:
                        raise ImportRefused(
                            f"{source.name}: line {line}: more than {MAX_SERVERS:,} "
                            "servers; this is the maximum of a cluster"
                        )
                    machines += [Machine(f"{vc}-{number}", GPUS * 1000) for number in range(1, int(nodes) + 1)]
        rows += table.rows
    if not machines:
        raise skipped.nothing(sources[0].name, rows, "server")
    cluster, notes = to_cluster(safe_name(sources[0].name), machines, options, sources[0].name)
    note = (
        f"The list has only the number of servers of each virtual cluster: each is assumed to have {GPUS} GPUs, "
        f"{len(machines) * GPUS:,} in total."
    )
    return Read(rows, skipped, cluster=cluster, notes=[note, *notes])
