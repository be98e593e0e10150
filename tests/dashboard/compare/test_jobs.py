"""Jobs of compared runs: those of other traces, and those that only one run has."""

from dataclasses import replace

from dashboard.readmodels.comparison.job_differences import NOT_COMPARED
from scheduling.model.measured_speed import MeasuredSpeed, trained_at
from scheduling.workloads import generate
from tests.dashboard.compare.builders import address
from tests.twin.runtime.queues import work
from twin.infra.columns import unpack
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store


def test_jobs_of_different_traces_are_not_matched(viewer, pair, make_scenario):
    """Ids are numbers of rows in many traces: job 5 of one is not job 5 of another.

    A second upload of the same file is the same.
    """
    other, same = make_scenario(seed=4), make_scenario(seed=pair[0].scenario.seed, jobs=20)
    runs = [Run.objects.create(scenario=scenario) for scenario in (other, same)]
    for run in runs:
        runner.enqueue(run.pk)
    work()
    stranger, again = runs
    payload = viewer.get(address(pair[1], stranger, again)).json()
    assert payload["divergences"][0] == {
        "run": stranger.pk,
        "at_ms": None,
        "why": f"Runs {pair[1].pk} and {stranger.pk} have different traces. Jobs with the same id are different jobs, "
        "so their decisions are not compared.",
    }
    account = payload["differences"][0]
    assert (account["differing"], set(account["counts"].values())) == (0, {0})
    assert account["accounts"] == {
        "total": 32,
        "equal": 0,
        "differ": 0,
        "only_base": 20,
        "only_other": 12,
        "not_in_all": 0,
    }
    assert payload["divergences"][1]["at_ms"] is not None, "the jobs are equal in every field"


def test_a_later_run_of_another_trace_or_cluster_is_noted(viewer, pair, make_scenario):
    """What holds for the first six holds for the seventh: a banner, and no rank for the metrics of other jobs."""
    more = [Run.objects.create(scenario=pair[0].scenario) for _ in range(4)]
    of = pair[0].scenario
    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=12, num_servers=3, seed=9)
    spec, trace = store.store_generated("another", cluster, jobs, 9)
    far = Run.objects.create(scenario=Scenario.objects.create(name="far", cluster=spec, trace=trace, scheduler="fifo"))
    for run in (*more, far):
        runner.enqueue(run.pk)
    work()
    answer = viewer.get(address(*pair, *more, far)).json()
    shared = len({job.id for job in jobs} & {job.id for job in store.jobs_of(of.trace_id)})
    assert shared == 12
    assert answer["notes"][0] == (
        f"The runs have different traces: “{of.trace.name}” in run {pair[0].pk}, “another” in run {far.pk}. Their jobs "
        f"differ, so the metrics of run {far.pk} are not ranked."
    )
    assert (
        f"Run {far.pk} does not have the same jobs as run {pair[0].pk}: it has 12 ids in common with run {pair[0].pk} "
        f"(of 20 in run {pair[0].pk} and 12 of its own)." in (" ".join(answer["notes"]))
    )
    assert (
        answer["notes"][-1] == "The runs have different clusters, so differences are not caused by the scheduler alone."
    )
    for row in answer["metrics"]:
        if row["direction"] and row["values"][6]["value"] is not None:
            assert (row["values"][6]["ranked"], row["values"][6]["best"]) == (False, False), row["key"]
    again = Run.objects.create(scenario=far.scenario)
    runner.enqueue(again.pk)
    work()
    assert (
        f"Runs {far.pk} and {again.pk} do not have the same jobs as run {pair[0].pk}: each has 12 ids in common with "
        f"run {pair[0].pk} (of 20 in run {pair[0].pk} and 12 of its own). Their metrics cover all of their own jobs."
    ) in viewer.get(address(*pair, *more, far, again)).json()["notes"]
    two = viewer.get(address(pair[0], far)).json()
    assert two["shared"] == {"jobs": 12, "of": [20, 12], "same_trace": False}
    assert (
        f"The runs do not have the same jobs: 12 ids are common (20 of run {pair[0].pk}, 12 of run {far.pk}). "
        "Distributions and breakdowns cover the jobs with these ids; the metrics of each run cover all of its own jobs."
    ) in two["notes"]
    _, columns = unpack(viewer.get(address(pair[0], far, tail="kinds/")).content)
    assert set(columns[f"run_{far.pk}"].tolist()) == {NOT_COMPARED}
    assert columns[f"shared_{far.pk}"].size == 0
    stranger = [replace(job, id=f"x{job.id}") for job in jobs]
    spec, trace = store.store_generated("strange", cluster, stranger, 9)
    strange = Run.objects.create(
        scenario=Scenario.objects.create(name="s", cluster=spec, trace=trace, scheduler="fifo")
    )
    for path in ("", "metrics.csv"):
        answer = viewer.get(address(*pair, *more, strange, tail=path))
        refused = f"runs {pair[0].pk} and {strange.pk} have no common job ids; compare runs of the same trace"
        assert (answer.status_code, answer.json()["detail"] if answer.status_code == 400 else "") == (400, refused)


