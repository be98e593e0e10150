"""Comparing runs and racing schedulers, through the API: what is answered, refused, and who may."""

import csv
import io
from dataclasses import replace

import pytest

from dashboard.readmodels.comparison import cached
from scheduling.kernel.registry import schedulers
from scheduling.workloads import generate
from tests.dashboard.builders import downloaded, post
from tests.twin.runtime.conftest import messages, work
from twin.analysis import certificate_task
from twin.infra.columns import unpack
from twin.models import AuditEntry, Run, Scenario
from twin.runs import runner
from twin.scenarios import store
from twin.studies import races


@pytest.fixture(autouse=True)
def nothing_kept():
    cached.forget()  # row ids are used again


@pytest.fixture
def pair(make_scenario, layer) -> tuple[Run, Run]:
    """FIFO and OASiS on the same trace, to the end."""
    base = make_scenario(scheduler="fifo", jobs=20)
    other = Scenario.objects.create(
        name="oasis", cluster=base.cluster, trace=base.trace, scheduler="oasis", seed=base.seed
    )
    runs = [Run.objects.create(scenario=scenario) for scenario in (base, other)]
    for run in runs:
        runner.enqueue(run.pk)
    work()
    for run in runs:
        run.refresh_from_db()
        assert run.status == Run.FINISHED
    return runs[0], runs[1]


def address(*runs, tail="", **asked):
    return f"/api/compare/{tail}?runs={','.join(str(getattr(run, 'pk', run)) for run in runs)}" + "".join(
        f"&{k}={v}" for k, v in asked.items()
    )


def test_it_tells_both_runs_against_the_first(viewer, pair):
    answer = viewer.get(address(*pair)).json()
    assert [run["scheduler"] for run in answer["runs"]] == ["fifo", "oasis"]
    assert (answer["at_ms"], answer["shared"]) == (None, {"jobs": 20, "of": [20, 20]})
    rows = {row["key"]: row for row in answer["metrics"]}
    for run, value in zip(pair, rows["total_utility"]["values"], strict=True):
        assert value["value"] == pytest.approx(run.metrics["total_utility"])
    first, second = (value["value"] for value in rows["total_utility"]["values"])
    assert rows["total_utility"]["values"][1]["delta"] == pytest.approx(second - first)
    assert rows["total_utility"]["values"][1]["verdict"] == ("better" if second > first else "worse")
    assert rows["rejected"]["direction"] == "lower"
    assert [len(d["curves"]) for d in answer["distributions"]] == [2, 2, 2]
    assert sum(row["jobs"][0] for row in answer["groups"]["model"]) == 20
    parting = answer["partings"][0]
    assert parting["base"]["next"]["sentence"]
    assert parting["at_ms"] >= 0


def test_the_jobs_that_differ_come_filtered_searched_and_paged(viewer, pair):
    counts = viewer.get(address(*pair)).json()["differences"][0]
    whole = viewer.get(address(*pair, tail="jobs/", size=500)).json()
    assert whole["count"] == whole["total"] == counts["differing"] == len(whole["rows"]) > 0
    for kind, count in counts["counts"].items():
        some = viewer.get(address(*pair, tail="jobs/", kind=kind, size=500)).json()
        assert some["count"] == count
        assert all(kind in row["kinds"] for row in some["rows"])
    name = whole["rows"][0]["id"]
    assert [row["id"] for row in viewer.get(address(*pair, tail="jobs/", q=name.upper())).json()["rows"]] == [name]
    second = viewer.get(address(*pair, tail="jobs/", size=1, page=2)).json()
    assert (second["page"], second["rows"]) == (2, whole["rows"][1:2])
    late = viewer.get(address(*pair, tail="jobs/", sort="-finish", size=500)).json()["rows"]
    changes = [b - a for row in late if None not in (a := row["base"]["finish_ms"], b := row["other"]["finish_ms"])]
    assert changes == sorted(changes, reverse=True)


def test_kinds_are_columns_of_every_job(viewer, pair):
    meta, columns = unpack(viewer.get(address(*pair, tail="kinds/")).content)
    counts = viewer.get(address(*pair)).json()["differences"][0]["counts"]
    mask = columns[f"run_{pair[1].pk}"]
    assert {kind: int(((mask & bit) != 0).sum()) for kind, bit in meta["bits"].items()} == counts
    assert columns[f"shared_{pair[0].pk}"].tolist() == list(range(20))


