"""A watcher of a real cluster, and changes of its objects."""

from datetime import datetime

from tests.live.kubernetes.cluster import until
from twin.connectors.facts import (
    ConnectorError,
)

PODS = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


class Watcher:
    """All that a connector has reported: the newest fact of each job and node."""

    def __init__(self, connector):
        self.connector, self.jobs, self.nodes, self.complete_polls = connector, {}, {}, 0
        self.begin_again()

    def begin_again(self):
        """As a follower does that has lost the cluster: it asks until there is an answer."""

        def begun():
            try:
                self.begin()
            except ConnectorError:
                return False
            return True

        until(begun, "the cluster is read again")

    def begin(self):
        self.take(self.connector.snapshot())
        self.changes = self.connector.changes()

    def take(self, snapshot):
        self.jobs |= {fact.key: fact for fact in snapshot.jobs}
        self.complete_polls += not snapshot.partial
        if snapshot.nodes is not None:
            self.nodes = {fact.name: fact for fact in snapshot.nodes}
        return snapshot

    def until(self, holds, what):
        """Takes changes until it holds; the connector gives a sign of life when nothing changes."""
        return until(lambda: holds(self) or (self.take(next(self.changes)) and holds(self)), what)

    def job(self, key, state):
        self.until(lambda watcher: key in watcher.jobs and watcher.jobs[key].state == state, f"{key} is {state}")
        return self.jobs[key]


def ms(text):
    return int(datetime.fromisoformat(text).timestamp()) * 1000


def placed_ms(pod):
    """When the pod was bound; when it started, where the scheduler has replaced that by a failure to bind it again."""
    bound = [c for c in pod["status"]["conditions"] if (c["type"], c["status"]) == ("PodScheduled", "True")]
    return ms(bound[0]["lastTransitionTime"] if bound else pod["status"]["startTime"])


def set_pod(cluster, name, **status):
    cluster.ask(f"{PODS}/{name}/status", "PATCH", {"status": status})


def end_job(cluster, path, kind="Complete", **more):
    condition = {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", **more}
    cluster.ask(f"{path}/status", "PATCH", {"status": {"conditions": [condition]}})


def bound(cluster, name):
    return until(
        lambda: (pod := cluster.ask(f"{PODS}/{name}")) and pod["spec"].get("nodeName") and pod, f"{name} is bound"
    )
