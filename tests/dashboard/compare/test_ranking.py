"""Which metrics of compared runs are ranked."""

from dataclasses import replace

import pytest

from dashboard.readmodels.comparison import cached
from scheduling.workloads import generate
from tests.dashboard.compare.builders import address
from tests.twin.runtime.queues import work
from twin.analysis import certificate_task
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store
from twin.studies import races


def test_runs_whose_jobs_train_by_different_models_are_not_ranked(viewer, pair):
    """The same rule as that of a race: the metrics are shown, with one banner that says why, and no verdict."""
    base = pair[1].scenario
    shared = Scenario.objects.create(
        name="shared",
        cluster=base.cluster,
        trace=base.trace,
        scheduler="fifo",
        parameters={"model": "pd-ors"},
        seed=base.seed,
    )
    run = Run.objects.create(scenario=shared)
    runner.enqueue(run.pk)
    work()
    answer = viewer.get(address(*pair, run)).json()
    assert answer["notes"] == [
        f"The runs have different execution models: slotted (jobs train by chunks) in run {pair[0].pk}, slotted "
        f"(jobs train by samples) in run {run.pk}. The same job has different durations, so the metrics of run "
        f"{run.pk} are not ranked."
    ]
    for row in answer["metrics"]:
        if row["direction"]:
            assert [cell["ranked"] for cell in row["values"]] == [True, True, False], row["key"]
            assert (row["values"][2]["delta"], row["values"][2]["verdict"], row["values"][2]["best"]) == (
                None,
                None,
                False,
            )
    assert all(not row["completed"][2]["ranked"] for row in answer["groups"]["model"])
    race = {entrant.scheduler.name: entrant.reason for entrant in races.entrants(shared)}
    assert "and that of this race is slotted (jobs train by samples)" in race["a_online"]


def test_utilities_that_count_other_slots_are_not_ranked(viewer, pair):
    """A utility depends on the number of slots that a job takes: with short slots, each completion is late."""
    base = pair[0].scenario
    short = store.store_cluster(replace(store.cluster_of(base.cluster_id), name="short", slot_ms=600_000), "here")
    listed = [Run.objects.create(scenario=base) for _ in range(5)]
    scenario = Scenario.objects.create(name="short", cluster=short, trace=base.trace, scheduler="fifo", seed=base.seed)
    runs = [Run.objects.create(scenario=scenario) for _ in range(2)]
    for run in (*listed, *runs):
        runner.enqueue(run.pk)
    work()
    every = [pair[0], runs[0], *listed, runs[1]]  # the last one is only listed
    answer = viewer.get(address(*every)).json()
    rows = {row["key"]: row["values"] for row in answer["metrics"]}
    alike = [True, False, *[True] * 5, False]
    assert [cell["ranked"] for cell in rows["total_utility"]] == alike
    assert [cell["verdict"] for cell in rows["total_utility"]][1::6] == [None, None]
    assert all(cell["ranked"] for cell in rows["mean_jct_ms"])
    assert [cell["ranked"] for cell in answer["groups"]["model"][0]["total_utility"]] == alike[:6]
    assert answer["notes"][0] == (
        f"The runs have slots of different lengths: 1h in run {every[0].pk}, 10m in runs {runs[0].pk} and "
        f"{runs[1].pk}. A utility depends on the number of slots that a job takes, so the total utility of these runs "
        "is not ranked."
    )


def test_shares_of_different_things_are_not_ranked(viewer, pair):
    """A proved share is of utility, of completion times or of the makespan, and says so."""
    for run, about, ratio in zip(pair, ("utility", "makespan"), (0.8, 0.9), strict=True):
        certificate = {"about": about, "ratio": ratio, "seq": run.last_seq}
        Run.objects.filter(pk=run.pk).update(certificate=run.certificate | certificate)
    rows = {row["key"]: row["values"] for row in viewer.get(address(*pair)).json()["metrics"]}
    first, second = rows["certificate_ratio"]
    assert (first["about"], second["about"]) == ("total utility", "makespan")
    assert (second["value"], second["delta"], second["verdict"], second["ranked"]) == (0.9, None, None, False)
    assert rows["completed"][1]["ranked"]


def test_a_share_that_leaves_out_jobs_is_no_base(viewer, pair):
    for run in pair:
        certificate_task.run(run.pk)
        run.refresh_from_db()
    Run.objects.filter(pk=pair[0].pk).update(certificate=pair[0].certificate | {"left_out": 1})
    rows = {row["key"]: row["values"] for row in viewer.get(address(*pair)).json()["metrics"]}
    first, second = rows["certificate_ratio"]
    assert first["value"] == pair[0].certificate["ratio"]
    assert (second["ranked"], second["why"]) == (
        False,
        f"the proved share of run {pair[0].pk} does not cover all its jobs",
    )


