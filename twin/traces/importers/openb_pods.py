"""Alibaba openb pod list: one pod is one worker with its own GPUs, CPUs and memory; times in seconds of the trace.

`gpu_spec`, the models that a pod may use, becomes a note. `scheduled_time` is empty for pods that never started
(Pending): they are skipped. `gpu_milli` counts per GPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from scheduling.reporting.quantities import counted
from twin.traces.importers.openb_nodes import MAX_NUMBER, MIB_TO_MB
from twin.traces.importing.drafts import Drafts, ImportRefused, Read, ReadOptions, Skipped, Source
from twin.traces.uploads.tables import Portion, Table, closeness, header

FORMAT = "openb_pods"
TITLE = "Alibaba openb pod list"
TIME_UNIT = "s"
SHAPE = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
TIMES = ("pod_phase", "creation_time", "deletion_time", "scheduled_time")
PHASES = ("Running", "Succeeded", "Failed", "Pending")
NAME = re.compile(r"[!-+\--~]{1,200}")  # printable ASCII without blanks and commas
LATEST_S = 100 * 366 * 86_400  # a century


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness): the columns of the shape decide, so that a list without times is refused by name."""
    return closeness(header(head), SHAPE)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival is the creation, counted from the first row that is imported."""
    skipped, rows = Skipped(), 0
    seen: set[str] = set()
    names: list[str] = []
    parts = []
    specs = Counter[str]()
    for source in sources:
        if "creation_time" not in header(source.head):
            raise ImportRefused(
                f"{source.name}: line 1: this pod list has no creation_time, deletion_time "
                "and scheduled_time, so arrivals and "
                "run times are unknown; use a list with times, such as openb_pod_list_default.csv"
            )
        spec = ("gpu_spec",) if "gpu_spec" in header(source.head) else ()
        table = Table(source, (*SHAPE, *TIMES, *spec), skipped, options)
        for portion in table.portions():
            good, numbers = _rows(portion, seen, skipped)
            names += [portion.columns["name"][i] for i in np.flatnonzero(good).tolist()]
            parts.append(numbers[:, good])
            specs.update(portion.columns["gpu_spec"][i] for i in np.flatnonzero(good).tolist() if spec)
        rows += table.rows
    if not names:
        raise skipped.nothing(sources[0].name, rows)
    created, run_ms, gpu, cpu, memory = np.concatenate(parts, axis=1).astype(np.int64)
    order = np.argsort(created, kind="stable")
    demand = np.full((len(order), 5), -1, dtype=np.int64)
    demand[:, :3] = np.stack([gpu, cpu, memory], axis=1)[order]
    drafts = Drafts(
        keys=np.array(names, dtype=object)[order], prefix="", arrival_ms=created[order] - created.min(),
        run_ms=run_ms[order], workers=np.ones(len(order), dtype=np.int64), demand=demand,
        origins={"arrival_ms": "trace", "requested_workers": "derived"},
    )  # fmt: skip
    del specs[""]
    notes = ["One pod is one worker; it runs from its scheduling to its deletion."]
    if specs:
        listed = ", ".join(f"{text[:60]}: {count:,}" for text, count in specs.most_common(5))
        more = f", and {counted(len(specs) - 5, 'other')}" if len(specs) > 5 else ""
        notes.append(
            f"Only some GPU models are allowed by {specs.total():,} of {counted(len(names), 'pod')} (gpu_spec: "
            f"{listed}{more}); this is not kept, because servers have no GPU models: such a pod may run on any server."
        )
    return Read(rows, skipped, drafts=drafts, notes=notes)


def _rows(portion: Portion, seen: set[str], skipped: Skipped) -> tuple[np.ndarray, np.ndarray]:
    """Good rows, and [created ms, run ms, milli-GPU, milli-CPU, MB] of every row."""
    cpu, memory, gpus, milli = (portion.numbers(name) for name in SHAPE[1:])
    created, deleted, scheduled = (portion.numbers(name) for name in TIMES[1:])
    names, phases = portion.columns["name"], portion.columns["pod_phase"]
    repeated = np.zeros(len(names), dtype=bool)
    for i, name in enumerate(names):
        repeated[i] = name in seen
        seen.add(name)
    amounts = (cpu >= 0) & (cpu < MAX_NUMBER) & (memory >= 0) & (memory < MAX_NUMBER)
    amounts &= (gpus >= 0) & (gpus < 10_000) & (gpus == np.round(gpus)) & (milli >= 0) & (milli <= 1000)
    good = portion.sift(skipped, (
        ("unreadable_name", np.array([not NAME.fullmatch(name) for name in names], dtype=bool), "name"),
        ("duplicate_id", repeated, "name"),
        ("unknown_status", np.array([phase not in PHASES for phase in phases], dtype=bool), "pod_phase"),
        ("pending", np.array([not cell for cell in portion.columns["scheduled_time"]], dtype=bool), "pod_phase"),
        ("unreadable_cell", ~amounts, "name"),
        ("unreadable_creation_time", ~((created >= 0) & (created <= LATEST_S)), "creation_time"),
        ("unreadable_scheduled_time", ~((scheduled >= 0) & (scheduled <= LATEST_S)), "scheduled_time"),
        ("no_end", np.isnan(deleted), "deletion_time"),
        ("unreadable_deletion_time", ~((deleted >= 0) & (deleted <= LATEST_S)), "deletion_time"),
        ("run_not_positive", deleted - scheduled < 0.001, "deletion_time"),
    ))  # fmt: skip
    with np.errstate(invalid="ignore"):
        numbers = np.rint(
            np.stack([created * 1000, (deleted - scheduled) * 1000, gpus * milli, cpu, memory * MIB_TO_MB])
        )
    return good, numbers
