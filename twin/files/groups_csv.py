"""groups.csv: the jobs that share machines, and their utilization. A row per group of constant members."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from scheduling.colocation.verification.groups_csv import GROUP_COLUMNS
from scheduling.model.values import Cluster, Event, Job, ModelError, shorten
from scheduling.verification.families import files_of
from twin.files.textcheck import check_text

NAME = "groups.csv"
Span = tuple[int, int, Mapping[str, Any]]  # (start_ms, end_ms, data of the `grouped` event) of a group
CONSTANT = ("servers", "jobs", "iteration_ms", "cpu_utilization", "net_utilization", "disk_ratios", "model_disk_ratios")


class GroupHistory:
    """Collector of the groups from the events of a run."""

    def __init__(self) -> None:
        self.wanted = False  # whether an output of this model has the file
        self.spans: list[Span] = []  # in the order of their ends
        self.present: dict[int, tuple[int, Mapping[str, Any]]] = {}  # group -> (start, data)
        self.end_ms = 0

    def feed(self, event: Event) -> None:
        """Input of an event."""
        self.end_ms = event.at_ms
        if event.kind == "run_started":
            self.wanted = NAME in files_of(event.data["execution"])
        elif event.kind == "grouped":
            group = event.data["group"]
            self._close(group, event.at_ms)
            if event.data["jobs"]:
                self.present[group] = event.at_ms, event.data

    def lines(self, cluster: Cluster, jobs: Sequence[Job]) -> Iterator[str]:
        """The file, line by line."""
        for group in list(self.present):
            self._close(group, self.end_ms)
        return group_lines(cluster, jobs, self.spans)

    def _close(self, group: int, at_ms: int) -> None:
        known = self.present.pop(group, None)
        if known is not None:
            self.spans.append((known[0], at_ms, known[1]))


def group_lines(cluster: Cluster, jobs: Sequence[Job], spans: Iterable[Span]) -> Iterator[str]:
    """The lines of groups.csv, by group and time. Spans of a group that go on without a change are one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(GROUP_COLUMNS)
    for group, own in groupby(
        sorted(spans, key=lambda span: (span[2]["group"], span[0])), key=lambda span: span[2]["group"]
    ):
        for start, end, data in _merged(own):
            writer.writerow([
                group, start, end, " ".join(cluster.servers[s].name for s in data["servers"]),
                " ".join(jobs[j].id for j in data["jobs"]), data["machines"],
                "" if data["iteration_ms"] is None else repr(data["iteration_ms"]), repr(data["cpu_utilization"]),
                repr(data["net_utilization"]), " ".join(map(repr, data["disk_ratios"])),
                " ".join(map(repr, data["model_disk_ratios"])),
            ])  # fmt: skip
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The spans of one group, in order, without those that last no time."""
    found: list[Span] = []
    for start, end, data in spans:
        last = found[-1] if found else None
        if last and last[1] == start and all(last[2][key] == data[key] for key in CONSTANT):
            found[-1] = last[0], end, data
        elif end > start:
            found.append((start, end, data))
    return found


def read_groups(path: Path) -> list[dict[str, str]]:
    """groups.csv as rows of text, unchecked. ModelError when the header is another one."""
    data = path.read_bytes()
    check_text(data, path.name)
    reader = csv.DictReader(io.StringIO(data.decode(), newline=""), restkey="more", restval="")
    if tuple(reader.fieldnames or ()) != GROUP_COLUMNS:
        raise ModelError(
            f"{path.name}: the columns must be {','.join(GROUP_COLUMNS)}, got "
            f"{shorten(','.join(reader.fieldnames or ()))!r}"
        )
    return list(reader)