def test_a_missing_share_has_a_reason(viewer, pair, make_scenario):
    """Not computed yet, given up, or no bound at all; once there is a share, no reason."""

    def cells():
        rows = {row["key"]: row["values"] for row in viewer.get(address(*pair)).json()["metrics"]}
        return rows["certificate_ratio"]

    first, second = cells()
    assert first["value"] is second["value"] is None
    assert (first["why"], second["why"]) == ("certificate not computed yet",) * 2
    certificate_task.run(pair[0].pk)
    Run.objects.filter(pk=pair[1].pk).update(
        certificate={"kind": "none", "why": "the computation was cancelled"}, certified_seq=pair[1].last_seq
    )
    first, second = cells()
    assert (first["value"] is None, "why" in first) == (False, False)
    assert second["why"] == "the computation was cancelled"
    second, first = next(
        row["values"] for row in viewer.get(address(*pair[::-1])).json()["metrics"] if row["key"] == "certificate_ratio"
    )
    assert (first["ranked"], first["why"]) == (False, f"run {pair[1].pk} has no proved share to compare with")
    Scenario.objects.filter(pk=pair[1].scenario_id).update(
        scheduler="a_online", parameters={"speed_augmentation": 0.5}, edits=[]
    )
    cached.forget()
    assert cells()[1]["why"] == "no bound exists for A_online"


@pytest.fixture
def four(make_scenario, layer) -> list[Run]:
    """FIFO, OASiS, DRF and RRH on one trace and cluster, to the end, each with its certificate."""
    base = make_scenario(scheduler="fifo", jobs=30, servers=4)
    runs = []
    for name in ("fifo", "oasis", "drf", "rrh"):
        made = Scenario.objects.create(
            name=name, cluster=base.cluster, trace=base.trace, scheduler=name, seed=base.seed
        )
        runs.append(Run.objects.create(scenario=made))
        runner.enqueue(runs[-1].pk)
    work()
    for run in runs:
        certificate_task.run(run.pk)
        run.refresh_from_db()
        assert run.certificate["about"] == "utility"
    return runs


@pytest.mark.thorough
def test_proved_shares_are_ranked_by_one_bound(viewer, four):
    """The least upper bound of all holds for all; no ranking comes from one run having a looser bound than another."""
    loose = four[1]
    doubled = loose.certificate | {"bound": 2 * loose.certificate["bound"], "ratio": loose.certificate["ratio"] / 2}
    Run.objects.filter(pk=loose.pk).update(certificate=doubled)
    cells = _metrics(viewer, *four)["certificate_ratio"]
    tightest = min((run for run in four if run is not loose), key=lambda run: run.certificate["bound"])
    for run, cell in zip(four, cells, strict=True):
        expected = run.certificate["achieved"] / tightest.certificate["bound"]
        assert expected - 1e-4 <= cell["value"] <= expected
        assert (cell["about"], cell["ranked"]) == (f"total utility, by the bound of run {tightest.pk}", True)
    by_utility = sorted(four, key=lambda run: run.certificate["achieved"])
    assert sorted(four, key=lambda run: cells[four.index(run)]["value"]) == by_utility, (
        "the order is that of what they reach"
    )


@pytest.mark.thorough
def test_proved_shares_of_other_jobs_servers_or_moments_are_not_ranked(viewer, four, make_scenario):
    """A bound on other jobs, on another cluster, or on a part of the run says nothing about this one."""
    first, other_jobs, other_cluster, earlier = four
    bigger = replace(store.cluster_of(first.scenario.cluster_id), name="bigger", slot_ms=1)
    Scenario.objects.filter(pk=other_cluster.scenario_id).update(cluster=store.store_cluster(bigger, "by hand"))
    Run.objects.filter(pk=other_jobs.pk).update(edits=[{"verb": "scale_arrivals", "factor": 2.0}])
    Run.objects.filter(pk=earlier.pk).update(certificate=earlier.certificate | {"seq": earlier.last_seq - 1})
    cells = _metrics(viewer, *four)["certificate_ratio"]
    assert [cell["ranked"] for cell in cells[:3]] == [True, False, False]
    assert [cell["value"] for cell in cells[:3]] == [run.certificate["ratio"] for run in four[:3]], "by its own bound"
    assert {cell["about"] for cell in cells[:3]} == {"total utility"}
    assert cells[3]["value"] is None, "the share of an earlier part of the run is not that of the run"


