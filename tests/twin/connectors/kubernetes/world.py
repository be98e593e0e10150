"""A store of Kubernetes objects and what it reports, for tests of the connector."""

from tests.twin.connectors.kubernetes.objects import (
    CREATED_MS,
)
from twin.connectors._kubernetes.demands import Reader
from twin.connectors._kubernetes.kinds import KINDS
from twin.connectors._kubernetes.store import Store
from twin.connectors.facts import (
    Share,
)

KIND = {kind.name: kind for kind in KINDS}
NOW = CREATED_MS + 3_000_500


class World:
    """A store and what it reports."""

    def __init__(self):
        self.store = Store(Reader(["nvidia.com/gpu", "nvidia.com/mig-*"]))

    def put(self, *objects, at=NOW):
        for obj in objects:
            kind = obj.get("kind") or ("Node" if "allocatable" in obj["status"] else "Pod")
            self.store.put(KIND[kind], obj, at)
        return objects[-1]

    def delete(self, obj, after=None, at=NOW):
        self.store.delete(KIND[obj.get("kind", "Pod")], obj["metadata"]["uid"], after, at)

    def job(self, every=False):
        """The one job that has changed."""
        (fact,), _ = self.store.changed(every)
        return fact


def at(seconds):
    return CREATED_MS + seconds * 1000


def share(name, **more):
    return Share(name, gpus=1, cpus=1, memory_mb=2048, **more)
