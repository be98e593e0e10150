"""Synthesis of fields that a trace lacks: sampled from the papers' ranges, then solved so that the work of the trace is
kept.

Every draw is keyed by (seed, field, source id): filtering or reordering rows changes no other job, and another seed
changes sampled and solved fields only. Work W = workers x run time, in worker-ms, equals what each scheduler's model
needs:

- OASiS: E N M (tau + 2 e / b) = W. N is solved and rounded, then tau; where communication alone would exceed the
  work, E is lowered first, then e.
- PD-ORS: E K (tau + (gamma / F) 2 g / b) = W with the same E and gradient; K is solved and rounded, then tau.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import numpy as np

from scheduling.model.values import BANDWIDTH
from twin.files.job_table import MISSING, Coded, JobTable, coded
from twin.files.packed_jobs import BLOCK
from twin.traces.importing.drafts import Drafts, ImportRefused

SLOT_MS = 300_000  # 5 minutes: the median job of the Philly trace runs for 40
MIN_COMPUTE_SHARE = 0.1  # of the work that is computation, when communication has to give way
PRIORITY, TARGET = (1.0, 100.0), (1.0, 15.0)
MIX = (0.10, 0.65)  # cumulative shares of time-insensitive and time-sensitive jobs; the rest is time-critical
EPOCHS, CHUNKS, MINIBATCHES, GRADIENT = (50, 200), (5, 100), (10, 100), (30.0, 575.0)
TAU_SLOTS = (0.001, 0.1)  # OASiS, slots per mini-batch
SAMPLES, SAMPLE_SLOTS, RATIO, BATCH = (20_000, 500_000), (1e-5, 1e-4), (1, 10), (1, 200)
INTERNAL_FACTOR = 10  # PD-ORS: internal over external bandwidth
WORKER_RANGES = ((0, 4), (1, 10), (2, 32), (5, 10))  # GPU, vCPU, GB, GB of one worker
PS_RANGES = ((0, 0), (1, 10), (2, 32), (5, 10))
WORKER_MBPS, PS_MBPS = (100, 5_000), (5_000, 20_000)
PARTS = ("gpu", "cpu", "memory", "storage", "bandwidth")
MODELS = ("resnet-50", "resnet-101", "googlenet", "lenet", "alexnet", "inception-bn")
MAX_JOBS = 2_000_000
ORIGINS = ("trace", "derived", "drawn")
TRACE, DERIVED, SAMPLED, NOWHERE = 0, 1, 2, 3
WHO = ("user", "group")  # never sampled
STATED = ("iterations", "limit_ms")  # whole numbers that are in a job only where the source states them
SURE = ("arrival_ms", "requested_workers")  # every job has them from the source


def fill(
    drafts: Drafts, seed: int, slot_ms: int, tick: Callable[[float], None], outside_range: Counter[str]
) -> Iterator[JobTable]:
    """The jobs, block by block.

    outside_range: counts, by field, the jobs in which it left its paper's range; tick: called with the share done.
    """
    if len(drafts) > MAX_JOBS:
        raise ImportRefused(
            f"{len(drafts):,} jobs; at most {MAX_JOBS:,} can be imported at a time; select a time window or a sample"
        )
    for first in range(0, len(drafts), BLOCK):
        tick(first / len(drafts))
        yield _filled(drafts.take(slice(first, first + BLOCK)), seed, slot_ms, outside_range)


def _filled(block: Drafts, seed: int, slot_ms: int, outside_range: Counter[str]) -> JobTable:
    draw = Draws(seed, [str(key) for key in block.keys.tolist()])
    columns, origins, ranges = solve(block, draw, slot_ms)
    outside_range.update({name: int(((v < low) | (v > high)).sum()) for name, (v, low, high) in ranges.items()})
    return _table(block, columns, origins)


class Draws:
    """Uniform numbers in [0, 1) for each job, by field: a hash of (seed, field, key), so no draw depends on another."""

    def __init__(self, seed: int, keys: Sequence[str]) -> None:
        self.seed = seed
        self.hashes = np.array(
            [int.from_bytes(blake2b(k.encode(), digest_size=8).digest(), "little") for k in keys], dtype=np.uint64
        )

    def unit(self, field: str) -> np.ndarray:
        """[job] in [0, 1)."""
        salt = int.from_bytes(blake2b(f"{self.seed}/{field}".encode(), digest_size=8).digest(), "little")
        with np.errstate(over="ignore"):
            mixed = _mix(self.hashes + np.uint64(salt))
        return (mixed >> np.uint64(11)).astype(float) / 2.0**53

    def real(self, field: str, bounds: tuple[float, float]) -> np.ndarray:
        """[job] uniform in [low, high)."""
        return bounds[0] + self.unit(field) * (bounds[1] - bounds[0])

    def integer(self, field: str, bounds: tuple[int, int]) -> np.ndarray:
        """[job] uniform in low..high, both included."""
        return bounds[0] + np.floor(self.unit(field) * (bounds[1] - bounds[0] + 1)).astype(np.int64)


def uniform(seed: int, field: str, keys: Sequence[str], low: float, high: float) -> np.ndarray:
    """Numbers in [low, high), one per key."""
    return Draws(seed, keys).real(field, (low, high))


def solve(
    drafts: Drafts, draw: Draws, slot_ms: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, tuple[np.ndarray, float, float]]]:
    """(columns of Job fields; the origin of each field and job, by place in ORIGINS; fields that have a range)."""
    work = drafts.run_ms * drafts.workers.astype(float)  # worker-ms
    known = _Known(drafts)
    worker, ps = _demand(draw, "worker", drafts.demand), _demand(draw, "ps", drafts.known.get("ps"))
    ps[:, BANDWIDTH] = np.maximum(ps[:, BANDWIDTH], worker[:, BANDWIDTH])  # b <= B
    rate = np.maximum(worker[:, BANDWIDTH], 1) / 1000.0  # Gbps
    epochs = sampled_epochs = draw.integer("epochs", EPOCHS)
    minibatches = draw.integer("minibatches_per_chunk", MINIBATCHES)
    gradient = wanted_gradient = known.or_else("gradient_mb", draw.real("gradient_mb", GRADIENT))
    wanted_batch = np.rint(known.or_else("global_batch", draw.integer("global_batch", BATCH))).astype(np.int64)
    batch = np.maximum(wanted_batch, drafts.workers)
    wanted_ratio = np.rint(known.or_else("workers_per_ps", draw.integer("workers_per_ps", RATIO))).astype(np.int64)
    ratio = np.maximum(wanted_ratio, 1)

    # OASiS: the count, then what communication leaves, then the time of one mini-batch.
    tau = draw.real("minibatch_ms", TAU_SLOTS) * slot_ms
    wanted = np.rint(work / (epochs * minibatches * (tau + 16 * gradient / rate)))
    least = np.maximum(CHUNKS[0], drafts.workers)  # a gang has at most one worker a chunk
    chunks = np.clip(wanted, least, np.maximum(CHUNKS[1], least)).astype(np.int64)
    most = (1 - MIN_COMPUTE_SHARE) * work  # worker-ms of communication
    with np.errstate(divide="ignore"):
        fitting = np.floor(most / (chunks * minibatches * 16 * gradient / rate))
        epochs = np.clip(np.minimum(epochs, fitting), 1, None).astype(np.int64)
    gradient = np.minimum(gradient, most / (epochs * chunks * minibatches * 16 / rate))
    gradient = np.minimum(gradient, most * batch * rate / (epochs * ratio * 16))
    minibatch_ms = work / (epochs * chunks * minibatches) - 16 * gradient / rate

    # PD-ORS: the same epochs and gradient.
    sample_comm = ratio / batch * 16 * gradient / rate
    sample_tau = draw.real("sample_ms", SAMPLE_SLOTS) * slot_ms
    samples = np.clip(np.rint(work / (epochs * (sample_tau + sample_comm))), *SAMPLES)
    fitting = np.where(sample_comm > 0, np.floor(most / (epochs * np.maximum(sample_comm, 1e-12))), np.inf)
    samples = np.clip(np.minimum(samples, fitting), 1, None).astype(np.int64)
    sample_ms = work / (epochs * samples) - sample_comm

    kind = known.or_else("utility_kind", np.searchsorted(MIX, draw.unit("utility_kind"), side="right"))
    steep = np.where(kind == 1, draw.real("sensitive", (0.01, 1.0)), draw.real("critical", (4.0, 6.0)))
    target = draw.real("target", TARGET)
    if "target_ms" in drafts.known:
        target = np.where(known.has("target_ms"), drafts.known["target_ms"] / slot_ms, target)
    columns = {
        "worker": worker, "ps": ps, "epochs": epochs, "num_chunks": chunks, "minibatches_per_chunk": minibatches,
        "minibatch_ms": minibatch_ms, "gradient_mb": gradient, "num_samples": samples, "global_batch": batch,
        "sample_ms": sample_ms, "workers_per_ps": ratio, "external_gbps": rate, "internal_gbps": rate * INTERNAL_FACTOR,
        "utility": np.stack([draw.real("priority", PRIORITY), np.where(kind == 0, 0.0, steep), np.maximum(target, 0)],
                            axis=1),
        "sampled_model": draw.integer("model", (0, len(MODELS) - 1)),
    }  # fmt: skip
    everywhere = np.full(len(work), DERIVED)
    origins = {
        "epochs": np.where(epochs == sampled_epochs, SAMPLED, DERIVED), "num_chunks": everywhere,
        "minibatches_per_chunk": np.full(len(work), SAMPLED), "minibatch_ms": everywhere,
        "gradient_mb": np.where(gradient == wanted_gradient, known.origin("gradient_mb"), DERIVED),
        "num_samples": everywhere,
        "global_batch": np.where(batch == wanted_batch, known.origin("global_batch"), DERIVED), "sample_ms": everywhere,
        "workers_per_ps": np.where(ratio == wanted_ratio, known.origin("workers_per_ps"), DERIVED),
        "internal_gbps": everywhere, "external_gbps": everywhere, "model": known.origin("model"),
        "utility": np.where(known.has("utility_kind") | known.has("target_ms"), DERIVED, SAMPLED),
    }  # fmt: skip
    ranges: dict[str, tuple[np.ndarray, float, float]] = {
        "epochs": (epochs, *EPOCHS), "num_chunks": (chunks, *CHUNKS), "gradient_mb": (gradient, *GRADIENT),
        "minibatch_ms": (minibatch_ms, TAU_SLOTS[0] * slot_ms, TAU_SLOTS[1] * slot_ms),
        "num_samples": (samples, *SAMPLES),
        "sample_ms": (sample_ms, SAMPLE_SLOTS[0] * slot_ms, SAMPLE_SLOTS[1] * slot_ms), "global_batch": (batch, *BATCH),
    }  # fmt: skip
    return columns, origins, ranges


class _Known:
    """Fields of jobs in the source beyond their shape."""

    def __init__(self, drafts: Drafts) -> None:
        self.columns, self.words, self.count = drafts.known, drafts.origins, len(drafts)

    def has(self, name: str) -> np.ndarray:
        """[job] whether it is known."""
        if name not in self.columns:
            return np.zeros(self.count, dtype=bool)
        column = self.columns[name]
        if column.dtype == object:
            return column.astype(bool)
        return np.asarray(column >= 0)  # NaN and -1 are not

    def or_else(self, name: str, sampled: np.ndarray) -> np.ndarray:
        """Known values, sampled where unknown."""
        return np.where(self.has(name), self.columns[name], sampled) if name in self.columns else sampled

    def origin(self, name: str) -> np.ndarray:
        """[job] place in ORIGINS."""
        return np.where(self.has(name), ORIGINS.index(self.words.get(name, "trace")), SAMPLED)


def _demand(draw: Draws, role: str, known: np.ndarray | None) -> np.ndarray:
    """[job, 5] thousandths; what the source knows (>= 0) is kept."""
    ranges = WORKER_RANGES if role == "worker" else PS_RANGES
    sampled = [draw.integer(f"{role}.{part}", bounds) * 1000 for part, bounds in zip(PARTS, ranges, strict=False)]
    sampled.append(draw.integer(f"{role}.bandwidth", WORKER_MBPS if role == "worker" else PS_MBPS))
    table = np.stack(sampled, axis=1)
    return table if known is None else np.where(known >= 0, known, table)


def _table(drafts: Drafts, columns: dict[str, np.ndarray], origins: dict[str, np.ndarray]) -> JobTable:
    ids = np.array([f"{drafts.prefix}{key}" for key in drafts.keys.tolist()], dtype=object)
    known = _Known(drafts)
    models = known.columns.get("model", np.full(len(ids), "", dtype=object)).tolist()
    names = [text or MODELS[code] for text, code in zip(models, columns.pop("sampled_model").tolist(), strict=True)]
    utility = columns.pop("utility")
    columns |= {"arrival_ms": drafts.arrival_ms, "requested_workers": drafts.workers}
    for name in STATED:
        if name in known.columns:
            rounded = np.rint(np.where(known.has(name), known.columns[name], MISSING)).astype(np.int64)
            columns[name] = np.where(rounded >= 1, rounded, MISSING)
    texts = {
        name: coded([text or None for text in known.columns[name].tolist()]) for name in WHO if known.has(name).any()
    }
    return JobTable(ids, columns, {"model": coded(names), **texts}, utility, None, _provenance(drafts, origins))


def _provenance(drafts: Drafts, origins: dict[str, np.ndarray]) -> Coded:
    """{field: trace | derived | drawn} of each job; few differ."""
    known, count = _Known(drafts), len(drafts)
    parts = {f"worker.{part}": (drafts.demand[:, i] >= 0, "worker") for i, part in enumerate(PARTS)}
    if "ps" in drafts.known:
        parts |= {f"ps.{part}": (drafts.known["ps"][:, i] >= 0, "ps") for i, part in enumerate(PARTS)}
    else:
        origins = {**origins, "ps": np.full(count, SAMPLED)}
    sure = {name: np.full(count, ORIGINS.index(word)) for name, word in drafts.origins.items() if name in SURE}
    partly = {
        n: np.where(held, ORIGINS.index(known.words.get(role, "trace")), SAMPLED) for n, (held, role) in parts.items()
    }
    for name in (*STATED, *WHO):
        if known.has(name).any():
            partly[name] = np.where(known.has(name), known.origin(name), NOWHERE)
    fields = {**sure, **partly, **origins}
    keys = np.zeros(count, dtype=np.int64)  # two bits a field: one number says what is known of a job
    for place, codes in enumerate(fields.values()):
        keys |= codes.astype(np.int64) << (2 * place)
    kinds, rows = np.unique(keys, return_inverse=True)
    words = [
        {name: ORIGINS[code] for place, name in enumerate(fields) if (code := kind >> (2 * place) & 3) != NOWHERE}
        for kind in kinds.tolist()
    ]
    return Coded(rows, words)


def _mix(values: np.ndarray) -> np.ndarray:
    """splitmix64: every input bit reaches every output bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
