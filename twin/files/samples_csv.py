"""samples.csv: the samples of a live cluster, a row for each server and sample."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twin.eventlog.samples import UNKNOWN
from twin.files.outputs import cell

NAME = "samples.csv"
HEADER = ("server", "at_ms", "gpus_used", "cpus_used", "memory_used_mb", "gpu_busy")


class SamplesCsv:
    """The file; it is there from the first row on."""

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, 0

    def write(self, data: Mapping[str, Any], names: list[str]) -> None:
        """Rows of one event `sampled`; names: [server]."""
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not self.rows:
                writer.writerow(HEADER)
            for server, at_ms, *amounts in data["rows"]:
                gpu, cpu, memory, busy = amounts
                writer.writerow([cell(names[server]), at_ms, _unit(gpu), _unit(cpu), _known(memory), _unit(busy)])
        self.rows += len(data["rows"])


def _unit(thousandths: int) -> str:
    return "" if thousandths == UNKNOWN else f"{thousandths / 1_000:g}"


def _known(amount: int) -> str:
    return "" if amount == UNKNOWN else str(amount)
