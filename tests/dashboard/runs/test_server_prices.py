"""The prices of one server, rebuilt from the bars of the log, are those that the scheduler ended with."""

import numpy as np
import pytest

from scheduling.model.values import RESOURCES
from tests.twin.runtime.queues import work
from twin.runs import runner
from twin.scenarios import store


def test_they_are_the_schedulers_own(viewer, finished_run):
    simulation = store.simulation(finished_run)
    list(simulation.events())
    wanted = simulation.scheduler.prices(np.arange(simulation.scheduler.horizon))
    for server in (0, 5):
        found = viewer.get(f"/api/runs/{finished_run.pk}/prices/{server}/").json()
        assert found["server"] == simulation.cluster.servers[server].name
        for r, name in enumerate(RESOURCES):
            prices = [np.nan if price is None else price for price in found["prices"][name]]
            assert prices == pytest.approx(wanted[:, server, r].tolist(), rel=1e-5, nan_ok=True)


def test_what_has_no_prices_says_so(viewer, make_run, finished_run):
    assert (
        viewer.get(f"/api/runs/{finished_run.pk}/prices/99/")
        .json()["detail"]
        .endswith("has 8 servers; none has the index 99.")
    )
    run = make_run(scheduler="fifo")
    runner.enqueue(run.pk)
    work()
    assert viewer.get(f"/api/runs/{run.pk}/prices/0/").json()["detail"] == "FIFO has no prices"
