"""Forecasts on a real trace under EASY backfilling by limits: their error against that by limits, and the coverage.

TWIN_TRACES names the folder of the public traces. swf/hpc2n.swf has the users' own limits; where it is missing, the
trace of the NASA iPSC is replayed with sampled limits.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from django.conf import settings

from benchmarks import Figure, Skip
from benchmarks._replayed_queue import easy, forecasts, read
from scheduling.forecast import scoring

TITLE = "Forecasts of starts on a real trace, EASY backfilling by limits"
FILES = ("swf/hpc2n.swf", "swf/hpc2n.swf.gz", "swf/NASA-iPSC-1993-3.1-cln.swf.gz")
JOBS, EVERY = 4_000, 4
RATIO = 0.2  # of the error by limits
LOW, HIGH = 0.75, 0.85


def run() -> list[Figure]:
    path = _file()
    rows, total, origin = read(path, JOBS, seed=1)
    found = list(forecasts(rows, easy(rows, total), total, EVERY))
    real = np.array([row.real_ms for row in found])
    errors = {
        name: scoring.errors(real, np.array([row.predicted_ms[name] for row in found])).mean_ms or 0.0
        for name in found[0].predicted_ms
    }
    inside = [row.band[0] <= row.real_ms <= row.band[1] for row in found if row.band is not None]
    share = sum(inside) / len(inside)
    source = f"{path.name}, {len(found):,} forecasts, {origin}"
    return [
        Figure(f"mean error of starts / that by limits ({source})", errors["twin"] / errors["limit"], "x", RATIO),
        Figure("mean error of starts", errors["twin"] / scoring.MINUTE_MS, "min"),
        Figure("coverage of the 80 % band, at least", share, "", LOW, at_least=True),
        Figure("coverage of the 80 % band, at most", share, "", HIGH),
    ]


def _file() -> Path:
    folders = [Path(os.environ["TWIN_TRACES"])] if "TWIN_TRACES" in os.environ else []
    for folder in [*folders, settings.BASE_DIR.parent / "shared" / "traces"]:
        for name in FILES:
            if (folder / name).is_file():
                return folder / name
    raise Skip(f"TWIN_TRACES names no folder with {' or '.join(FILES)}")
