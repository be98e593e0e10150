"""Warnings of the form of a new run, before its start: jobs that lack a needed field, or fit on no server."""

from dataclasses import replace

import numpy as np
import orjson
import pytest

from scheduling.kernel.registry import build, schedulers
from scheduling.model.values import Cluster, Job, Server
from tests.dashboard.scenarios.builders_scenarios import without_samples
from tests.twin.builders import played_out, scenario_of
from twin.eventlog import event_log
from twin.models import Run, Scenario
from twin.scenarios import store
from twin.scenarios.store import jobs_of, store_cluster, store_generated

SIZE = (0, 64_000, 512_000, 900_000, 90_000)
CPU_ONLY = (Server("cpu", "edge", SIZE, roles=("worker",)), Server("ps", "edge", SIZE, roles=("ps",)))
GPU = Server("gpu", "edge", (4_000, 8_000, 64_000, 100_000, 10_000))


def asked(client, scenario, scheduler, cluster=None, **parameters):
    query = {"trace": scenario.trace_id, "scheduler": scheduler, "parameters": orjson.dumps(parameters).decode()}
    if cluster is not None:
        query["cluster"] = cluster
    answer = client.get("/api/scenarios/suitability/", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_fields_that_the_jobs_lack_are_named_with_their_number(viewer, db):
    scenario = without_samples("pd_ors")
    answer = asked(viewer, scenario, "pd_ors", scenario.cluster_id)
    (first,) = answer["warnings"]
    assert first.startswith("8 of 8 jobs lack num_samples")
    assert first.endswith(", needed by PD-ORS; they would be rejected.")
    assert (answer["fit"]["jobs"], answer["fit"]["runnable"]) == (8, 0)
    assert (answer["fit"]["schedulers"]["oasis"], answer["fit"]["schedulers"]["pd_ors"]) == (8, 0)
    assert set(answer["fit"]["schedulers"]) == set(schedulers())
    assert asked(viewer, scenario, "oasis", scenario.cluster_id)["warnings"] == []
    assert asked(viewer, scenario, "pd_ors", "generate")["warnings"][0] == first


def test_the_training_model_that_a_parameter_sets_counts(viewer, db):
    scenario = without_samples("oasis")
    assert "8 of 8 jobs lack" in asked(viewer, scenario, "oasis", scenario.cluster_id, model="pd-ors")["warnings"][0]


def test_an_empty_parameter_is_the_default_as_in_a_scenario(viewer, db):
    scenario = scenario_of("oasis", "oasis", jobs=3)
    usual = asked(viewer, scenario, "oasis", scenario.cluster_id)
    assert asked(viewer, scenario, "oasis", scenario.cluster_id, floor_scale="") == usual


@pytest.mark.parametrize("name", sorted(schedulers()))
def test_no_warning_exactly_where_a_run_rejects_no_job_for_a_missing_field(viewer, name, db):
    job = Job("a", 0, epochs=1, num_chunks=1, minibatches_per_chunk=1, minibatch_ms=1000.0)
    spec, trace = store_generated("bare", Cluster("c", 60_000, (GPU,), horizon_slots=10), [job], 0)
    scenario = Scenario.objects.create(name="bare", cluster=spec, trace=trace, scheduler=name)
    run = played_out(Run.objects.create(scenario=scenario))
    lacks = any(data["code"] == "missing_part" for _, _, _, data in event_log.lines_of(run.pk, ("decided",), 0, None))
    warnings = asked(viewer, scenario, name, spec.pk)["warnings"]
    assert any(" lacks " in line for line in warnings) == lacks


def test_jobs_that_fit_nowhere_are_counted_and_the_newest_cluster_with_room_is_chosen(viewer, db):
    scenario = scenario_of("oasis", "fifo", jobs=12)
    with_gpus = scenario.cluster_id
    without = store_cluster(Cluster("no-gpus", 60_000, CPU_ONLY), "test").pk
    assert asked(viewer, scenario, "fifo")["cluster"] == with_gpus
    line = asked(viewer, scenario, "fifo", without)["warnings"][0]
    needy = sum(job.worker[0] > 0 for job in jobs_of(scenario.trace_id))
    assert needy > 1
    assert line.startswith(f"{needy} of 12 jobs do not fit: one worker needs ")
    assert line.endswith(" GPU; the largest server has 0 GPU.")


@pytest.mark.parametrize("name", ["oasis", "pd_ors", "fifo"])
def test_the_horizon_of_the_form_is_that_of_the_run(viewer, name, db):
    scenario = scenario_of("pd-ors" if name == "pd_ors" else "oasis", name, jobs=8)
    assert asked(viewer, scenario, name, scenario.cluster_id)["own_horizon"] is None, "the cluster has a horizon"
    endless = replace(store.cluster_of(scenario.cluster_id), horizon_slots=None)
    spec = store_cluster(endless, "test")
    scheduler = build(name)
    scheduler.start(endless, list(jobs_of(scenario.trace_id)), np.random.default_rng(0))
    found = asked(viewer, scenario, name, spec.pk)["own_horizon"]
    assert found == scheduler.horizon
    assert (found is None) == (name == "fifo")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"cluster": "mine"}, "a cluster must be a number or generate"),
        ({"parameters": "[]"}, "parameters must be a JSON object"),
        ({"scheduler": "magic"}, "unknown scheduler 'magic'"),
    ],
)
def test_wrong_choices_are_refused_with_a_reason(viewer, db, query, words):
    scenario = scenario_of("oasis", "fifo", jobs=3)
    answer = viewer.get("/api/scenarios/suitability/", {"trace": scenario.trace_id, "scheduler": "fifo", **query})
    assert answer.status_code == 400
    assert words in str(answer.json())


