"""Tables of nodes that archives publish beside logs in the Standard Workload Format, in files named .machines.

A line has 6 cells between tabs (id, name, nodes, CPUs and speed of a node, KB of a node), or begins with 4 cells
between semicolons (name, nodes, CPUs, KB), also with others after them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scheduling.model.values import MAX_SERVERS
from twin.traces.importers._shared.machines import MAX_NUMBER, Machine, is_server_name
from twin.traces.importing.drafts import ReadOptions, Skipped, Source
from twin.traces.uploads.lines import portions

SUFFIX = ".machines"  # of a file's name
NODE = ("id", "name", "nodes", "cpus", "speed", "memory")  # cells between tabs
SHORT_NODE = ("name", "nodes", "cpus", "memory")  # the first cells between semicolons
KB_PER_CPU = (2**14, 2**32)  # plausible memory: 16 MB to 4 TB
KB_TO_MB = 1.024e-3
ONE_CPU = 1000  # thousandths


def is_comment(line: bytes) -> bool:
    """True for a line of a header."""
    return line.lstrip()[:1] == b";"


def are_nodes(body: Sequence[bytes]) -> bool:
    """True if every line is one of a table of nodes."""
    return bool(body) and all(_is_node(line) for line in body)


def _is_node(line: bytes) -> bool:
    cells = line.strip().split(b"\t")
    if len(cells) == len(NODE):
        return all(is_number(cells[at]) for at in (0, 2, 3, 4, 5))
    cells = line.strip().split(b";")
    return len(cells) >= len(SHORT_NODE) and bool(cells[0].strip()) and all(is_number(cell) for cell in cells[1:4])


def is_number(cell: bytes) -> bool:
    """True for the text of a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_nodes(tables: Sequence[Source], skipped: Skipped, options: ReadOptions) -> tuple[list[Machine], int, int]:
    """(nodes of .machines files, rows, rows that became nodes)."""
    machines: list[Machine] = []
    seen: set[str] = set()
    rows = 0
    for source in tables:
        skipped.file = source.name
        for first, lines in portions(source, options):
            for number, line in enumerate(lines, first):
                if not line.strip() or is_comment(line):
                    options.others.count += 1
                    continue
                rows += 1
                cells = _node(line.decode("utf-8", "replace"))
                if len(cells) < len(NODE):
                    skipped.add(number, "too_few_cells", f"{len(cells)} of {len(NODE)}")
                    continue
                name = re.sub(r"[\s,]+", "-", cells[1]) or f"machine{cells[0]}"
                count, cpus, memory = (_amount(cells[at]) for at in (2, 3, 5))
                if memory and cpus and not KB_PER_CPU[0] <= memory / cpus <= KB_PER_CPU[1]:
                    memory = 0.0  # another unit, or another column
                many = 1 if count is None or count < 0 else count
                if not is_server_name(name) or len(name) > 190:
                    skipped.add(number, "unreadable_name", name)
                elif name in seen:
                    skipped.add(number, "duplicate_id", name)
                elif (
                    count is None
                    or cpus is None
                    or memory is None
                    or many != int(many)
                    or max(cpus, memory) * ONE_CPU >= MAX_NUMBER
                ):
                    skipped.add(number, "unreadable_cell", ",".join(cells[2:6]))
                elif many == 0 or many + len(machines) > MAX_SERVERS:
                    skipped.add(number, "no_nodes" if many == 0 else "too_many_nodes", cells[2])
                else:
                    seen.add(name)
                    cpu = round(cpus * ONE_CPU) if cpus > 0 else None
                    size = round(memory * KB_TO_MB) if memory > 0 else None
                    names = [name] if many == 1 else [f"{name}-{n + 1}" for n in range(int(many))]
                    machines += [Machine(node, 0, cpu, size) for node in names]
    return machines, rows, len(seen)


def _node(line: str) -> list[str]:
    """The cells of NODE of a line of either form."""
    cells = [cell.strip() for cell in line.split("\t")]
    short = [cell.strip() for cell in line.split(";")]
    if len(cells) >= len(NODE) or len(short) < len(SHORT_NODE):
        return cells
    return ["0", *short[:3], "1", short[3]]


def _amount(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if abs(value) < MAX_NUMBER else None
