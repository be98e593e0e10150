"""Comparison of runs by the API: metrics, differences, kinds, downloads, and runs that have not ended."""

import csv
import io
from dataclasses import replace

import pytest

from scheduling.workloads import generate
from tests.dashboard.builders import downloaded
from tests.dashboard.compare.builders import address
from tests.twin.runtime.queues import work
from twin.infra.columns import unpack
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store


def test_it_tells_both_runs_against_the_first(viewer, pair):
    answer = viewer.get(address(*pair)).json()
    assert [run["scheduler"] for run in answer["runs"]] == ["fifo", "oasis"]
    assert (answer["at_ms"], answer["shared"]) == (None, {"jobs": 20, "of": [20, 20], "same_trace": True})
    rows = {row["key"]: row for row in answer["metrics"]}
    for run, value in zip(pair, rows["total_utility"]["values"], strict=True):
        assert value["value"] == pytest.approx(run.metrics["total_utility"])
    first, second = (value["value"] for value in rows["total_utility"]["values"])
    assert rows["total_utility"]["values"][1]["delta"] == pytest.approx(second - first)
    assert rows["total_utility"]["values"][1]["verdict"] == ("better" if second > first else "worse")
    assert rows["rejected"]["direction"] == "lower"
    assert [len(d["curves"]) for d in answer["distributions"]] == [2, 2, 2]
    assert sum(row["jobs"][0] for row in answer["groups"]["model"]) == 20
    divergence = answer["divergences"][0]
    assert divergence["base"]["next"]["sentence"]
    assert divergence["at_ms"] >= 0


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
    table = list(csv.reader(io.StringIO(downloaded(viewer.get(address(*pair, tail="metrics.csv"))).decode())))
    assert table[0] == ["metric", "unit", "direction",
                        f"run {pair[0].pk} fifo", f"run {pair[0].pk} minus run {pair[0].pk}",
                        f"run {pair[1].pk} oasis", f"run {pair[1].pk} minus run {pair[0].pk}"]  # fmt: skip
    shown = [row for row in viewer.get(address(*pair)).json()["metrics"]
             if any(value["value"] is not None or value.get("why") for value in row["values"])]  # fmt: skip
    assert [row[0] for row in table[1:]] == [row["title"] for row in shown], "the rows that the table has"
    assert "Mean slowdown" not in {row["title"] for row in shown}, "of jobs of several workers there is none"
    assert float(table[1][3]) == pytest.approx(pair[0].metrics["total_utility"])


def test_the_seventh_run_is_listed_with_the_metrics_that_it_kept(viewer, pair):
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
    Run.objects.filter(pk=pair[0].pk).update(status=Run.RUNNING, sim_ms=pair[0].sim_ms // 8, next_event_ms=2**40)
    cut = viewer.get(address(*pair, *more)).json()
    assert cut["at_ms"] == pair[0].sim_ms // 8
    for row in cut["metrics"]:
        assert row["values"][6]["value"] is None, "its end is not compared with a time before"
        assert not any(cell["best"] for cell in row["values"]) or not row["values"][6]["ranked"]


def test_a_run_that_has_not_begun_holds_nobody_back(viewer, pair):
    idle = Run.objects.create(scenario=pair[0].scenario, edits=[{"verb": "scale_arrivals", "factor": 2.0}])
    answer = viewer.get(address(pair[0], idle)).json()
    assert answer["at_ms"] is None
    assert answer["notes"][1:] == [f"Run {idle.pk} (queued) has no events yet: there is nothing to compare."]
    assert answer["metrics"][0]["values"][1]["value"] is None
    assert answer["differences"][0]["differing"] == 0
    Run.objects.filter(pk=idle.pk).update(status=Run.RUNNING)
    notes = viewer.get(address(pair[0], idle)).json()["notes"][1:]
    assert notes == [f"Run {idle.pk} (running) has no events yet: there is nothing to compare."]


def test_a_run_that_goes_on_is_compared_as_far_as_it_is(viewer, pair):
    """The base stands in the middle: the other is shown up to that instant, and grows with it."""
    middle = pair[0].sim_ms // 8
    Run.objects.filter(pk=pair[0].pk).update(status=Run.RUNNING, sim_ms=middle, next_event_ms=middle + 1)
    answer = viewer.get(address(*pair)).json()
    assert answer["at_ms"] == middle
    assert "not finished" in answer["notes"][0]
    completed = next(row for row in answer["metrics"] if row["key"] == "completed")["values"]
    assert completed[1]["value"] < pair[1].metrics["completed"]
    assert answer["metrics"][1]["values"][0]["value"] is None, "a certificate is of the whole run"


def test_runs_can_be_searched_by_scheduler(viewer, pair):
    found = viewer.get("/api/runs/?q=OAS").json()["results"]
    assert [run["id"] for run in found] == [pair[1].pk]


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


def played(cluster, jobs, schedulers) -> list[Run]:
    """Finished runs of the jobs, one per scheduler."""
    spec, trace = store.store_generated("own", cluster, jobs, 2)
    runs = []
    for name in schedulers:
        scenario = Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=name, seed=1)
        runs.append(Run.objects.create(scenario=scenario))
        runner.enqueue(runs[-1].pk)
        work()
        runs[-1].refresh_from_db()
    return runs


def test_a_utility_that_no_job_has_is_none_everywhere(viewer, layer):
    """Jobs without a utility: in the list of runs, at the newest moment, per job, in all parts of a comparison."""
    cluster, jobs = generate("a-online", num_jobs=6, num_servers=6, seed=2)
    jobs = [replace(one, utility=None) for one in jobs]
    runs = played(cluster, jobs, ("a_online_edge", "srtf"))
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


def test_co_location_runs_are_compared_by_the_utilization_of_their_machines(viewer, layer):
    """The values are those that each run has at its end."""
    cluster, jobs = generate("harmony", num_jobs=5, num_servers=6, seed=2)
    runs = played(cluster, jobs, ("harmony", "isolated"))
    rows = {row["key"]: row["values"] for row in viewer.get(address(*runs)).json()["metrics"]}
    for name in ("cpu_utilization", "net_utilization"):
        values = [run.metrics["groups"][name] for run in runs]
        assert 0 < min(values) <= max(values) <= 1
        assert [cell["value"] for cell in rows[f"groups.{name}"]] == values
