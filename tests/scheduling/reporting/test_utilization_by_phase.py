"""Allocation in runs whose schedulers count different resources, worked by hand."""

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, SERVER, START
from scheduling.model.held import Sizes
from scheduling.model.values import RESOURCES, Cluster, Server
from scheduling.reporting.run_metrics import Known, run_metrics


def allocated(packed):
    """One server of 4 GPUs and 8 vCPUs; a worker of 1 GPU and 2 vCPUs from 0 to 100, then 3 of them to 200."""
    bars = np.zeros((2, 9), dtype=np.int64)
    bars[:, [JOB, SERVER]] = 0
    bars[:, START], bars[:, END], bars[:, COUNT] = (0, 100), (100, 200), (1, 3)
    demands = np.zeros((2, 1, len(RESOURCES)), dtype=np.int64)
    demands[0, 0, :2] = 1_000, 2_000
    cluster = Cluster("small", 10, (Server("s0", "edge", (4_000, 8_000, 0, 0, 0)),), None)
    none = np.zeros(0, dtype=np.int64)
    known = Known(None, 1, 0, np.zeros(1, dtype=np.int64), none, none, 0, bars, Sizes(demands))
    found = run_metrics(known, [(0, cluster)], packed)["utilization"]
    return found["gpu"], found["cpu"]


def test_a_resource_is_counted_in_the_phases_that_limit_it():
    """In all: (100 x 1 + 100 x 3) of 200 x 4. From 100 on: 300 of 400. From 50 to 150: (50 + 150) of 400."""
    assert allocated([(0, ("gpu", "cpu"))]) == (0.5, 0.5)
    assert allocated([(0, ()), (100, ("gpu", "cpu"))]) == (0.75, 0.75)
    assert allocated([(0, ("gpu",)), (50, ("gpu", "cpu")), (150, ("gpu",))]) == (0.5, 0.5)
    assert allocated([(0, ("cpu",)), (100, ("gpu",))]) == (0.75, 0.25)
    assert allocated([(0, ()), (300, ("gpu",))]) == (None, None)