def test_the_same_trace_uploaded_twice_is_one(viewer, pair):
    of = pair[0].scenario
    _, again = store.store_generated("again", store.cluster_of(of.cluster_id), store.jobs_of(of.trace_id), 1)
    run = Run.objects.create(
        scenario=Scenario.objects.create(name="again", cluster=of.cluster, trace=again, scheduler="drf")
    )
    runner.enqueue(run.pk)
    work()
    answer = viewer.get(address(*pair, run)).json()
    assert answer["notes"] == []
    assert all(cell["ranked"] for row in answer["metrics"] for cell in row["values"])


def test_the_counts_of_an_answer_are_of_one_moment_and_add_up(viewer, pair):
    """The run moves between two requests: each answer states its own moment, and every job arrived by then once."""
    rows = viewer.get(address(*pair, tail="jobs/", size=500)).json()["rows"]
    end_ms = pair[0].sim_ms
    seen = []
    for at_ms in (end_ms // 8, end_ms // 3):
        Run.objects.filter(pk=pair[0].pk).update(status=Run.RUNNING, sim_ms=at_ms, next_event_ms=2**40)
        for answer in (
            viewer.get(address(*pair)).json()["differences"][0],
            viewer.get(address(*pair, tail="jobs/")).json(),
        ):
            accounts = answer["accounts"]
            assert answer["at_ms"] == at_ms
            assert sum(count for name, count in accounts.items() if name != "total") == accounts["total"]
            assert accounts["differ"] == answer["differing"]
            assert max(answer["counts"].values()) <= accounts["differ"]
            seen.append((at_ms, accounts["total"], accounts["differ"]))
        arrived = sum(job.arrival_ms <= at_ms for job in store.jobs_of(pair[0].scenario.trace_id))
        assert seen[-1] == seen[-2]
        assert seen[-1][1] == arrived
    assert seen[0] != seen[2]
    assert rows


def test_jobs_that_only_one_run_has_are_accounted_for(viewer, pair):
    of = pair[0].scenario
    drop = {"verb": "drop_jobs", "jobs": store.jobs_of(of.trace_id)[3].id}
    add = {"verb": "add_jobs", "like": store.jobs_of(of.trace_id)[0].id, "count": 2}
    run = Run.objects.create(scenario=of, edits=[drop, add])
    runner.enqueue(run.pk)
    work()
    names = ("only_base", "only_other", "not_in_all", "total")
    accounts = viewer.get(address(pair[0], run)).json()["differences"][0]["accounts"]
    assert [accounts[name] for name in names] == [1, 2, 0, 22]
    accounts = viewer.get(address(*pair, run)).json()["differences"][0]["accounts"]
    assert [accounts[name] for name in names] == [0, 0, 1, 20], "a third run lacks it"


def test_speeds_of_different_origins_are_noted(viewer, pair):
    """The jobs of the second trace have the ids of those of the first, but train at a measured speed."""
    assert viewer.get(address(*pair)).json()["speeds"] is None
    measured = MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 0.9, 0.01, 0.02)
    cluster, jobs = generate("oasis", num_jobs=5, num_servers=4, seed=9)
    spec, trace = store.store_generated("measured", cluster, [trained_at(job, measured) for job in jobs], 9)
    scenario = Scenario.objects.create(name="measured", cluster=spec, trace=trace, scheduler="fifo")
    run = Run.objects.create(scenario=scenario)
    runner.enqueue(run.pk)
    work()
    first, second = pair
    assert viewer.get(address(first, second, run)).json()["speeds"] == (
        "The speeds of the jobs are derived from different models: chunks of OASiS and A_online in runs "
        f"{first.pk} and {second.pk}; a measurement (gradient 4 MB, fixed cost 7.6 ms) in run {run.pk}."
    )
