"""Kubernetes: pods, Jobs, JobSets, Kubeflow jobs and Kueue workloads by list and watch (docs/connect-kubernetes.md)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from twin.connectors._kubernetes import check, kinds
from twin.connectors._kubernetes.access import access
from twin.connectors._kubernetes.client import Client, Refusal
from twin.connectors._kubernetes.demands import Reader
from twin.connectors._kubernetes.store import Store
from twin.connectors._kubernetes.watch import LOST, RELIST, Watches
from twin.connectors.base import Connector
from twin.connectors.facts import ConnectorError, Found, Snapshot

PAGE = 500  # objects an answer
MAX_LISTS = 3  # tries of a list whose pages expire while they are read
SIGN_OF_LIFE_S = 4.0
OWNER_WAIT_S = 0.2
KINDS_S = 60.0  # between two checks for kinds that have been installed
MAX_CLOCK_ERROR_MS = 5_000  # of the offset that is estimated from the dates of answers
MAX_RELISTS = 3  # of one source in a row; then the follower's pauses help
GPU_RESOURCES = (
    "nvidia.com/gpu,nvidia.com/gpu.shared,nvidia.com/mig-*,amd.com/gpu,gpu.intel.com/i915,gpu.intel.com/xe,"
    "habana.ai/gaudi,google.com/tpu,aws.amazon.com/neuron,huawei.com/Ascend*"
)


class Kubernetes(Connector):
    """Connector of Kubernetes: it lists objects once, then follows watches; a lost watch is replaced by a new list."""

    name = "kubernetes"
    title = "Kubernetes"
    summary = (
        "Follows pods with GPUs, Jobs, JobSets, Kubeflow jobs and Kueue workloads by the watches of the API server."
    )

    @dataclass(frozen=True, slots=True)
    class Parameters(Parameters):
        """Address of the API server, and the access to it."""

        url: str = parameter(
            "", "Address of the API server, as kubectl cluster-info prints it; empty: that of the cluster of this pod",
            title="API server",
        )  # fmt: skip
        ca_file: str = parameter(
            "", "File with the CA certificate of the cluster (ca.crt); empty: the system's certificates",
            title="CA certificate file",
        )  # fmt: skip
        token_from: str = parameter(
            "",
            "File that holds the token of a ServiceAccount, or $NAME of an environment variable",
            title="Token source",
        )
        kubeconfig: str = parameter(
            "",
            "Configuration file of kubectl, instead of API server, CA certificate and token",
            title="Kubeconfig file",
        )
        context: str = parameter("", "Context of the kubeconfig file; empty: its current one", title="Context")
        namespaces: str = parameter("", "Names of namespaces, separated by commas; empty: all", title="Namespaces")
        gpu_resources: str = parameter(
            GPU_RESOURCES, "Names of resources that count as GPUs, separated by commas; *: any ending",
            title="GPU resources",
        )  # fmt: skip
        timeout_s: float = parameter(
            5.0,
            "Time after which a request to the API server fails",
            low=0.5,
            high=60,
            unit="s",
            title="Request timeout",
        )

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        self._namespaces = _names(self.parameters.namespaces)
        self._reader = Reader(_names(self.parameters.gpu_resources))
        self._client = Client(access(self.parameters), self.parameters.timeout_s)
        self._store = Store(self._reader)
        self._versions: dict[kinds.Source, str] = {}
        self._relists: Counter[kinds.Source] = Counter()
        self._watches: Watches | None = None
        self._latest_ms = 0
        self._alive_ms: int | None = None  # when the cluster's state was last known

    def check(self) -> Found:
        check.version(self._client)
        return check.examine(self._client, self._sources(), self._reader)

    def snapshot(self, *, nodes: bool = True) -> Snapshot:
        self._stop()
        calls = {}
        self._client.require_ready()
        self._relists.clear()
        sources = self._sources()
        for removed in self._versions.keys() - set(sources):  # the kind is no longer installed
            del self._versions[removed]
            self._store.replace(removed, (), self._alive_ms, self._now())
        for source in sources:
            if nodes or source.kind.role != kinds.NODES or source not in self._versions:
                began = time.monotonic()
                self._versions[source] = self._list(source)
                calls[f"list {source}"] = round((time.monotonic() - began) * 1000)
        return self._whole(nodes, calls)

    def changes(self) -> Iterator[Snapshot]:
        """Snapshots of changes; it continues after any `snapshot` in between, which restarts the watches."""
        if not self._versions:
            yield self.snapshot()
        reported_at = asked_at = time.monotonic()
        try:
            while True:
                if self._watches is None:
                    self._watches = Watches(self._client, self._versions)
                if time.monotonic() - asked_at >= KINDS_S:
                    asked_at = time.monotonic()
                    if self._installed(self._watches):
                        yield self._whole(True, {})
                wait = (
                    OWNER_WAIT_S if self._store.waits() else max(reported_at + SIGN_OF_LIFE_S - time.monotonic(), 0.0)
                )
                snapshot = self._take(self._watches, wait)
                if snapshot is None and time.monotonic() - reported_at >= SIGN_OF_LIFE_S:
                    check.version(self._client)  # a server that hangs keeps its connections open
                    snapshot = Snapshot(self._now(), partial=True)
                if snapshot is not None:
                    self._alive_ms = snapshot.at_ms
                    yield snapshot
                    reported_at = time.monotonic()
        finally:
            self._stop()

    def cost(self) -> Mapping[str, float]:
        watches = len(self._versions) if self._watches is not None else 0
        return {"calls": self._client.calls, "ms": self._client.call_ms, "watches": watches}

    def close(self) -> None:
        self._stop()
        self._client.close()

    def _installed(self, watches: Watches) -> bool:
        """True if kinds have been installed since they were listed; their objects are read and watched from now on."""
        found = [source for source in self._sources() if source not in self._versions]
        for source in found:
            self._versions[source] = self._list(source)
            watches.begin(source, self._versions[source])
        return bool(found)

    def _take(self, watches: Watches, wait_s: float) -> Snapshot | None:
        """The snapshot that the next events make; None when they change nothing."""
        relist = set()
        for event in watches.take(wait_s):
            if event.verb == LOST:
                assert event.error is not None
                raise event.error
            if event.verb == RELIST:
                relist.add(event.source)
            elif event.verb == "DELETED":
                meta = event.obj["metadata"]
                self._store.put(event.source.kind, event.obj, self._now())  # its last state: how it ended, if it had
                uid = meta["name" if event.source.kind.role == kinds.NODES else "uid"]
                self._store.delete(event.source.kind, uid, None, self._now())
            else:
                self._store.put(event.source.kind, event.obj, self._now())
            if event.verb != RELIST:
                self._relists[event.source] = 0
        for source in relist:
            self._relists[source] += 1
            if self._relists[source] > MAX_RELISTS:
                raise ConnectorError(
                    f"{self._client.access.url}: the server no longer knows the list of {source} that it has just sent"
                )
            self._versions[source] = self._list(source)
            watches.begin(source, self._versions[source])
        if relist:
            return self._whole(True, {})
        jobs, nodes = self._store.changed()
        return Snapshot(self._now(), jobs, nodes or None, partial=True) if jobs or nodes else None

    def _whole(self, nodes: bool, calls: Mapping[str, int]) -> Snapshot:
        jobs, all_nodes = self._store.changed(every=True)
        self._alive_ms = self._now()
        return Snapshot(self._alive_ms, jobs, all_nodes if nodes else None, calls=calls)

    def _sources(self) -> tuple[kinds.Source, ...]:
        return kinds.sources(self._client.find, self._namespaces)

    def _list(self, source: kinds.Source) -> str:
        """Version from which a source can be watched, after it was listed into the store."""
        for attempt in range(MAX_LISTS):
            page: dict[str, Any] = {}
            try:
                self._store.replace(source, self._pages(source, page), self._alive_ms, self._now())
                return page["resourceVersion"]
            except Refusal as refusal:
                if refusal.code == 403:
                    remedy = check.grant(self._sources(), check.account(self._client, source))
                    raise ConnectorError(f"{refusal}; grant it by {remedy}") from refusal
                if refusal.code != 410 or attempt + 1 == MAX_LISTS:
                    raise
        raise AssertionError("the last try raises")

    def _pages(self, source: kinds.Source, page: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Objects of all pages of a list; `page` receives the metadata of the last one."""
        query: dict[str, str | int] = {"limit": PAGE}
        while True:
            answer = self._client.get(source.path, query)
            yield from answer.get("items") or ()
            page.update(answer["metadata"])
            if not answer["metadata"].get("continue"):
                return
            query = {"limit": PAGE, "continue": answer["metadata"]["continue"]}

    def _now(self) -> int:
        """The cluster's clock, which never runs backwards, and never behind a time that the API server has reported."""
        now = self._client.clock.now_ms()
        server_ms = self._store.newest_ms if self._store.newest_ms < now + MAX_CLOCK_ERROR_MS else 0
        self._latest_ms = max(self._latest_ms, now, server_ms)
        return self._latest_ms

    def _stop(self) -> None:
        if self._watches is not None:
            self._watches.close()
            self._watches = None


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
