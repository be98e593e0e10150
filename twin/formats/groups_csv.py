"""groups.csv: which jobs shared which machines, and how well they used them. One row per group and constant membership."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduling.model import Cluster, Event, Job, ModelError, shorten
from scheduling.verifier_groups import GROUP_COLUMNS, SCHEDULERS
from twin.formats.textcheck import check_text

NAME = "groups.csv"
CONSTANT = ("servers", "jobs", "iteration_ms", "cpu_utilization", "net_utilization", "disk_ratios", "model_disk_ratios")


class GroupHistory:
    """Takes the events of a run, and gives its groups as they were."""

    def __init__(self) -> None:
        self.wanted = False  # whether the scheduler is one of groups
        self.spans: dict[int, list[tuple[int, int, Mapping[str, Any]]]] = {}  # group -> (start, end, data)
        self.present: dict[int, tuple[int, Mapping[str, Any]]] = {}  # group -> (start, data)
        self.end_ms = 0

    def feed(self, event: Event) -> None:
        """Takes an event."""
        self.end_ms = event.at_ms
        if event.kind == "run_started":
            self.wanted = event.data["scheduler"] in SCHEDULERS
        elif event.kind == "grouped":
            group = event.data["group"]
            known = self.present.pop(group, None)
            if known is not None and all(known[1][key] == event.data[key] for key in CONSTANT):
                self.present[group] = known[0], event.data
                return
            self._close(group, known, event.at_ms)
            if event.data["jobs"]:
                self.present[group] = event.at_ms, event.data

    def lines(self, cluster: Cluster, jobs: Sequence[Job]) -> Iterator[str]:
        """The file, line by line."""
        for group, known in self.present.items():
            self._close(group, known, self.end_ms)
        self.present.clear()
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(GROUP_COLUMNS)
        for group in sorted(self.spans):
            for start, end, data in self.spans[group]:
                writer.writerow([
                    group, start, end, " ".join(cluster.servers[s].name for s in data["servers"]), " ".join(jobs[j].id for j in data["jobs"]),
                    data["machines"], "" if data["iteration_ms"] is None else repr(data["iteration_ms"]), repr(data["cpu_utilization"]),
                    repr(data["net_utilization"]), " ".join(map(repr, data["disk_ratios"])), " ".join(map(repr, data["model_disk_ratios"])),
                ])  # fmt: skip
            yield out.getvalue()
            out.seek(0)
            out.truncate()
        yield out.getvalue()

    def _close(self, group: int, known: tuple[int, Mapping[str, Any]] | None, at_ms: int) -> None:
        if known is not None and known[0] < at_ms:
            self.spans.setdefault(group, []).append((known[0], at_ms, known[1]))


def read_groups(path: Path) -> list[dict[str, str]]:
    """groups.csv as rows of text, unchecked. ModelError when the header is another one."""
    data = path.read_bytes()
    check_text(data, path.name)
    reader = csv.DictReader(io.StringIO(data.decode(), newline=""), restkey="more", restval="")
    if tuple(reader.fieldnames or ()) != GROUP_COLUMNS:
        raise ModelError(
            f"{path.name}: the columns must be {','.join(GROUP_COLUMNS)}, got {shorten(','.join(reader.fieldnames or ()))!r}"
        )
    return list(reader)