def test_both_tables_can_be_downloaded(viewer, pair):
    lines = list(
        csv.reader(io.StringIO(downloaded(viewer.get(address(*pair, tail="differences.csv", kind="shifted"))).decode()))
    )
    count = viewer.get(address(*pair, tail="jobs/", kind="shifted")).json()["count"]
    assert len(lines) == count + 1
    assert lines[0][:4] == ["job", "model", "arrived_ms", "kinds"]
    figures = list(csv.reader(io.StringIO(downloaded(viewer.get(address(*pair, tail="metrics.csv"))).decode())))
    assert figures[0][3:] == [f"run {pair[0].pk} fifo", f"run {pair[0].pk} minus run {pair[0].pk}",
                              f"run {pair[1].pk} oasis", f"run {pair[1].pk} minus run {pair[0].pk}"]  # fmt: skip
    assert float(figures[1][3]) == pytest.approx(pair[0].metrics["total_utility"])


@pytest.mark.parametrize(
    ("runs", "status", "message"),
    [
        ("", 400, "2 to 24 runs"),
        ("{a}", 400, "got 1"),
        ("{a},{a}", 400, "is listed twice"),
        ("{a},x", 400, "got 'x'"),
        ("987653,987654", 404, "Run 987653 does not exist; it may have been deleted. Run 987654 does not exist"),
        (",".join(map(str, range(1000, 1025))), 400, "got 25"),
    ],
)
def test_a_wrong_list_of_runs_is_refused_with_a_reason(viewer, pair, runs, status, message):
    for tail in ("", "jobs/", "kinds/", "metrics.csv", "differences.csv"):
        answer = viewer.get(f"/api/compare/{tail}?runs={runs.format(a=pair[0].pk)}")
        assert answer.status_code == status
        assert message in answer.json()["detail"]


def test_runs_of_equal_scenarios_are_not_compared(viewer, pair):
    """A fork that nothing was changed in is the run that it is a fork of."""
    of = pair[0].scenario
    faster = {"verb": "scale_arrivals", "factor": 2.0, "at_ms": 5}
    copy = Scenario.objects.create(name="copy", cluster=of.cluster, trace=of.trace, scheduler="fifo", seed=of.seed)
    again = Run.objects.create(scenario=copy, edits=[faster | {"off": True}])
    answer = viewer.get(address(pair[0], again))
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(
        f"runs {pair[0].pk} and {again.pk} have identical scenarios: the same cluster, trace, "
        "scheduler, parameters, seed and edits"
    )
    assert viewer.get(address(pair[0], again, pair[1])).status_code == 200, "a third one is another"
    edited = Run.objects.create(scenario=copy, edits=[faster])
    assert viewer.get(address(pair[0], edited)).status_code == 200


def test_equal_scenarios_that_ended_differently_can_be_compared(viewer, pair):
    """The scheduler's code was changed between the two."""
    again = Run.objects.create(scenario=pair[0].scenario)
    runner.enqueue(again.pk)
    work()
    assert viewer.get(address(pair[0], again)).status_code == 400
    Run.objects.filter(pk=pair[0].pk).update(metrics=pair[0].metrics | {"completed": 3})
    assert viewer.get(address(pair[0], again)).status_code == 200


def test_a_wrong_filter_is_refused_with_what_would_work(viewer, pair):
    for asked, message in (
        ({"kind": "x"}, "shifted, moved"),
        ({"run": pair[0].pk}, f"run must be one of {pair[1].pk}"),
        ({"sort": "y"}, "start, finish"),
    ):
        for tail in ("jobs/", "differences.csv"):
            answer = viewer.get(address(*pair, tail=tail, **asked))
            assert answer.status_code == 400
            assert message in answer.json()["detail"]


def test_a_deleted_run_is_left_out_and_said(operator, pair):
    """The others are compared; the note names it, and the base where that has changed."""
    third = Run.objects.create(scenario=pair[0].scenario)
    runner.enqueue(third.pk)
    work()
    runs = [*pair, third]
    Run.objects.filter(pk=third.pk).update(metrics=pair[0].metrics | {"completed": 3})  # it ended differently
    gone = pair[0].pk
    assert operator.delete(f"/api/runs/{gone}/").status_code == 204
    answer = operator.get(address(*runs))
    assert answer.status_code == 200
    payload = answer.json()
    assert [run["id"] for run in payload["runs"]] == payload["in_full"] == [pair[1].pk, third.pk]
    assert payload["notes"][0].startswith(f"Run {gone} (")
    assert "was deleted by olga on " in payload["notes"][0]
    assert payload["notes"][0].endswith(f"The comparison is made without it; run {pair[1].pk} is the base.")
    assert payload == operator.get(address(pair[1], third)).json() | {"notes": payload["notes"]}
    for tail in ("jobs/", "kinds/", "metrics.csv", "differences.csv"):
        assert operator.get(address(*runs, tail=tail)).status_code == 200