def test_a_bound_on_whole_chunks_is_none_on_work_that_moves(viewer, layer, make_scenario):
    """A_online's bound job by job does not hold for SRTF; SRTF's for both; if jobs are left out, nothing is shared."""
    runs = _typed_runs("a_online_edge", "srtf", num_jobs=6, num_servers=6)
    for run in runs:
        certificate_task.run(run.pk)
        run.refresh_from_db()
    whole, moves = runs
    assert (whole.certificate["gangs"], moves.certificate["gangs"]) == (False, True)
    for run in runs:
        del run.certificate["edge_only"]
        run.save()
    bound = moves.certificate["bound"]
    Run.objects.filter(pk=whole.pk).update(certificate=whole.certificate | {"kind": "jct_iso", "bound": 1.5 * bound})
    cells = _metrics(viewer, *runs)["certificate_ratio"]
    assert {cell["about"] for cell in cells} == {f"total completion time, by the bound of run {moves.pk}"}
    assert cells[1]["value"] == pytest.approx(bound / moves.certificate["achieved"], abs=1e-4)
    Run.objects.filter(pk=moves.pk).update(certificate=moves.certificate | {"left_out": 1})
    assert not _metrics(viewer, *runs)["certificate_ratio"][1]["ranked"]


def test_schedules_on_edge_servers_are_measured_by_a_bound_on_such_schedules(viewer, layer, make_scenario):
    """A_online uses the cloud: with it, the bounds on any schedule count."""
    runs = _typed_runs("a_online_edge", "srtf", "a_online", num_jobs=40, num_servers=4)
    for run in runs:
        certificate_task.run(run.pk)
        run.refresh_from_db()
    edge, moves, cloud = (run.certificate for run in runs)
    assert "edge_only" not in cloud
    assert edge["edge_only"]["bound"] > edge["bound"]
    shared = moves["edge_only"]
    bounds = [shared["bound"]] + [edge["edge_only"]["bound"]] * (edge["edge_only"]["kind"] == "jct_lb")
    cells = _metrics(viewer, *runs[:2])["certificate_ratio"]
    assert [cell["value"] for cell in cells] == pytest.approx(
        [max(bounds) / edge["achieved"], max(bounds) / moves["achieved"]], abs=1e-4
    )
    assert all("of schedules without the unlimited cloud, by the bound of run" in cell["about"] for cell in cells)
    mixed = _metrics(viewer, *runs)["certificate_ratio"]
    assert not any("unlimited cloud" in cell["about"] for cell in mixed)
    assert mixed[0]["value"] < cells[0]["value"]


def _typed_runs(*schedulers, num_jobs, num_servers):
    """Finished runs of one trace under schedulers of typed workers."""
    cluster, jobs = generate("a-online", num_jobs=num_jobs, num_servers=num_servers, seed=2)
    spec, trace = store.store_generated("typed workers", cluster, jobs, 2)
    runs = []
    for name in schedulers:
        scenario = Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=name, seed=2)
        runs.append(Run.objects.create(scenario=scenario))
        runner.enqueue(runs[-1].pk)
    work()
    return runs


def _metrics(viewer, *runs):
    return {row["key"]: row["values"] for row in viewer.get(address(*runs)).json()["metrics"]}


def test_a_slowdown_means_one_thing(viewer, make_scenario, layer):
    """That of a run's own metrics: JCT over that of the job alone. Where nobody knows that time, there is none."""
    runs = _typed_runs("srtf", "a_online", num_jobs=8, num_servers=4)
    rows = {row["key"]: row["values"] for row in viewer.get(address(*runs)).json()["metrics"]}
    for run, cell in zip(runs, rows["lanes.mean_slowdown"], strict=True):
        run.refresh_from_db()
        assert cell["value"] == pytest.approx(run.metrics["lanes"]["mean_slowdown"])
    assert all(cell["value"] >= 1 for cell in rows["mean_delay_factor"])


def test_slowdowns_by_other_times_alone_are_not_ranked(viewer, make_scenario, layer):
    """A job alone has the cloud in one run and not in the other; an edit after the last arrival changes no time."""
    (base,) = _typed_runs("a_online", num_jobs=8, num_servers=4)
    last_ms = max(job.arrival_ms for job in store.of_run(base)[1])
    edits = (
        [{"verb": "switch_cloud", "on": False, "at_ms": last_ms}],
        [{"verb": "switch_cloud", "on": False, "at_ms": last_ms + 1}],
        [{"verb": "fail_servers", "servers": "*", "for_ms": 60_000, "at_ms": last_ms + 1}],
    )
    runs = [base, *(Run.objects.create(scenario=base.scenario, edits=made) for made in edits)]
    for run in runs[1:]:
        runner.enqueue(run.pk)
    work()
    rows = _metrics(viewer, *runs)
    cells = rows["lanes.mean_slowdown"]
    assert [cell["ranked"] for cell in cells] == [True, False, True, True]
    assert cells[1]["why"] == f"a job alone takes a different time than in run {base.pk}"
    assert cells[1]["verdict"] is None
    assert all(cell["ranked"] for cell in rows["mean_jct_ms"])
