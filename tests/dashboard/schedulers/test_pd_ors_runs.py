"""PD-ORS, and OASiS with its training model: counterfactuals and prices of a server from the log."""

import numpy as np
import pytest

from dashboard.readmodels import counterfactuals
from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import RESOURCES
from scheduling.workloads import generate
from tests.dashboard.builders import downloaded
from tests.twin.runtime.queues import work
from twin.eventlog.fold import BORN, DIED, NEVER
from twin.eventlog.stored_states import at
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store


@pytest.fixture(params=[("pd_ors", {}), ("pd_ors", {"mode": "paper"}), ("oasis", {"model": "pd-ors"})], ids=str)
def shared_run(db, request):
    """Twenty jobs on shared servers, to the end."""
    name, parameters = request.param
    cluster, jobs = generate("pd-ors", variant="calibrated", num_jobs=20, num_servers=4, seed=2)
    spec, trace = store.store_generated("20 jobs", cluster, jobs, 2)
    scenario = Scenario.objects.create(
        name="shared", cluster=spec, trace=trace, scheduler=name, seed=2, parameters=parameters
    )
    run = Run.objects.create(scenario=scenario, mode=Run.BATCH)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    return run


@pytest.mark.thorough
def test_decisions_say_what_would_have_reversed_them(viewer, shared_run):
    rows = viewer.get(f"/api/runs/{shared_run.pk}/jobs/").json()["rows"]
    jobs = store.jobs_of(shared_run.scenario.trace_id)
    sentences = {}
    for job in rows:
        if not job["code"].startswith("payoff"):
            continue
        found = viewer.get(f"/api/runs/{shared_run.pk}/jobs/{job['index']}/counterfactuals/?seconds=30").json()
        assert found["admitted"] == (job["code"] == "payoff_positive")
        by_name = {row["what"]: row for row in found["rows"]}
        assert {"priority", "workers", "arrival_ms"} <= set(by_name)
        assert by_name["workers"]["actual"] == jobs[job["index"]].global_batch
        assert all(row["sentence"].endswith(".") for row in found["rows"])
        sentences.setdefault(found["admitted"], by_name["priority"]["sentence"])
    assert sentences[True].startswith("Admitted with a priority as low as")


def test_the_prices_of_a_server_are_those_that_the_scheduler_ended_with(viewer, shared_run):
    scenario = shared_run.scenario
    jobs = list(store.jobs_of(scenario.trace_id))
    cluster = store.cluster_of(scenario.cluster_id)
    simulation = Simulation(cluster, jobs, build(scenario.scheduler, scenario.parameters), scenario.seed)
    list(simulation.events())
    wanted = simulation.scheduler.prices(np.arange(simulation.scheduler.horizon))
    assert np.nanmax(wanted) > np.nanmin(wanted)
    for server in (0, 3):
        found = viewer.get(f"/api/runs/{shared_run.pk}/prices/{server}/").json()
        for r, name in enumerate(RESOURCES):
            prices = [np.nan if price is None else price for price in found["prices"][name]]
            assert prices == pytest.approx(wanted[:, server, r].tolist(), rel=1e-5, nan_ok=True)


def test_the_state_before_a_decision_is_that_of_the_log(shared_run):
    """Kept by the newest state, though later decisions of the same moment have added bars since."""
    newest = at(shared_run.pk)
    assert newest.firsts.length == 20
    for index, (seq, _) in enumerate(newest.firsts.rows.tolist()):
        found, _, _, bars = counterfactuals._decided(shared_run, index)
        before = at(shared_run.pk, up_to=seq - 1).bars.rows
        assert found == seq
        assert bars.tolist() == before[before[:, DIED] == NEVER][:, :BORN].tolist()
    assert counterfactuals._decided(shared_run, 20) is None


def test_what_the_model_does_not_pack_is_reported_nowhere(viewer, shared_run):
    """Jobs ask for bandwidth, of which servers do not run out in this model: no share of it would mean anything."""
    own = shared_run.scenario
    seeded = Scenario.objects.create(
        name="seed",
        cluster=own.cluster,
        trace=own.trace,
        scheduler=own.scheduler,
        parameters=own.parameters,
        seed=own.seed + 1,
    )
    other = Run.objects.create(scenario=seeded, mode=Run.BATCH)
    runner.enqueue(other.pk)
    work()
    one = f"/api/runs/{shared_run.pk}"
    assert all(job.worker[4] for job in store.jobs_of(shared_run.scenario.trace_id))
    assert viewer.get(f"{one}/static/").json()["limits"] == list(RESOURCES[:4])
    summary = viewer.get(f"{one}/summary.json").json()
    assert (summary["execution"]["model"], summary["execution"]["packs"]) == ("slotted", list(RESOURCES[:4]))
    for metrics in (summary["metrics"], viewer.get(f"{one}/").json()["metrics"]):
        assert [name for name, share in metrics["utilization"].items() if share is None] == ["bandwidth"]
    for site in viewer.get(f"{one}/now/").json()["sites"]:
        assert "bandwidth" not in site["allocated"]
    rows = {row["key"]: row for row in viewer.get(f"/api/compare/?runs={shared_run.pk},{other.pk}").json()["metrics"]}
    assert [value["value"] for value in rows["utilization.bandwidth"]["values"]] == [None, None]
    assert all(value["value"] is not None for value in rows["utilization.gpu"]["values"])
    csv = downloaded(viewer.get(f"/api/compare/metrics.csv?runs={shared_run.pk},{other.pk}")).decode()
    titles = [line.split(",")[0] for line in csv.splitlines()]
    assert "GPU allocation" in titles
    assert "Bandwidth allocation" not in titles
