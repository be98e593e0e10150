"""Store: the objects that the cluster has, as rows, with the chains of owners between them."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from twin.connectors import facts
from twin.connectors._kubernetes.demands import Reader
from twin.connectors._kubernetes.fields import Owner
from twin.connectors._kubernetes.jobs import JobObjects, job_fact
from twin.connectors._kubernetes.kinds import NODES, PODS, WORKLOADS, Kind, Source
from twin.connectors._kubernetes.pods import PodRow, gone_pod, pod_row
from twin.connectors._kubernetes.quantities import line
from twin.connectors._kubernetes.rows import JobRow, WorkloadRow, job_row, node_fact, workload_row
from twin.connectors.facts import ConnectorError, JobFact, NodeFact

logger = logging.getLogger(__name__)

MAX_LATE_S = 10.0
MAX_OWNER_WAIT_S = 2.0  # events of two kinds may arrive in any order: a pod before its job


class Store:
    """Rows of all objects of interest, and which twin jobs and nodes have changed since they were last asked for.

    The root of an object is the uid of the topmost job object above it: each root is one twin job. A pod that is gone
    is kept as long as its job object is there, because it was part of an attempt; a job object that is gone, as long as
    pods of it run.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._pods: dict[str, PodRow] = {}
        self._jobs: dict[str, JobRow] = {}
        self._workloads: dict[str, WorkloadRow] = {}
        self._nodes: dict[str, NodeFact] = {}
        self._below: defaultdict[str, set[str]] = defaultdict(set)  # uid -> uids of what it owns
        self._pods_on: Counter[str] = Counter()
        self._touched: set[str] = set()
        self._nodes_changed = False
        self.newest_ms = 0  # the latest time that the API server has reported
        self._gone: dict[str, float] = {}  # root of which nothing is there any more -> when to forget it
        self._wait_until: dict[str, float] = {}  # root that has not been seen -> when to go on without it

    def put(self, kind: Kind, obj: Mapping[str, Any], seen_ms: int) -> None:
        """An object as it is now; one that is not as the API describes it is left out, and what is held of it stays."""
        try:
            self._put(kind, obj, seen_ms)
        except (ConnectorError, KeyError, TypeError, ValueError, AttributeError) as error:
            meta = obj.get("metadata") or {}
            name = line(f"{kind.full_name} {meta.get('namespace', '')}/{meta.get('name', '')}")
            logger.warning("%s is left out: %s", name, line(error) or type(error).__name__)

    def delete(self, kind: Kind, uid: str, after_ms: int | None, seen_ms: int) -> None:
        """An object that is no longer there, since some time between the two (`after_ms` None: since just now)."""
        if kind.role == NODES:
            self._delete_node(uid)
        elif kind.role == PODS:
            pod = self._pods.get(uid)
            if pod is not None:
                self._put_pod(gone_pod(pod, after_ms, seen_ms))
        elif kind.role == WORKLOADS:
            workload = self._workloads.pop(uid, None)
            for owner in workload.owners if workload is not None else ():
                self._touch(owner)
                self._forget(owner, uid)
        else:
            job = self._jobs.get(uid)
            if job is not None and job.gone_ms is None:
                self._put_job(replace(job, gone_ms=max(seen_ms, job.created_ms)))

    def replace(self, source: Source, objects: Iterable[Mapping[str, Any]], after_ms: int | None, seen_ms: int) -> None:
        """All objects of a source: what is held of it and is not among them has been deleted."""
        kind, listed = source.kind, set()
        for obj in objects:
            listed.add(obj["metadata"]["name" if kind.role == NODES else "uid"])
            self.put(kind, obj, seen_ms)
        for uid in [uid for uid in self._held(source) if uid not in listed]:
            self.delete(kind, uid, after_ms, seen_ms)

    def changed(self, every: bool = False) -> tuple[tuple[JobFact, ...], tuple[NodeFact, ...]]:
        """Twin jobs that have changed since the last call, or all of them, and all nodes if one has.

        A removed job is reported for the last time.
        """
        if every:
            self._touched |= self._roots() - self._gone.keys()
            self._wait_until = dict.fromkeys(self._wait_until, 0.0)
        self._touched = {self._root(uid)[0] for uid in self._touched}  # an owner that came since then has one itself
        ready = self._touched - self._waiting()
        self._touched -= ready
        by_root = {root: self._objects(root) for root in ready}
        jobs = [job_fact(objects) for objects in by_root.values() if objects.root is not None or objects.pods]
        self._drop_gone(by_root)
        nodes = map(self._settled, self._nodes.values()) if every or self._nodes_changed else ()
        self._nodes_changed = False
        return tuple(sorted(jobs, key=lambda fact: fact.key)), tuple(nodes)

    def waits(self) -> bool:
        """True if a change is delayed until the owner of the object arrives."""
        return bool(self._touched)

    def _waiting(self) -> set[str]:
        now = time.monotonic()
        return {root for root in self._touched if self._wait_until.get(root, now) > now}

    def _put(self, kind: Kind, obj: Mapping[str, Any], seen_ms: int) -> None:
        if kind.role == NODES:
            self._put_node(node_fact(obj, self._reader))
        elif kind.role == PODS:
            uid = obj["metadata"]["uid"]
            row = pod_row(obj, self._reader, seen_ms, self._pods.get(uid))
            if row is None:
                self.delete(kind, uid, None, seen_ms)  # it was of interest before it lost its owner
            else:
                self._put_pod(row)
        elif kind.role == WORKLOADS:
            self._put_workload(workload_row(obj, self._reader))
        else:
            self._put_job(job_row(obj, kind, self._reader, seen_ms))

    def _put_pod(self, row: PodRow) -> None:
        before = self._pods.get(row.uid)
        if before == row:
            return
        self._pods[row.uid] = row
        self.newest_ms = max(self.newest_ms, row.created_ms, row.placed_ms or 0)
        if row.owner is not None:
            self._below[row.owner.uid].add(row.uid)
        if before is not None and before.owner is not None and before.owner != row.owner:
            self._touch(before.owner.uid)
            self._forget(before.owner.uid, row.uid)
        for pod, change in ((before, -1), (row, 1)):
            if pod is not None and pod.holds_node:
                self._pods_on[pod.node] += change
                if self._nodes.get(pod.node, NodeFact("")).state == facts.DRAINING:
                    self._nodes_changed = True  # it may be idle now
        self._touch(row.uid)

    def _put_job(self, row: JobRow) -> None:
        before = self._jobs.get(row.uid)
        if before == row:
            return
        self._jobs[row.uid] = row
        self.newest_ms = max(self.newest_ms, row.created_ms)
        if row.owner is not None:
            self._below[row.owner.uid].add(row.uid)
        self._wait_until.pop(row.uid, None)
        self._touch(row.uid)

    def _put_workload(self, row: WorkloadRow) -> None:
        before = self._workloads.get(row.uid)
        if before == row:
            return
        self._workloads[row.uid] = row
        for owner in row.owners:
            self._below[owner].add(row.uid)
            self._touch(owner)

    def _put_node(self, fact: NodeFact) -> None:
        if self._nodes.get(fact.name) != fact:
            self._nodes[fact.name] = fact
            self._nodes_changed = True

    def _delete_node(self, name: str) -> None:
        self._nodes_changed |= self._nodes.pop(name, None) is not None

    def _settled(self, fact: NodeFact) -> NodeFact:
        idle = fact.state == facts.DRAINING and not self._pods_on[fact.name]
        return replace(fact, state=facts.DRAINED) if idle else fact

    def _touch(self, uid: str) -> None:
        """Mark of the twin job of an object as changed; if its job object has not been seen yet, it waits for that."""
        root, reference = self._root(uid)
        if root in self._jobs or root in self._pods:
            self._touched.add(root)
        elif reference is not None:  # without: a workload whose owner is no job, or has not come yet
            self._touched.add(root)
            self._wait_until.setdefault(root, time.monotonic() + MAX_OWNER_WAIT_S)

    def _root(self, uid: str) -> tuple[str, Owner | None]:
        """(uid of the root, the last reference on the way to it)."""
        reference = None
        row: PodRow | JobRow | None = self._pods.get(uid) or self._jobs.get(uid)
        while row is not None and row.owner is not None:
            uid, reference = row.owner.uid, row.owner
            row = self._jobs.get(uid)
        return uid, reference

    def _roots(self) -> set[str]:
        return {self._root(uid)[0] for uid in (*self._pods, *self._jobs)}

    def _objects(self, root: str) -> JobObjects:
        objects = JobObjects(self._jobs.get(root))
        for uid in self._members(root):
            pod, job, workload = self._pods.get(uid), self._jobs.get(uid), self._workloads.get(uid)
            if pod is not None:
                objects.pods.append(pod)
            elif workload is not None:
                objects.workloads.append(workload)
            elif job is not None and uid != root:
                objects.below.append(job)
        if objects.root is None and objects.pods:
            objects.reference = self._root(objects.pods[0].uid)[1]
        return objects

    def _members(self, root: str) -> Iterator[str]:
        """The root and all below it."""
        yield root
        for uid in self._below.get(root, ()):
            yield from self._members(uid)

    def _drop_gone(self, by_root: Mapping[str, JobObjects]) -> None:
        """Removal of twin jobs of which nothing is left, after a while: last reports of their pods may come later."""
        now = time.monotonic()
        for root, objects in by_root.items():
            self._gone.pop(root, None)
            if _is_gone(objects):
                self._gone[root] = now + MAX_LATE_S
        for root in [root for root, late in self._gone.items() if late <= now]:
            for uid in list(self._members(root)):
                self._pods.pop(uid, None)
                self._jobs.pop(uid, None)
                self._below.pop(uid, None)
            self._wait_until.pop(root, None)
            del self._gone[root]

    def _forget(self, owner: str, uid: str) -> None:
        self._below[owner].discard(uid)
        if not self._below[owner]:
            del self._below[owner]

    def _held(self, source: Source) -> list[str]:
        """Ids of the stored objects of a source that still existed."""
        kind = source.kind
        if kind.role == NODES:
            return list(self._nodes)
        rows: list[PodRow | JobRow | WorkloadRow]
        if kind.role == PODS:
            rows = [pod for pod in self._pods.values() if not pod.gone]
        elif kind.role == WORKLOADS:
            rows = list(self._workloads.values())
        else:
            rows = [job for job in self._jobs.values() if job.kind == kind.name and job.gone_ms is None]
        return [row.uid for row in rows if source.namespace in ("", row.namespace)]


def _is_gone(objects: JobObjects) -> bool:
    """True if no object of it is left, so that no event can follow."""
    jobs = [objects.root, *objects.below] if objects.root else objects.below
    return all(pod.gone for pod in objects.pods) and all(job.gone_ms is not None for job in jobs)
