"""The jobs of a cut as jobs of the model, mapped as accounting records are: drafts, then what they lack.

Of a real job only the duration on what it holds is known. So its work is that duration times its workers wherever it
runs: it has no gradients to exchange. Where a scheduler places parameter servers, each takes a thousandth of a CPU,
taken from its worker: a machine that is full of workers has room for them, and one that is not available has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from scheduling.model.values import CPU, RESOURCES, Job
from twin.files.job_table import Coded, JobTable, coded
from twin.mirror.as_values import memory_of, plain_name
from twin.mirror.whatif.cut import MIN_WORK_MS, RUNNING, Part
from twin.traces.importers._shared.shapes import shapes
from twin.traces.importing.drafts import Drafts
from twin.traces.synthesis import fill

SEED = 0  # of what is sampled: one job has the same fields in every cut
SLOTS_MS = (60_000, 300_000, 900_000, 3_600_000)
MAX_SLOTS = 2_000  # that the longest job takes
PS = (0, 1, 0, 0, 0)  # of one parameter server, in thousandths
CARRIERS = ("minibatch_ms", "sample_ms")  # fields that are solved so that the work takes the duration


def slot_for(parts: Sequence[Part]) -> int:
    """A slot length with which the longest job takes at most MAX_SLOTS, where there is one."""
    longest_ms = max((part.run_ms for part in parts), default=0)
    return next((slot_ms for slot_ms in SLOTS_MS if longest_ms <= slot_ms * MAX_SLOTS), SLOTS_MS[-1])


def job_table(parts: Sequence[Part], slot_ms: int, *, by_node: bool = False) -> JobTable:
    """The jobs as columns, in the order of the parts. by_node: a worker is what a job holds on a node."""
    if not parts:
        return JobTable.of([])
    tables = list(fill(drafts_of(parts, by_node=by_node), SEED, slot_ms, lambda share: None, Counter()))
    table = JobTable.joined(tables)
    return JobTable(
        table.ids, table.columns, table.texts, table.utility, table.uploads, _with_origins(table.provenance, parts)
    )


def job_of(part: Part, slot_ms: int) -> Job:
    """A single job."""
    return next(iter(job_table([part], slot_ms).jobs()))


def drafts_of(parts: Sequence[Part], *, by_node: bool = False) -> Drafts:
    """The parts as a trace would give them."""
    workers, demand = _by_node(parts) if by_node else _by_unit(parts)
    demand[:, 3:] = 0  # nothing is known of disks and networks, on nodes as in jobs
    demand[:, CPU] = np.maximum(0, demand[:, CPU] - PS[CPU])
    facts = [part.known.fact for part in parts]
    texts = {"group": _texts([fact.queue for fact in facts]), "user": _texts([fact.user for fact in facts])}
    return Drafts(
        keys=np.array([part.known.name for part in parts], dtype=object),
        prefix="",
        arrival_ms=np.array([part.arrival_ms for part in parts], dtype=np.int64),
        run_ms=np.array([part.run_ms for part in parts], dtype=np.int64),
        workers=workers,
        demand=demand,
        origins={
            **dict.fromkeys(("arrival_ms", "requested_workers", "group", "user", "limit_ms"), "trace"),
            **dict.fromkeys(("worker", "ps", "gradient_mb"), "derived"),
        },
        known={
            **texts,
            "gradient_mb": np.zeros(len(parts)),
            "limit_ms": np.array([limit_left_ms(part) for part in parts]),
            "ps": np.tile(np.array(PS, dtype=np.int64), (len(parts), 1)),
        },
    )


def _by_unit(parts: Sequence[Part]) -> tuple[np.ndarray, np.ndarray]:
    """(workers [job], demand of each [job, 5]): GPUs with their shares of the rest, or CPUs."""
    gpus, cpus = (np.array([getattr(part, name) for part in parts], dtype=float) for name in ("gpus", "cpus"))
    memory = np.array([memory_of(part.memory_mb) for part in parts], dtype=float)
    return shapes(gpus, cpus, memory, np.floor)  # a job that fills a node fits on it again


def _by_node(parts: Sequence[Part]) -> tuple[np.ndarray, np.ndarray]:
    """The same where a worker is the largest share of the job on a node."""
    workers, demand = np.ones(len(parts), dtype=np.int64), np.zeros((len(parts), len(RESOURCES)), dtype=np.int64)
    for row, part in enumerate(parts):
        shares = part.shares
        workers[row] = count = len({share.node for share in shares}) or max(1, part.known.fact.nodes)
        amounts = [(share.gpus, share.cpus, share.memory_mb) for share in shares] or [
            (-(-part.gpus // count), -(-part.cpus // count), part.memory_mb // count)
        ]
        gpus, cpus, memory = (max(column) for column in zip(*amounts, strict=True))
        demand[row, :3] = gpus * 1_000, cpus * 1_000, memory_of(memory)
    return workers, demand


def limit_left_ms(part: Part) -> int:
    """Time limit that is left of a job at its arrival in the cut; -1 where it has none."""
    limit_ms = part.known.fact.limit_ms
    if not limit_ms:
        return -1
    ran_ms = max(0, part.arrival_ms - part.since_ms) if part.state == RUNNING else 0
    return max(limit_ms - ran_ms, MIN_WORK_MS if ran_ms else 1)


def _texts(words: Sequence[str]) -> np.ndarray:
    return np.array([plain_name(word) if word else "" for word in words], dtype=object)


def _with_origins(provenance: Coded | None, parts: Sequence[Part]) -> Coded:
    """Provenance in which the fields that carry the duration state its origin."""
    assert provenance is not None
    rows = [
        tuple({**provenance.words[code], **dict.fromkeys(CARRIERS, part.origin)}.items())
        for code, part in zip(provenance.codes.tolist(), parts, strict=True)
    ]
    found = coded(rows)
    return Coded(found.codes, [dict(word) for word in found.words])
