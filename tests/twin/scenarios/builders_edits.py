"""A small scenario for edits, with values by hand."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job, Server, Utility
from twin.scenarios.edits import parse, phases
from twin.scenarios.edits.base import ScenarioState

H = 3_600_000
CAPACITY = (4_000, 16_000, 64_000, 100_000, 10_000)
SERVERS = tuple(Server(f"{site}-{n}", site, CAPACITY, nic_gbps=10.0) for site in ("edge", "cloud") for n in range(2))
JOBS = tuple(
    Job(f"j{n}", n * H, model="vgg" if n % 2 else "resnet", epochs=10, upload_ms=(1, 2, 3, 4), cloud_upload_ms=9,
        utility=Utility(10.0, 1.0, 5.0))
    for n in range(4)
)  # fmt: skip
WORLD = ScenarioState(Cluster("c", H, SERVERS), JOBS, "oasis", {})


def after(*edits, state=WORLD):
    return phases(state, parse(list(edits)))


def last(*edits, **options):
    return after(*edits, **options)[-1][1]