def test_the_only_run_that_is_left_of_a_list_is_shown_alone(viewer, pair):
    gone = pair[1].pk
    pair[1].delete()
    answer = viewer.get(address(pair[0], gone))
    payload = answer.json()
    assert (answer.status_code, [run["id"] for run in payload["runs"]]) == (200, [pair[0].pk])
    assert payload["notes"][0] == (
        f"Run {gone} does not exist; it may have been deleted. The comparison is made without "
        f"it; only run {pair[0].pk} is left, "
        "choose another run to compare with it."
    )
    assert (payload["differences"], payload["partings"]) == ([], [])
    assert viewer.get(address(pair[0], gone, tail="kinds/")).status_code == 200
    answer = viewer.get(address(pair[0], gone, tail="jobs/"))
    assert (answer.status_code, answer.json()["detail"]) == (
        400, f"run {pair[0].pk} is the only one of the list that exists; name another run to compare it with",
    )  # fmt: skip


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
    assert payload["partings"][0] == {
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
    assert payload["partings"][1]["at_ms"] is not None, "the jobs are equal in every field"


def test_the_seventh_run_is_listed_with_the_figures_that_it_kept(viewer, pair):
    """Seven runs: six in full, of the seventh the metrics of its end."""
    more = [Run.objects.create(scenario=pair[0].scenario) for _ in range(5)]
    for run in more:
        runner.enqueue(run.pk)
    work()
    answer = viewer.get(address(*pair, *more)).json()
    assert len(answer["runs"]) == 7
    assert answer["in_full"] == [run.pk for run in (*pair, *more[:4])]
    assert len(answer["distributions"][0]["curves"]) == 6
    utility = next(row for row in answer["metrics"] if row["key"] == "total_utility")["values"]
    assert utility[6]["delta"] == pytest.approx(0)
    assert "7 runs are listed. The first 6 are compared in full" in answer["notes"][0]


def test_a_run_that_has_not_begun_holds_nobody_back(viewer, pair):
    idle = Run.objects.create(scenario=pair[0].scenario, edits=[{"verb": "scale_arrivals", "factor": 2.0}])
    answer = viewer.get(address(pair[0], idle)).json()
    assert answer["at_ms"] is None
    assert answer["notes"] == [f"Run {idle.pk} (queued) has not started: there is nothing to compare yet."]
    assert answer["metrics"][0]["values"][1]["value"] is None
    assert answer["differences"][0]["differing"] == 0


def test_a_run_that_goes_on_is_compared_as_far_as_it_is(viewer, pair):
    """The base stands in the middle: the other is shown up to that instant, and grows with it."""
    middle = pair[0].sim_ms // 8
    Run.objects.filter(pk=pair[0].pk).update(status=Run.RUNNING, sim_ms=middle)
    answer = viewer.get(address(*pair)).json()
    assert answer["at_ms"] == middle
    assert "not finished" in answer["notes"][0]
    completed = next(row for row in answer["metrics"] if row["key"] == "completed")["values"]
    assert completed[1]["value"] < pair[1].metrics["completed"]
    assert answer["metrics"][1]["values"][0]["value"] is None, "a certificate is of the whole run"


def test_runs_can_be_searched_by_scheduler(viewer, pair):
    found = viewer.get("/api/runs/?q=OAS").json()["results"]
    assert [run["id"] for run in found] == [pair[1].pk]


def test_a_race_starts_a_run_of_each_scheduler_that_can(operator, make_scenario, layer):
    """The OASiS paper's workload has no samples, so PD-ORS is left out; the rest run side by side and are compared."""
    scenario = make_scenario(scheduler="oasis")
    race = operator.get(f"/api/scenarios/{scenario.pk}/race/").json()
    left_out = {row["scheduler"]: row["reason"] for row in race["left_out"]}
    assert left_out["pd_ors"] == (
        "its training model is PD-ORS (slotted), but that of this race is OASiS "
        "(slotted), so its metrics could not be ranked"
    )
    assert {row["scheduler"] for row in race["able"]} | set(left_out) == set(schedulers())
    assert {"oasis", "fifo", "drf", "rrh"} <= {row["scheduler"] for row in race["able"]}
    assert all(
        "its metrics could not be ranked" in left_out[name]
        for name, cls in schedulers().items()
        if "oasis" not in cls.model.supports
    )
    answer = post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo", "drf"]})
    assert answer.status_code == 201
    runs = answer.json()["runs"]
    assert [run["scheduler"] for run in runs] == ["oasis", "fifo", "drf"]
    assert runs[0]["scenario"] == scenario.pk
    assert answer.json()["compare"] == f"/compare/?runs={','.join(str(run['id']) for run in runs)}&race={scenario.pk}"
    assert (
        AuditEntry.objects.filter(action="scenario.race", user=operator.user, subject=f"scenario {scenario.pk}").count()
        == 1
    )
    assert AuditEntry.objects.filter(action="run.start", user=operator.user).count() == 3
    assert messages() == [], "the test's transaction never commits, so nobody was asked yet"
    runner.enqueue_all([run["id"] for run in runs])
    assert work() >= 3
    answer = operator.get(address(*(run["id"] for run in runs))).json()
    assert [run["status"] for run in answer["runs"]] == ["finished"] * 3


def test_runs_whose_jobs_train_by_different_models_are_not_ranked(viewer, pair):
    """The same rule as that of a race: the figures stand, with one banner that says why, and no verdict."""
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
        f"The runs have different training models: OASiS (slotted) in run {pair[0].pk}, PD-ORS (slotted) in run "
        f"{run.pk}. The same job has different durations, so the metrics of run {run.pk} are not ranked."
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
    assert "that of this race is PD-ORS (slotted)" in race["a_online"]


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
    cluster, jobs = generate("a-online", num_jobs=6, num_servers=6, seed=2)
    spec, trace = store.store_generated("lanes", cluster, jobs, 2)
    runs = []
    for name in ("a_online_edge", "srtf"):
        made = Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=name, seed=2)
        runs.append(Run.objects.create(scenario=made))
        runner.enqueue(runs[-1].pk)
    work()
    for run in runs:
        certificate_task.run(run.pk)
        run.refresh_from_db()
    whole, moves = runs
    assert (whole.certificate["gangs"], moves.certificate["gangs"]) == (False, True)
    bound = moves.certificate["bound"]
    Run.objects.filter(pk=whole.pk).update(certificate=whole.certificate | {"kind": "jct_iso", "bound": 1.5 * bound})
    cells = _metrics(viewer, *runs)["certificate_ratio"]
    assert {cell["about"] for cell in cells} == {f"total completion time, by the bound of run {moves.pk}"}
    assert cells[1]["value"] == pytest.approx(bound / moves.certificate["achieved"], abs=1e-4)
    Run.objects.filter(pk=moves.pk).update(certificate=moves.certificate | {"left_out": 1})
    assert not _metrics(viewer, *runs)["certificate_ratio"][1]["ranked"]


