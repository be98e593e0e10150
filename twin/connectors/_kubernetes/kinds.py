"""Kinds of objects that are read: pods, nodes, and the kinds whose objects are jobs; and which a cluster has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NODES, PODS, WORKLOADS, JOBS = "nodes", "pods", "workloads", "jobs"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of objects, as the API names it.

    role  what it is to the twin: a node, a pod, a queued workload of Kueue, or a job
    """

    name: str
    group: str
    resource: str
    role: str

    @property
    def full_name(self) -> str:
        """Name of the kind in RBAC commands: pods, jobs.batch."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


POD, NODE = Kind("Pod", "", "pods", PODS), Kind("Node", "", "nodes", NODES)
# What others own comes first: when all have been listed in this order, an owner that is not there has been deleted.
KINDS = (
    POD,
    NODE,
    Kind("Workload", "kueue.x-k8s.io", "workloads", WORKLOADS),
    Kind("Job", "batch", "jobs", JOBS),
    Kind("JobSet", "jobset.x-k8s.io", "jobsets", JOBS),
    Kind("PyTorchJob", "kubeflow.org", "pytorchjobs", JOBS),
    Kind("TFJob", "kubeflow.org", "tfjobs", JOBS),
    Kind("MPIJob", "kubeflow.org", "mpijobs", JOBS),
    Kind("TrainJob", "trainer.kubeflow.org", "trainjobs", JOBS),
)
JOB_KINDS = {(kind.group, kind.name): kind for kind in KINDS if kind.role == JOBS}


@dataclass(frozen=True, slots=True)
class Source:
    """A kind in one namespace, or in all of them, and the address of its list."""

    kind: Kind
    path: str
    namespace: str = ""  # "" = all of them

    def __str__(self) -> str:
        return self.kind.full_name + (f" in {self.namespace}" if self.namespace else "")


def sources(read: Callable[[str], Mapping[str, Any] | None], namespaces: Sequence[str]) -> tuple[Source, ...]:
    """Sources that this cluster has; `read` returns the answer for a path, or None where the server has nothing there.

    Asked of the server's own list of kinds, because a list of a kind that is not installed is refused to an account
    without the right to read it: it looks like a right that is missing.
    """
    found: list[Source] = []
    paths: dict[str, dict[str, str]] = {"": {"pods": "/api/v1/pods", "nodes": "/api/v1/nodes"}}
    for kind in KINDS:
        if kind.group not in paths:
            paths[kind.group] = _resources(read, kind.group)
        path = paths[kind.group].get(kind.resource)
        if path is None:
            continue
        if kind is NODE or not namespaces:
            found.append(Source(kind, path))
        else:
            base = path.removesuffix(kind.resource)
            found += [Source(kind, f"{base}namespaces/{name}/{kind.resource}", name) for name in namespaces]
    return tuple(found)


def _resources(read: Callable[[str], Mapping[str, Any] | None], group: str) -> dict[str, str]:
    """Paths of the resources of a group, in the version that the server prefers where it has them."""
    about = read(f"/apis/{group}") or {}
    preferred = (about.get("preferredVersion") or {}).get("version")
    versions = sorted((v["version"] for v in about.get("versions") or ()), key=lambda version: version != preferred)
    paths: dict[str, str] = {}
    for version in versions:
        for resource in (read(f"/apis/{group}/{version}") or {}).get("resources") or ():
            paths.setdefault(resource["name"], f"/apis/{group}/{version}/{resource['name']}")
    return paths
