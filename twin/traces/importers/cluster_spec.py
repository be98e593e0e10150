"""Clusters of simulators: `num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node` (Tiresias, Muri,
ElasticFlow; memory in GB), and Gavel's `{"name": ["V100s:P100s:K80s"]}`, counts of GPUs by type.

A row of the first makes switches x nodes machines. Gavel's counts become machines of up to 4 GPUs; of several specs the
first is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from scheduling.model.values import MAX_SERVERS
from twin.traces.importers._shared.machines import MAX_NUMBER, Machine, to_cluster
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.tables import Table, closeness, header

FORMAT = "cluster_spec"
TITLE = "Simulator cluster specification (CSV) or Gavel cluster specification (JSON)"
ROW_IS_LINE = False  # a JSON spec may have several
COLUMNS = ("num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node")
NEEDED = COLUMNS[:3]
SPEC = re.compile(r"\d{1,7}:\d{1,7}:\d{1,7}")
TYPES = ("v100", "p100", "k80")
GPUS_A_NODE = 4  # where only GPUs are counted
MAX_BYTES = 1024 * 1024  # bytes of a JSON spec


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header, or from the shape of the JSON."""
    if head.lstrip()[:1] == b"{":
        fits = bool(_specs(head))
        return (
            fits,
            "the values are GPU counts" if fits else 'the values are not lists such as ["300:300:300"]',
            0.3 + 0.7 * fits,
        )
    return closeness(header(head), NEEDED)


def _specs(data: bytes) -> list[tuple[str, str]]:
    """(name, spec) of each spec; none where the JSON is another."""
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        return []
    lists = list(value.items()) if isinstance(value, dict) else []
    good = all(isinstance(v, list) and v and all(isinstance(s, str) and SPEC.fullmatch(s) for s in v) for _, v in lists)
    return [(name, spec) for name, specs in lists for spec in specs] if good else []


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Cluster of all rows."""
    skipped, rows, notes = Skipped(), 0, list[str]()
    machines: list[Machine] = []
    for source in sources:
        if source.head.lstrip()[:1] == b"{":
            specs = _specs(source.stream.read(MAX_BYTES))
            if not specs:
                raise ImportRefused(
                    f"{source.name}: line 1: not a Gavel cluster specification, which has the form "
                    '{"philly": ["300:300:300"]}'
                )
            rows += 1
            machines += _of_gpus(specs[0][1], len(machines))
            notes.append(
                f"{source.name}: {specs[0][1]} are V100, P100 and K80 GPUs, with {GPUS_A_NODE} assumed per server; "
                "GPU types appear only in server "
                f"names{f'; the first of {len(specs):,} specs is used' if len(specs) > 1 else ''}."
            )
        else:
            found, read_rows = _of_rows(source, skipped, options, len(machines))
            machines += found
            rows += read_rows
    if not machines:
        raise skipped.nothing(sources[0].name, rows, "server")
    cluster, stated = to_cluster(safe_name(sources[0].name), machines, options, sources[0].name)
    return Read(rows, skipped, cluster=cluster, notes=[*notes, *stated])


def _of_gpus(spec: str, before: int) -> list[Machine]:
    machines: list[Machine] = []
    for kind, count in zip(TYPES, map(int, spec.split(":")), strict=True):
        if count > MAX_SERVERS * GPUS_A_NODE:
            raise ImportRefused(
                f"{count:,} {kind.upper()} GPUs; a cluster has at most {MAX_SERVERS:,} servers of {GPUS_A_NODE}"
            )
        for first in range(0, count, GPUS_A_NODE):
            machines.append(Machine(f"{kind}-{before + len(machines) + 1}", min(GPUS_A_NODE, count - first) * 1000))
    return machines


def _of_rows(source: Source, skipped: Skipped, options: ReadOptions, before: int) -> tuple[list[Machine], int]:
    machines: list[Machine] = []
    optional = [name for name in COLUMNS[3:] if name in header(source.head)]
    table = Table(source, (*NEEDED, *optional), skipped, options)
    for portion in table.portions():
        columns = [portion.numbers(name).tolist() for name in portion.columns]
        for line, row in zip(portion.lines.tolist(), zip(*columns, strict=True), strict=True):
            switches, nodes, gpus = row[:3]
            more = dict(zip(optional, row[3:], strict=True))
            if not all(
                0 <= value < MAX_NUMBER / 1000 and value == int(value) for value in row
            ):  # NaN fails each comparison
                skipped.add(line, "unreadable_cell", ",".join(f"{value:g}" for value in row))
            elif gpus >= 10_000:
                skipped.add(line, "too_many_gpus", f"{gpus:g}")
            elif not 0 < switches * nodes <= MAX_SERVERS - before - len(machines):
                skipped.add(
                    line, "no_nodes" if switches * nodes == 0 else "too_many_nodes", f"{switches:g} x {nodes:g}"
                )
            else:
                cpu, memory = (round(more[name] * 1000) if more.get(name) else None for name in COLUMNS[3:])
                machines += _named(before + len(machines), int(switches), int(nodes), int(gpus) * 1000, cpu, memory)
    return machines, table.rows


def _named(before: int, switches: int, nodes: int, gpu: int, cpu: int | None, memory: int | None) -> Iterator[Machine]:
    """Machines named by switch and node, the nodes counted on over all rows."""
    for n in range(switches * nodes):
        yield Machine(f"s{n // nodes + 1}n{before + n + 1}", gpu, cpu, memory)