def test_a_later_run_of_another_trace_or_cluster_is_noted(viewer, pair, make_scenario):
    """What holds for the first six holds for the seventh: a banner, and no rank for the figures of other jobs."""
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
        f"Run {far.pk} does not have the jobs of run {pair[0].pk}: 12 are common (20 of run {pair[0].pk}, "
        f"12 of run {far.pk})." in (" ".join(answer["notes"]))
    )
    assert (
        answer["notes"][-1] == "The runs have different clusters, so differences are not caused by the scheduler alone."
    )
    for row in answer["metrics"]:
        if row["direction"] and row["values"][6]["value"] is not None:
            assert (row["values"][6]["ranked"], row["values"][6]["best"]) == (False, False), row["key"]
    stranger = [replace(job, id=f"x{job.id}") for job in jobs]
    spec, trace = store.store_generated("strange", cluster, stranger, 9)
    strange = Run.objects.create(
        scenario=Scenario.objects.create(name="s", cluster=spec, trace=trace, scheduler="fifo")
    )
    answer = viewer.get(address(*pair, *more, strange))
    assert (answer.status_code, answer.json()["detail"]) == (
        400, f"runs {pair[0].pk} and {strange.pk} have no common job ids; compare runs of the same trace"
    )  # fmt: skip


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
    """The run moves between two requests: each answer tells its own moment, and every job arrived by then once."""
    rows = viewer.get(address(*pair, tail="jobs/", size=500)).json()["rows"]
    end_ms = pair[0].sim_ms
    seen = []
    for at_ms in (end_ms // 8, end_ms // 3):
        Run.objects.filter(pk=pair[0].pk).update(status=Run.RUNNING, sim_ms=at_ms)
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


def _metrics(viewer, *runs):
    return {row["key"]: row["values"] for row in viewer.get(address(*runs)).json()["metrics"]}


def test_a_slowdown_means_one_thing(viewer, make_scenario, layer):
    """That of a run's own figures: JCT over that of the job alone. Where nobody knows that time, there is none."""
    cluster, jobs = generate("a-online", num_jobs=8, num_servers=4, seed=2)
    spec, trace = store.store_generated("lanes", cluster, jobs, 2)
    runs = []
    for name in ("srtf", "a_online"):
        scenario = Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=name, seed=2)
        runs.append(Run.objects.create(scenario=scenario))
        runner.enqueue(runs[-1].pk)
    work()
    rows = {row["key"]: row["values"] for row in viewer.get(address(*runs)).json()["metrics"]}
    for run, cell in zip(runs, rows["lanes.mean_slowdown"], strict=True):
        run.refresh_from_db()
        assert cell["value"] == pytest.approx(run.metrics["lanes"]["mean_slowdown"])
    assert all(cell["value"] >= 1 for cell in rows["mean_delay_factor"])


