"""groups.csv: the jobs that share machines, and their utilization. A row per group of constant members."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from scheduling.colocation.verification.groups_csv import GROUP_COLUMNS
from scheduling.model.values import Cluster, Event, Job, ModelError, shorten
from scheduling.verification.by_model import files_of
from twin.files.textcheck import check_text

NAME = "groups.csv"
CONSTANT = ("servers", "jobs", "iteration_ms", "cpu_utilization", "net_utilization", "disk_ratios", "model_disk_ratios")


class Span(NamedTuple):
    """Time in which a group does not change."""

    start_ms: int
    end_ms: int
    data: Mapping[str, Any]  # of the `grouped` event


class GroupHistory:
    """Collector of the groups from the events of a run."""

    def __init__(self) -> None:
        self.wanted = False  # whether an output of this model has the file
        self.spans: list[Span] = []  # in the order of their ends
        self.current: dict[int, tuple[int, Mapping[str, Any]]] = {}  # group -> (start, data)
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
                self.current[group] = event.at_ms, event.data

    def lines(self, cluster: Cluster, jobs: Sequence[Job]) -> Iterator[str]:
        """The file, line by line."""
        for group in list(self.current):
            self._close(group, self.end_ms)
        return group_lines(cluster, jobs, self.spans)

    def _close(self, group: int, at_ms: int) -> None:
        known = self.current.pop(group, None)
        if known is not None:
            start_ms, data = known
            self.spans.append(Span(start_ms, at_ms, data))


def group_lines(cluster: Cluster, jobs: Sequence[Job], spans: Iterable[Span]) -> Iterator[str]:
    """The lines of groups.csv, by group and time. Spans of a group that go on without a change are one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(GROUP_COLUMNS)
    in_order = sorted(spans, key=lambda span: (span.data["group"], span.start_ms))
    for group, own in groupby(in_order, key=lambda span: span.data["group"]):
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
    for span in spans:
        last = found[-1] if found else None
        if last and last.end_ms == span.start_ms and all(last.data[key] == span.data[key] for key in CONSTANT):
            found[-1] = span._replace(start_ms=last.start_ms)
        elif span.end_ms > span.start_ms:
            found.append(span)
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