def test_fields_that_are_not_the_traces_own_are_counted_by_origin(viewer, db):
    """Of OASiS' workload all fields that OASiS needs are sampled; a trace without provenance says nothing."""
    scenario = scenario_of("oasis", "oasis", jobs=8)
    made = asked(viewer, scenario, "oasis", scenario.cluster_id)["fit"]["made"]
    assert set(made) == {"drawn"}
    assert set(made["drawn"].values()) == {8}
    assert {"epochs", "utility", "worker"} <= set(made["drawn"])
    spec, trace = store_generated("bare", Cluster("c", 60_000, (GPU,), horizon_slots=10), [Job("a", 0)], 0)
    bare = Scenario.objects.create(name="bare", cluster=spec, trace=trace, scheduler="fifo")
    assert asked(viewer, bare, "fifo", spec.pk)["fit"]["made"] == {}


def test_a_job_that_lacks_a_field_and_fits_nowhere_counts_once(viewer, db):
    """Of three jobs one has all and fits, one lacks its epochs, and one lacks them and needs 9 GPUs."""
    whole = Job(
        "a", 0, epochs=1, num_chunks=1, minibatches_per_chunk=1, minibatch_ms=1000.0, gradient_mb=1.0,
        worker=(1_000, 1_000, 1_000, 0, 1_000), ps=(0, 1_000, 1_000, 0, 1_000), requested_workers=1,
    )  # fmt: skip
    lacking = replace(whole, id="b", epochs=None)
    jobs = [whole, lacking, replace(lacking, id="c", worker=(9_000, 1_000, 1_000, 0, 1_000))]
    servers = (replace(GPU, roles=("worker",)), CPU_ONLY[1])
    spec, trace = store_generated("three", Cluster("c", 60_000, servers, horizon_slots=10), jobs, 0)
    scenario = Scenario.objects.create(name="three", cluster=spec, trace=trace, scheduler="fifo")
    fit = asked(viewer, scenario, "fifo", spec.pk)["fit"]
    assert (fit["jobs"], fit["runnable"], fit["schedulers"]["fifo"]) == (3, 1, 1)


def test_upload_times_for_other_servers_are_named_and_the_run_is_refused(viewer, operator, db):
    """Such a run would fail at once: the number of upload times of a job differs from the number of servers."""
    typed = scenario_of("a-online", "a_online", jobs=6)
    other = store_cluster(Cluster("gpus", 60_000, (GPU,)), "test").pk
    servers = [len(store.cluster_of(pk).servers) for pk in (typed.cluster_id, other)]
    assert servers[0] != servers[1]
    assert asked(viewer, typed, "a_online", typed.cluster_id)["fit"]["runnable"] == 6
    answer = asked(viewer, typed, "a_online", other)
    assert answer["fit"]["runnable"] == answer["fit"]["schedulers"]["srtf"] == 0
    assert answer["fit"]["schedulers"]["fifo"] == 6
    assert answer["warnings"][0] == (
        "The upload times of 6 of 6 jobs are for a different number of servers than this cluster has; a run with "
        "A_online would be refused."
    )
    scenario = Scenario.objects.create(name="off", cluster_id=other, trace=typed.trace, scheduler="a_online")
    refused = operator.post("/api/runs/", {"scenario": scenario.pk}, content_type="application/json")
    assert refused.status_code == 400
    first = jobs_of(typed.trace_id)[0]
    assert refused.json()["detail"] == (
        f"job {first.id}: upload_ms must hold one delay for each of the {servers[1]} servers of the cluster, "
        f"got {servers[0]}; choose the cluster of the trace, or another scheduler"
    )
    assert not Run.objects.filter(scenario=scenario).exists()
