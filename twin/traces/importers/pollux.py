"""Workload of Pollux (AdaptDL) and Sia: `name,time,application,num_replicas,batch_size`, time in seconds, no run times.

The run time is estimated: Pollux' generator chooses the application of a job by its GPU hours
(simulator/workload.py of petuum/adaptdl: cifar10 and ncf below 1, deepspeech2 and bert 1 to 10, yolov3 10 to 100,
imagenet 100 to 1,000); a job needs the middle of its range on a logarithmic scale, divided by its replicas.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from twin.traces.importers._shared.models import known_models
from twin.traces.importers._shared.simulators import (
    LATEST_MS,
    MAX_BATCH,
    ONE_GPU,
    add_repeated,
    gpu_rules,
    is_id,
)
from twin.traces.importing.drafts import Drafts, Read, ReadOptions, Skipped, Source
from twin.traces.uploads.tables import Table, closeness, header

FORMAT = "pollux"
TITLE = "Pollux or Sia workload"
TIME_UNIT = "s"
COLUMNS = ("name", "time", "application", "num_replicas", "batch_size")
MIN_H = 1 / 60  # GPU hours of the shortest job that the generator takes
GPU_HOURS = {
    "cifar10": (MIN_H, 1.0), "ncf": (MIN_H, 1.0), "deepspeech2": (1.0, 10.0), "bert": (1.0, 10.0),
    "yolov3": (10.0, 100.0), "imagenet": (100.0, 1000.0),
}  # fmt: skip
HOUR_MS = 3_600_000


def gpu_ms(application: str) -> float:
    """GPU time of a job of this application; NaN for one that is not in the table."""
    low, high = GPU_HOURS.get(application, (math.nan, math.nan))
    return math.sqrt(low * high) * HOUR_MS


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first job."""
    skipped, rows, seen = Skipped(), 0, set[str]()
    names: list[str] = []
    applications: list[str] = []
    parts: list[np.ndarray] = []
    for source in sources:
        table = Table(source, COLUMNS, skipped, options)
        for portion in table.portions():
            ids, kinds = portion.columns["name"], portion.columns["application"]
            time, gpus, batch = (portion.numbers(name) for name in ("time", "num_replicas", "batch_size"))
            repeated = add_repeated(ids, seen)
            good = portion.sift(skipped, (
                ("unreadable_name", np.array([not is_id(name) for name in ids], dtype=bool), "name"),
                ("duplicate_id", repeated, "name"),
                ("unreadable_time", ~((time >= 0) & (time * 1000 <= LATEST_MS)), "time"),
                ("unknown_model", np.array([kind not in GPU_HOURS for kind in kinds], dtype=bool), "application"),
                *gpu_rules(gpus, "num_replicas"),
            ))  # fmt: skip
            chosen = np.flatnonzero(good).tolist()
            names += [ids[row] for row in chosen]
            applications += [kinds[row] for row in chosen]
            parts.append(
                np.stack([time * 1000, gpus, np.where((batch > 0) & (batch <= MAX_BATCH), batch, np.nan)])[:, good]
            )
        rows += table.rows
    if not names:
        raise skipped.nothing(sources[0].name, rows)
    time, gpus, batch = np.concatenate(parts, axis=1)
    order = np.argsort(time, kind="stable")
    arrival = np.rint(time[order]).astype(np.int64)
    run = np.array([gpu_ms(name) for name in applications]) / gpus
    known = {**known_models(applications), "global_batch": batch}
    drafts = Drafts(
        keys=np.array(names, dtype=object)[order], prefix="", arrival_ms=arrival - arrival[0],
        run_ms=np.maximum(1, np.rint(run[order])).astype(np.int64), workers=gpus[order].astype(np.int64),
        demand=np.broadcast_to(ONE_GPU, (len(order), 5)), known={name: column[order] for name, column in known.items()},
        origins={"arrival_ms": "trace", "requested_workers": "trace", "worker": "trace", "model": "derived",
                 "gradient_mb": "derived", "global_batch": "trace"},
    )  # fmt: skip
    hours = ", ".join(
        f"{name} {gpu_ms(name) / HOUR_MS:.3g} h ({count:,})" for name, count in Counter(applications).items()
    )
    notes = [
        f"Run times are estimates, because the workload states none: GPU time by application, {hours}, divided by the "
        "replicas. It is the middle, on a logarithmic scale, of the GPU hours to which Pollux' generator assigns the "
        "application.",
        "One worker is a replica with 1 GPU; batch_size is that of the job.",
    ]
    return Read(rows, skipped, drafts=drafts, notes=notes)
