"""Pods and nodes as `kubectl get pods,nodes -A -o json` prints them: a List of API objects.

Pods of one owner (Job, JobSet, Kubeflow job) or gang label are one job, a pod without either that asks for GPUs is a
job of its own. A job runs while its pods hold their nodes; pods that restart begin a new attempt. GPUs, CPUs and memory
are the requests. Other pods, such as those of the system, are skipped. Nodes become servers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from twin.connectors._kubernetes.demands import Demand, Reader
from twin.connectors._kubernetes.jobs import JobObjects, job_fact
from twin.connectors._kubernetes.pods import PodRow, pod_row
from twin.connectors.facts import ConnectorError, JobFact
from twin.connectors.kubernetes import GPU_RESOURCES
from twin.traces.importers._shared.accounting import Accounts, Entry
from twin.traces.importers._shared.machines import MAX_NUMBER, Machine, is_server_name, to_cluster
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source, safe_name
from twin.traces.uploads.json_text import values

FORMAT = "kubectl"
TITLE = "Kubernetes pods and nodes (kubectl get pods,nodes -A -o json)"
ROW_IS_LINE = False  # an object has many
LIST_MARKS = (rb'"kind"\s*:\s*"(?:List|PodList|NodeList)"', rb'"items"\s*:\s*\[', rb'"apiVersion"\s*:\s*"v1"')
BAD = (KeyError, TypeError, AttributeError, ValueError, OverflowError, ConnectorError)  # of an object of another shape
ODD = re.compile(r"[\s,]+")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the keys of a list; a list of a single kind has the kind at its end."""
    if head.lstrip()[:1] != b"{":
        return False, "it is not a JSON object", 0.0
    found = [re.search(kind, head) is not None for kind in LIST_MARKS]
    fits = found[1] and found[2] and (found[0] or re.search(rb'"kind"\s*:\s*"(?:Pod|Node)"', head) is not None)
    return (
        fits,
        "the keys are those of a list of objects" if fits else "it is not a list of pods or nodes",
        sum(found) / 4,
    )


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Pods to drafts, nodes to a cluster."""
    found = _Found(Read(0, Skipped()), Reader(GPU_RESOURCES.split(",")))
    accounts = Accounts(options.reading)
    for number, source in enumerate(sources):
        accounts.open(source, found.skipped)
        for line, obj in values(source, options, under="items"):
            found.add(number, line, obj)
    rows, skipped = found.read.rows, found.skipped
    if not found.machines and not found.jobs:
        raise skipped.nothing(sources[0].name, rows, "pod or node")
    merged = 0
    for number, objects in enumerate(found.jobs.values()):
        merged += _offer(number, objects, found.places, accounts, sources, skipped)
    if accounts.keys:
        notes = [
            "Pods of one owner or gang are one job, which runs while its pods hold nodes; its GPUs, CPUs and memory "
            "are their requests, on average over its run time. Only pods that the cluster still knows are included."
        ]
        found.read = accounts.read(sources, rows, skipped, notes, merged + len(found.machines))
    elif not found.machines:
        raise skipped.nothing(sources[0].name, rows)
    if found.machines:
        found.read.cluster, notes = to_cluster(safe_name(sources[0].name), found.machines, options, sources[0].name)
        found.read.notes += notes
    return found.read


class _Found:
    """Content of the objects. jobs: their objects by owner or pod; places: (file, line) of each pod, by uid."""

    def __init__(self, read: Read, reader: Reader) -> None:
        self.read, self.skipped, self.reader = read, read.skipped, reader
        self.jobs: dict[tuple[str, ...], JobObjects] = {}
        self.places: dict[str, tuple[int, int]] = {}
        self.machines: list[Machine] = []
        self.names: set[str] = set()

    def add(self, file: int, line: int, obj: Any) -> None:
        """An object."""
        self.read.rows += 1
        kind = obj.get("kind") if isinstance(obj, dict) else None
        if kind is None and isinstance(obj, dict):  # a PodList names the kind once
            kind = (
                "Node" if "nodeInfo" in (obj.get("status") or {}) or "capacity" in (obj.get("status") or {}) else "Pod"
            )
        try:
            if kind == "Node":
                self._node(line, obj)
            elif kind == "Pod":
                self._pod(file, line, obj)
            else:
                self.skipped.add(line, "not_a_pod_or_node", kind or "")
        except BAD as error:
            self.skipped.add(line, "unreadable_cell", f"{type(error).__name__}: {error}")

    def _node(self, line: int, obj: Mapping[str, Any]) -> None:
        name, status = obj["metadata"]["name"], obj.get("status") or {}
        offer = self.reader.amount(status.get("allocatable") or status.get("capacity"))
        if not isinstance(name, str) or not is_server_name(name):
            self.skipped.add(line, "unreadable_name", name)
        elif name in self.names:
            self.skipped.add(line, "duplicate_id", name)
        elif max(offer.gpus * 1000, offer.cpu_millis, offer.memory_bytes // 10**6) >= MAX_NUMBER:
            self.skipped.add(line, "unreadable_cell", name)
        else:
            self.names.add(name)
            memory = offer.memory_bytes // 10**6 or None
            self.machines.append(Machine(name, offer.gpus * 1000, offer.cpu_millis or None, memory))

    def _pod(self, file: int, line: int, obj: Mapping[str, Any]) -> None:
        row = pod_row(obj, self.reader, 0)
        if row is None:
            self.skipped.add(line, "no_gpu", obj["metadata"]["name"])
        elif row.uid in self.places:
            self.skipped.add(line, "duplicate_id", row.name)
        else:
            self.places[row.uid] = (file, line)
            owner = ("", row.owner.uid) if row.owner else ("pod", row.uid)
            self.jobs.setdefault(owner, JobObjects(reference=row.owner)).pods.append(row)


def _offer(
    number: int, objects: JobObjects, places: Mapping[str, tuple[int, int]], accounts: Accounts,
    sources: Sequence[Source], skipped: Skipped,
) -> int:  # fmt: skip
    """The job of these objects, or the reason why it is none; the number of pods that are merged into its first."""
    file, line = min(places[pod.uid] for pod in objects.pods)
    skipped.file = sources[file].name
    try:
        entry = _entry(number, objects, job_fact(objects))
    except (*BAD, AssertionError) as error:
        skipped.add(line, "unreadable_cell", f"{type(error).__name__}: {error}")
    else:
        held = accounts.files
        accounts.files = held[: file + 1]  # the file of this row
        accounts.offer(line, entry, skipped)
        accounts.files = held
    return len(objects.pods) - 1


def _entry(number: int, objects: JobObjects, fact: JobFact) -> Entry:
    """The row of a job; those of one gang are components of one job."""
    ends = [attempt.ended_ms for attempt in fact.attempts]
    run_ms = sum(attempt.ended_ms - attempt.started_ms for attempt in fact.attempts if attempt.ended_ms is not None)
    over = bool(ends) and None not in ends and all(pod.ended_ms for pod in objects.pods)
    gang = next((pod.gang for pod in objects.pods if pod.gang and objects.reference is None), "")
    key = ODD.sub("-", fact.key)
    amounts = [_mean(objects.pods, name, run_ms) for name in ("gpus", "cpu_millis", "memory_bytes")]
    return Entry(
        key=f"{objects.pods[0].namespace}/{gang}+{number}" if gang else key,
        submit_ms=fact.submitted_ms, start_ms=fact.attempts[0].started_ms if fact.attempts else math.nan,
        end_ms=float(ends[-1] or 0) if over else math.nan, run_ms=float(run_ms) if over else math.nan,
        gpus=math.ceil(round(amounts[0], 6)), cpus=amounts[1] / 1000, mb=amounts[2] / 1e6,
        limit_ms=fact.limit_ms or -1, group=fact.queue or fact.account or "",
    )  # fmt: skip


def _mean(pods: Sequence[PodRow], name: str, run_ms: int) -> float:
    """Amount that the pods of a job held on average while it ran."""
    held = sum(
        _amount(pod.demand, name) * ((pod.ended_ms or 0) - (pod.placed_ms or 0)) for pod in pods if pod.placed_ms
    )
    return max(0.0, held / run_ms) if run_ms > 0 else sum(_amount(pod.demand, name) for pod in pods)


def _amount(demand: Demand, name: str) -> float:
    return float(getattr(demand, name))
