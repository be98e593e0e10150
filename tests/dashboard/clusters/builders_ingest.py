"""Events of a small pushed cluster, and a machine that posts them."""

from pathlib import Path

import orjson
from django.test import Client

from tests.twin.push.builders import T0, cloud_event
from twin.connectors.facts import JobFact, NodeFact

BATCH, SINGLE = "application/cloudevents-batch+json", "application/cloudevents+json"


FIXTURES = Path(__file__).parents[2] / "fixtures" / "push"


NODE = cloud_event("node.changed", "gpu1", T0, gpus=4, cpus=64)


SUBMITTED = cloud_event("job.submitted", "54_1", T0, gpus=2, queue="edge")


STARTED = cloud_event("job.started", "54_1", T0 + 500, shares=[{"node": "gpu1", "gpus": 2, "gpu_ids": [0, 3]}])


ENDED = cloud_event("job.ended", "54_1", T0 + 9_000, outcome="completed")


class Sender:
    """A machine with a token."""

    def __init__(self, value: str, source: str = "lab") -> None:
        self.client, self.path = Client(enforce_csrf_checks=True), f"/api/ingest/{source}/"
        self.headers = {"authorization": f"Bearer {value}"}

    def post(self, body, media_type=BATCH, to="events"):
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        return self.client.post(self.path + to, data, content_type=media_type, headers=self.headers)

    def summary(self, body, media_type=BATCH):
        return self.post(body, media_type).json()

    def step(self, **body):
        return self.post(body, "application/json", "snapshot")


def seen(connector) -> tuple[list[JobFact], list[NodeFact]]:
    snapshot = connector.snapshot()
    return sorted(snapshot.jobs, key=lambda job: job.key), sorted(snapshot.nodes, key=lambda node: node.name)
