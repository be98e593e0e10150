"""Allocation in runs whose schedulers count different resources, worked by hand."""

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, NONE, ROLE, SERVER, START, Role
from scheduling.model.held import Sizes
from scheduling.model.values import RESOURCES, Cluster, Server
from scheduling.reporting.run_metrics import Known, run_metrics


def allocated(packed, group_until=None):
    """One server of 4 GPUs and 8 vCPUs; a worker of 1 GPU and 2 vCPUs from 0 to 100, then 3 of them to 200.

    group_until: end of a bar of a co-location group from 200 on, which states no server.
    """
    bars = np.zeros((2, 9), dtype=np.int64)
    bars[:, [JOB, SERVER]] = 0
    bars[:, START], bars[:, END], bars[:, COUNT] = (0, 100), (100, 200), (1, 3)
    if group_until is not None:
        bars = np.vstack([bars, [0, -1, -1, 200, group_until, 1, -1, -1, 0]])
        bars[2, [JOB, SERVER, START, END, COUNT, ROLE]] = 0, NONE, 200, group_until, 1, Role.WORKER
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


def test_the_last_bar_may_be_one_of_a_group():
    """Slotted until 250, then groups until 400: 400 of 250 x 4 GPUs; the time after the last slotted bar counts."""
    slotted = ("gpu", "cpu")
    assert allocated([(0, slotted), (250, ())], group_until=400) == (0.4, 0.4)
    assert allocated([(0, slotted), (250, ())], group_until=240) == (400 / 960, 400 / 960)
