"""Comparing runs and racing schedulers, through the API: what is answered, refused, and who may."""

import csv
import io

import pytest

from dashboard import comparisons
from scheduling.registry import schedulers
from tests.dashboard.test_api import downloaded, post
from tests.twin.runtime.conftest import messages, work
from twin import racing, runner
from twin.columns import unpack
from twin.models import AuditEntry, Run, Scenario


@pytest.fixture(autouse=True)
def nothing_kept():
    comparisons.forget()  # row ids are used again


@pytest.fixture
def pair(make_scenario, layer) -> tuple[Run, Run]:
    """FIFO and OASiS on the same trace, to the end."""
    base = make_scenario(scheduler="fifo", jobs=20)
    other = Scenario.objects.create(name="oasis", cluster=base.cluster, trace=base.trace, scheduler="oasis", seed=base.seed)
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
    assert rows["rejected"]["better"] == "lower"
    assert [len(d["curves"]) for d in answer["distributions"]] == [2, 2, 2]
    assert sum(row["jobs"][0] for row in answer["groups"]["model"]) == 20
    parting = answer["partings"][0]
    assert parting["base"]["sentence"]
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
    lines = list(csv.reader(io.StringIO(downloaded(viewer.get(address(*pair, tail="differences.csv", kind="shifted"))).decode())))
    count = viewer.get(address(*pair, tail="jobs/", kind="shifted")).json()["count"]
    assert len(lines) == count + 1
    assert lines[0][:4] == ["job", "model", "arrived_ms", "kinds"]
    figures = list(csv.reader(io.StringIO(downloaded(viewer.get(address(*pair, tail="metrics.csv"))).decode())))
    assert figures[0][3:] == [f"run {pair[0].pk} fifo", f"run {pair[0].pk} minus run {pair[0].pk}", f"run {pair[1].pk} oasis",
                              f"run {pair[1].pk} minus run {pair[0].pk}"]  # fmt: skip
    assert float(figures[1][3]) == pytest.approx(pair[0].metrics["total_utility"])


@pytest.mark.parametrize(
    ("runs", "status", "said"),
    [
        ("", 400, "2 to 24 runs"),
        ("{a}", 400, "got 1"),
        ("{a},{a}", 400, "named twice"),
        ("{a},x", 400, "got 'x'"),
        ("{a},987654", 404, "There is no run 987654; it may have been deleted."),
        (",".join(map(str, range(1000, 1025))), 400, "got 25"),
    ],
)
def test_a_wrong_list_of_runs_is_refused_with_a_reason(viewer, pair, runs, status, said):
    for tail in ("", "jobs/", "kinds/", "metrics.csv", "differences.csv"):
        answer = viewer.get(f"/api/compare/{tail}?runs={runs.format(a=pair[0].pk)}")
        assert answer.status_code == status
        assert said in answer.json()["detail"]


def test_a_wrong_filter_is_refused_with_what_would_work(viewer, pair):
    for asked, said in (
        ({"kind": "x"}, "shifted, moved"),
        ({"run": pair[0].pk}, f"run must be one of {pair[1].pk}"),
        ({"sort": "y"}, "start, finish"),
    ):
        for tail in ("jobs/", "differences.csv"):
            answer = viewer.get(address(*pair, tail=tail, **asked))
            assert answer.status_code == 400
            assert said in answer.json()["detail"]


def test_a_deleted_run_is_said(operator, pair):
    assert operator.get(address(*pair)).status_code == 200
    gone = pair[1].pk
    pair[1].delete()
    answer = operator.get(address(pair[0], gone))
    assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no run {gone}; it may have been deleted.")


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
    idle = Run.objects.create(scenario=pair[0].scenario)
    answer = viewer.get(address(pair[0], idle)).json()
    assert answer["at_ms"] is None
    assert answer["notes"] == [f"Run {idle.pk} (queued) has not begun: there is nothing to compare yet."]
    assert answer["metrics"][0]["values"][1]["value"] is None
    assert answer["differences"][0]["differing"] == 0


def test_a_run_that_goes_on_is_compared_as_far_as_it_is(viewer, pair):
    """The base stands in the middle: the other is told up to that instant, and grows with it."""
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
    told = operator.get(f"/api/scenarios/{scenario.pk}/race/").json()
    left_out = {row["scheduler"]: row["reason"] for row in told["left_out"]}
    assert "trains by the model of pd-ors, and this race is run by that of oasis" in left_out["pd_ors"]
    assert {row["scheduler"] for row in told["able"]} | set(left_out) == set(schedulers())
    assert {"oasis", "fifo", "drf", "rrh"} <= {row["scheduler"] for row in told["able"]}
    assert all("a model of its own" in left_out[name] for name, cls in schedulers().items() if not cls.worlds)
    answer = post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo", "drf"]})
    assert answer.status_code == 201
    runs = answer.json()["runs"]
    assert [run["scheduler"] for run in runs] == ["oasis", "fifo", "drf"]
    assert runs[0]["scenario"] == scenario.pk
    assert answer.json()["compare"] == f"/compare/?runs={','.join(str(run['id']) for run in runs)}&race={scenario.pk}"
    assert AuditEntry.objects.filter(action="scenario.race", user=operator.user, subject=f"scenario {scenario.pk}").count() == 1
    assert AuditEntry.objects.filter(action="run.start", user=operator.user).count() == 3
    assert messages() == [], "the test's transaction never commits, so nobody was asked yet"
    runner.enqueue_all([run["id"] for run in runs])
    assert work() >= 3
    answer = operator.get(address(*(run["id"] for run in runs))).json()
    assert [run["status"] for run in answer["runs"]] == ["finished"] * 3


def test_a_race_uses_scenarios_again_and_keeps_to_one_model(operator, make_scenario, layer):
    scenario = make_scenario(scheduler="oasis")
    for _ in range(2):
        assert post(operator, f"/api/scenarios/{scenario.pk}/race/", {"schedulers": ["oasis", "fifo"]}).status_code == 201
    assert Scenario.objects.count() == 2
    assert Scenario.objects.get(scheduler="fifo").parameters == {"model": "oasis"}
    assert all(entrant.parameters.get("model") in (None, "oasis") for entrant in racing.entrants(scenario))


def test_a_race_names_what_is_wrong(operator, viewer, make_scenario, layer):
    scenario = make_scenario(scheduler="oasis")
    where = f"/api/scenarios/{scenario.pk}/race/"
    for chosen, said in (
        (["oasis", "fifoo"], "unknown scheduler 'fifoo'; known"),
        (["oasis", "pd_ors"], "PD-ORS cannot run this"),
        (["oasis"], "at least 2"),
    ):
        answer = post(operator, where, {"schedulers": chosen})
        assert answer.status_code == 400
        assert said in str(answer.json())
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
