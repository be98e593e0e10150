"""Import of traces of public size: Google's job events, PAI's tables, CSV with mapped columns; a scan of 1 GB."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from django.conf import settings

from benchmarks import Figure
from benchmarks._memory import resident_mb
from benchmarks._stack import environment

TITLE = "imports as large as the public traces"
SEED = 1
GOOGLE_JOBS, GOOGLE_PARTS = 672_074, 500
PAI_JOBS, PAI_TASKS, PAI_INSTANCES = 1_000_000, 1_200_000, 8_000_000
CSV_ROWS = 1_000_000
SCAN_ROWS, SCAN_CELL = 2_000_000, 480  # rows of a file of 1 GB, and characters of its longest cell
MAPPING = {"id": "job", "arrival": "submitted", "run": "took", "gpus": "cards", "group": "queue", "user": "user"}
# title, writer of the files, column mapping, whether it is a scan only, bounds of seconds and MB
Row = tuple[str, Callable[[Path], list[Path]], dict[str, str], bool, float, float | None]


def run() -> list[Figure]:
    """Seconds and peak memory of each."""
    figures = []
    rows: tuple[Row, ...] = (
        (f"Google 2011, {GOOGLE_JOBS:,} jobs in {GOOGLE_PARTS} parts", google, {}, False, 180, 1024),
        (f"PAI, {PAI_JOBS + PAI_TASKS + PAI_INSTANCES:,} rows", pai, {}, False, 60, None),
        (f"CSV with mapped columns, {CSV_ROWS:,} rows", own_csv, MAPPING, False, 8, 400),
        (f"scan of 1 GB of CSV with mapped columns, {SCAN_ROWS:,} rows", wide_csv, MAPPING, True, 20, None),
    )
    for title, write, mapping, scan, most_s, most_mb in rows:
        with tempfile.TemporaryDirectory(prefix="twin-bench-") as folder:
            paths = write(Path(folder))
            found = _measured(paths, Path(folder), mapping, scan)
        figures += [
            Figure(title, found["seconds"], "s", most_s),
            Figure("peak memory", found["megabytes"], "MB", most_mb),
            Figure("jobs", found["jobs"], "jobs"),
        ]
    return figures


def _measured(paths: list[Path], folder: Path, mapping: dict[str, str], scan: bool) -> dict[str, float]:
    options = orjson.dumps({"mapping": mapping, "scan": scan}).decode()
    command = [sys.executable, "-c", "from benchmarks.large_imports import measure; measure()", options]
    env = environment(folder) | {"PYTHONPATH": str(settings.BASE_DIR)}
    out = subprocess.run([*command, *map(str, paths)], env=env, capture_output=True, check=True).stdout
    found: dict[str, float] = orjson.loads(out.splitlines()[-1])
    return found


def measure() -> None:
    """The measurement itself, of the files named on the command line; prints JSON."""
    from twin.traces import importers
    from twin.traces.importing.scan import summary_of
    from twin.traces.synthesis import SLOT_MS

    options = orjson.loads(sys.argv[1])
    uploads = [importers.Upload(Path(path)) for path in sys.argv[2:]]
    given: dict[str, Any] = {"mapping": options["mapping"] or None, "seed": SEED}
    began = time.perf_counter()
    if options["scan"]:
        jobs = summary_of(importers.parse(uploads, **given), SEED, SLOT_MS)["jobs"]
    else:
        jobs = len(importers.read(uploads, **given).jobs)
    seconds, cpu = time.perf_counter() - began, time.process_time()
    megabytes = resident_mb()
    print(orjson.dumps({"seconds": seconds, "cpu_seconds": cpu, "megabytes": megabytes, "jobs": jobs}).decode())


def google(folder: Path) -> list[Path]:
    """Three events of each job, in order of their times, cut into parts."""
    rng = np.random.default_rng(SEED)
    submit = rng.integers(600_000_000, 2_500_000_000_000, GOOGLE_JOBS)
    times = np.concatenate([submit, submit + 10**6, submit + rng.integers(10**7, 10**10, GOOGLE_JOBS)])
    jobs, events = np.tile(np.arange(GOOGLE_JOBS), 3) + 3 * 10**6, np.repeat([0, 1, 4], GOOGLE_JOBS)
    order = np.argsort(times, kind="stable")
    paths = []
    for number, rows in enumerate(np.array_split(order, GOOGLE_PARTS)):
        path = folder / f"part-{number:05d}-of-00500.csv.gz"
        lines = zip(times[rows].tolist(), jobs[rows].tolist(), events[rows].tolist(), strict=True)
        text = "".join(f"{at},,{job},{event},user{job % 900},{job % 4},name,logical\n" for at, job, event in lines)
        path.write_bytes(gzip.compress(text.encode(), 1))
        paths.append(path)
    return paths


def pai(folder: Path) -> list[Path]:
    """Job, task and instance tables without headers."""

    def jobs() -> Iterator[str]:
        for n in range(PAI_JOBS):
            yield f"job{n:012d},inst{n:012d},u{n % 900},Terminated,{10 + n}.0,{600 + n}.0\n"

    def tasks() -> Iterator[str]:
        for n in range(PAI_TASKS):
            role, job = ("worker", n) if n < PAI_JOBS else ("ps", n - PAI_JOBS)
            yield f"job{job:012d},{role},{1 + n % 8}.0,Terminated,{20 + job}.0,{590 + job}.0,600.0,29.3,50.0,T4\n"

    def instances() -> Iterator[str]:
        for n in range(PAI_INSTANCES):
            job = n % PAI_JOBS
            yield f"job{job:012d},worker,n{n},w{n},inst{job:012d},Terminated,{21 + job}.0,{588 + job}.0,m{n % 1800}\n"

    paths = []
    for name, lines in (("job", jobs()), ("task", tasks()), ("instance", instances())):
        path = folder / f"pai_{name}_table.csv"
        with path.open("w") as file:
            file.writelines(lines)
        paths.append(path)
    return paths


def own_csv(folder: Path) -> list[Path]:
    """A CSV of an unknown format."""
    return [_csv(folder, CSV_ROWS, "")]


def wide_csv(folder: Path) -> list[Path]:
    """The same with a long cell."""
    return [_csv(folder, SCAN_ROWS, "x" * SCAN_CELL)]


def _csv(folder: Path, rows: int, note: str) -> Path:
    rng = np.random.default_rng(SEED)
    columns = (np.sort(rng.integers(0, 10**7, rows)), rng.integers(1, 10**5, rows), 2 ** rng.integers(0, 4, rows))
    path = folder / "own.csv"
    with path.open("w") as file:
        file.write("job,submitted,took,cards,queue,user,note\n")
        for n, (at, took, cards) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            file.write(f"job{n},{at},{took},{cards},q{n % 30},u{n % 500},{note}\n")
    return path
