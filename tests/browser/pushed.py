"""A made-up cluster that posts its events to a running twin, with a token, as a script beside a cluster does."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Event, Thread
from typing import Any

BEAT_S = 10  # a cluster that posts nothing for 60 s is stale


class Pushed:
    """A source of events; times are seconds before now."""

    def __init__(self, url: str, source: str, token: str) -> None:
        self.address, self.source, self.token = f"{url}/api/ingest/{source}/events", source, token
        self.ids = count(1)

    def event(self, kind: str, subject: str, ago_s: float = 0, **data: Any) -> dict[str, Any]:
        time = (datetime.now(UTC) - timedelta(seconds=ago_s)).isoformat()
        own = {"id": str(next(self.ids)), "source": f"/{self.source}", "type": kind, "subject": subject, "time": time}
        return {"specversion": "1.0", **own, "data": data}

    def post(self, *events: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/cloudevents-batch+json"}
        request = urllib.request.Request(self.address, json.dumps(events).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return dict(json.load(answer))

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Meanwhile the cluster posts heartbeats, as the timer of an idle one does."""
        ended = Event()

        def beat() -> None:
            while not ended.wait(BEAT_S):
                self.post()

        timer = Thread(target=beat)
        timer.start()
        try:
            yield
        finally:
            ended.set()
            timer.join()

    def begin(self) -> None:
        """Two nodes, one job that runs and one that waits."""
        self.post(
            self.event("node.changed", "gpu1", 900, gpus=4, cpus=64, queues=["edge"]),
            self.event("node.changed", "gpu2", 900, gpus=8, cpus=128, queues=["batch"]),
            self.event("job.submitted", "1", 600, gpus=2),
            self.event("job.started", "1", 590, shares=[{"node": "gpu1", "gpus": 2, "gpu_ids": [0, 1]}]),
            self.event("job.submitted", "2", 300, gpus=8, reason="Resources"),
        )