def test_a_race_uses_scenarios_again_and_keeps_to_one_model(operator, make_scenario, layer):
    scenario = make_scenario(scheduler="oasis")
    for _ in range(2):
        assert (
            post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo"]}).status_code == 201
        )
    assert Scenario.objects.count() == 2
    assert Scenario.objects.get(scheduler="fifo").parameters == {"model": "oasis"}
    assert all(entrant.parameters.get("model") in (None, "oasis") for entrant in races.entrants(scenario))


def test_a_race_names_what_is_wrong(operator, viewer, make_scenario, layer):
    scenario = make_scenario(scheduler="oasis")
    where = f"/api/scenarios/{scenario.pk}/race/"
    for chosen, message in (
        (["oasis", "fifoo"], "unknown scheduler 'fifoo'; known"),
        (["oasis", "pd_ors"], "PD-ORS cannot run this"),
        (["oasis"], "at least 2"),
    ):
        answer = post(operator, where, {"schedulers": chosen})
        assert answer.status_code == 400
        assert message in str(answer.json())
    assert Run.objects.count() == 0
    assert post(viewer, where, {}).status_code == 403
    assert viewer.get(where).status_code == 200
    assert operator.post("/api/scenarios/999999/race/", {}, content_type="application/json").status_code == 404


def test_the_schema_describes_compare_and_race(viewer):
    text = viewer.get("/api/schema/").content.decode()
    for path in (
        "/api/compare/",
        "/api/compare/jobs/",
        "/api/compare/kinds/",
        "/api/compare/differences.csv",
        "/api/scenarios/{id}/race/",
    ):
        assert f"{path}:" in text
    assert "operationId: scenarios_race_entrants" in text


def test_the_page_is_there_for_whoever_may_look(viewer, nobody):
    assert viewer.get("/compare/?runs=1,2").status_code == 200
    assert nobody.get("/compare/").status_code == 403


def test_a_utility_that_no_job_has_is_none_everywhere(viewer, layer):
    """Jobs without a utility: in the list of runs, at the newest moment, per job, in all parts of a comparison."""
    cluster, jobs = generate("a-online", num_jobs=6, num_servers=6, seed=2)
    assert all(one.utility is None for one in jobs)
    spec, trace = store.store_generated("without utilities", cluster, jobs, 2)
    runs = []
    for name in ("a_online_edge", "srtf"):
        scenario = Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=name, seed=1)
        runs.append(Run.objects.create(scenario=scenario))
        runner.enqueue(runs[-1].pk)
        work()
    pair = ",".join(str(run.pk) for run in runs)
    found = {run["id"]: run["metrics"] for run in viewer.get("/api/runs/").json()["results"]}
    for run in runs:
        assert found[run.pk]["completed"] == 6
        assert found[run.pk]["total_utility"] is None
        assert viewer.get(f"/api/runs/{run.pk}/now/").json()["utility"] is None
        assert [row["utility"] for row in viewer.get(f"/api/runs/{run.pk}/jobs/").json()["rows"]] == [None] * 6
        assert viewer.get(f"/api/runs/{run.pk}/jobs/0/").json()["utility"] is None
    answer = viewer.get(f"/api/compare/?runs={pair}").json()
    utilities = [row["values"] for row in answer["metrics"] if row["key"] == "total_utility"]
    utilities += [row["total_utility"] for rows in answer["groups"].values() for row in rows]
    assert len(utilities) > 3
    assert {cell["value"] for values in utilities for cell in values} == {None}
    rows = viewer.get(f"/api/compare/jobs/?runs={pair}&run={runs[1].pk}").json()["rows"]
    assert rows
    assert {side["utility"] for row in rows for side in (row["base"], row["other"])} == {None}
