"""Alibaba PAI, v2020: the job, task, instance, machine and group tag tables, with or without header, in one upload.

A table is known by its header, or by its number of columns and what is in them. The job table says who submits when
(its start_time is the submission), the task table what runs: `ps` tasks are parameter servers, the task that asks for
the most GPUs is the worker. plan_cpu and plan_gpu are in percent (600 = 6 CPUs), plan_mem in GB. An empty cell is not
known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twin.traces.importers._shared.machines import Machine, is_server_name, to_cluster
from twin.traces.importers._shared.pai_jobs import Jobs
from twin.traces.importers._shared.pai_tables import TABLES, USED, table_of
from twin.traces.importing.drafts import ImportRefused, Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.bulk import BulkTable
from twin.traces.uploads.tables import Portion, header

FORMAT = "pai"
TITLE = "Alibaba PAI tables"
TIME_UNIT = "s"
MAX_NUMBER = 2.0**40  # of a machine


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header, or from the cells of the first lines."""
    kind, _ = table_of(head)
    if kind:
        return True, f"the columns are those of the {kind} table", 1.0
    names = header(head)
    near = max(TABLES, key=lambda kind: len(set(TABLES[kind]) & set(names)) / len(TABLES[kind]))
    share = len(set(TABLES[near]) & set(names)) / len(TABLES[near])
    missing = [name for name in TABLES[near] if name not in names]
    return (
        False,
        f"the column {missing[0]!r} of the {near} table is missing" if missing else f"it resembles the {near} table",
        0.9 * share,
    )


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Jobs of the job and task tables, servers of the machine table."""
    tables: dict[str, list[Source]] = {kind: [] for kind in TABLES}
    headers = 0
    for source in sources:
        kind, headed = table_of(source.head)
        if not kind:
            shapes = ", ".join(f"{len(columns)} ({name})" for name, columns in TABLES.items())
            raise ImportRefused(
                f"{source.name}: line 1: no table matches; the numbers of columns of the tables are {shapes}"
            )
        if headed and len(source.head.strip().splitlines()) == 1:
            headers += 1  # a .header file beside the table
            options.others.count += source.lines or 0
        else:
            tables[kind].append(source)
    if headers == len(sources):
        raise ImportRefused(f"{sources[0].name}: it has only a header line; upload it with its table")
    found = Read(0, Skipped())
    _need(tables)
    if tables["job"]:
        jobs = Jobs(found, options)
        for kind, fold in (
            ("job", jobs.add),
            ("task", jobs.add_tasks),
            ("instance", jobs.add_instances),
            ("group tag", jobs.add_tags),
        ):
            _each(tables[kind], kind, found, options, fold)
        jobs.finish(tables)
    if tables["machine"]:
        machines: dict[str, Machine] = {}
        before = found.rows
        _each(
            tables["machine"], "machine", found, options, lambda portion, _: _machines(portion, machines, found.skipped)
        )
        first = tables["machine"][0].name
        if not machines:
            raise found.skipped.nothing(first, found.rows - before, "server")
        found.cluster, notes = to_cluster(safe_name(first), list(machines.values()), options, first)
        found.notes += notes
    return found


def _need(tables: dict[str, list[Source]]) -> None:
    """Refusal of tables that are useless without another one."""
    first = next((files[0].name for kind, files in tables.items() if kind != "machine" and files), "")
    lacking = [kind for kind in ("job", "task") if first and not tables[kind]]
    if lacking:
        given = ", ".join(kind for kind, files in tables.items() if files)
        raise ImportRefused(
            f"{first}: a job needs the job table and the task table, and the {lacking[0]} "
            f"table is missing (given: {given}); "
            "upload them together, as several files or in one archive"
        )


def _each(
    files: Sequence[Source], kind: str, found: Read, options: ReadOptions, fold: Callable[[Portion, str], None]
) -> None:
    for source in files:
        names = None if table_of(source.head)[1] else TABLES[kind]
        table = BulkTable(source, USED[kind], found.skipped, options, names=names)
        for portion in table.portions():
            fold(portion, source.name)
        found.rows += table.rows


def _machines(portion: Portion, machines: dict[str, Machine], skipped: Skipped) -> None:
    cells = (
        portion.lines.tolist(),
        portion.columns["machine"],
        *(portion.numbers(f"cap_{what}").tolist() for what in ("cpu", "mem", "gpu")),
    )
    for line, name, cpu, memory, gpu in zip(*cells, strict=True):
        if not is_server_name(name):
            skipped.add(line, "unreadable_name", name)
        elif name in machines:
            skipped.add(line, "duplicate_id", name)
        elif not (
            0 <= cpu < MAX_NUMBER and 0 <= memory < MAX_NUMBER and 0 <= gpu < 10_000 and gpu == int(gpu)
        ):  # NaN fails each comparison
            skipped.add(line, "unreadable_cell", f"{cpu:g},{memory:g},{gpu:g}")
        else:
            machines[name] = Machine(name, int(gpu) * 1000, round(cpu * 1000), round(memory * 1000))
