"""Import of Google's parts, a large SWF log and a large jobs.csv, each in its own process to measure its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._memory import resident_mb
from benchmarks._stack import environment

TITLE = "imports, from file to job table"
GOOGLE = "google2011"
SWF_ROWS, CSV_ROWS = 200_000, 1_000_000
SEED = 1


def run() -> list[Figure]:
    """Seconds and peak memory of each."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
        parts = google_parts()
        if parts:
            seconds, megabytes, jobs = _import(parts, Path(folder))
            figures += [
                Figure(f"Google 2011, {len(parts)} parts, 375,160 rows", seconds, "s", 5),
                Figure("peak memory", megabytes, "MB", 300),
                Figure("jobs", jobs, "jobs"),
            ]
        for name, lines, rows, most_s, most_mb in (
            ("log.swf", swf_lines(), SWF_ROWS, 3, None),
            ("jobs.csv", csv_lines(), CSV_ROWS, 20, 500),
        ):
            path = Path(folder) / name
            with path.open("w") as file:
                file.writelines(lines)
            seconds, megabytes, jobs = _import([path], Path(folder))
            assert jobs == rows
            figures += [
                Figure(f"{name}, {rows:,} rows", seconds, "s", most_s),
                Figure("peak memory", megabytes, "MB", most_mb),
            ]
    return figures


def google_parts() -> list[Path]:
    """The public parts, where they are."""
    folders = [Path(os.environ["TWIN_TRACES"])] if "TWIN_TRACES" in os.environ else []
    found = (
        sorted((folder / GOOGLE).glob("*/*.csv.gz"))
        for folder in [*folders, settings.BASE_DIR.parent / "shared" / "traces"]
    )
    return next(filter(None, found), [])


def _import(paths: list[Path], folder: Path) -> tuple[float, float, int]:
    command = [sys.executable, "-c", "from benchmarks.imports import measure; measure()", *map(str, paths)]
    env = environment(folder) | {"PYTHONPATH": str(settings.BASE_DIR)}
    out = subprocess.run(command, env=env, capture_output=True, check=True).stdout
    figures = orjson.loads(out.splitlines()[-1])
    return figures["seconds"], figures["megabytes"], figures["jobs"]


def measure() -> None:
    """The measurement itself, of the files named on the command line; prints JSON."""
    from twin.traces import importers

    began = time.perf_counter()
    result = importers.read([importers.Upload(Path(path)) for path in sys.argv[1:]], seed=SEED)
    seconds = time.perf_counter() - began
    megabytes = resident_mb()
    print(orjson.dumps({"seconds": seconds, "megabytes": megabytes, "jobs": len(result.jobs)}).decode())


def swf_lines() -> Iterator[str]:
    """A log of 200,000 jobs on 1,024 processors."""
    rng = np.random.default_rng(SEED)
    submit = np.sort(rng.integers(0, 10**8, SWF_ROWS)).tolist()
    run, procs = rng.integers(1, 100_000, SWF_ROWS).tolist(), (2 ** rng.integers(0, 8, SWF_ROWS)).tolist()
    yield "; Version: 2.2\n; MaxProcs: 1024\n; MaxNodes: 1024\n"
    for i, (at, seconds, count) in enumerate(zip(submit, run, procs, strict=True), start=1):
        yield f"{i} {at} {i % 500} {seconds} {count} -1 -1 {count} -1 -1 1 {i % 90} 1 -1 {i % 4} -1 -1 -1\n"


def csv_lines() -> Iterator[str]:
    """A native jobs.csv of a million jobs with 20 columns."""
    rng = np.random.default_rng(SEED)
    arrivals = np.sort(rng.integers(0, 10**10, CSV_ROWS)).tolist()
    yield (
        "id,arrival_ms,model,requested_workers,epochs,num_chunks,minibatches_per_chunk,minibatch_ms,gradient_mb,"
        "worker.gpu,worker.cpu,worker.memory,worker.storage,worker.bandwidth,ps.cpu,ps.memory,ps.bandwidth,"
        "utility.priority,utility.sensitivity,utility.target_slots\n"
    )
    numbers = rng.random((CSV_ROWS, 3)).tolist()
    for i, (at, (tau, priority, steep)) in enumerate(zip(arrivals, numbers, strict=True)):
        yield (
            f"job{i},{at},vgg-16,{i % 8 + 1},{50 + i % 100},{i % 90 + 10},{i % 50 + 1},{100 * tau!r},"
            f"{100.5 + i % 300},1,{i % 8 + 1},{i % 32 + 2},5.5,0.{i % 9 + 1},4,16,5.25,"
            f"{100 * priority!r},{steep!r},{i % 14 + 1}\n"
        )
