"""Requests of comparisons: which lists of runs and filters are refused, and deleted runs."""

import pytest

from tests.dashboard.compare.builders import address
from tests.twin.runtime.queues import work
from twin.models import Run, Scenario
from twin.runs import runner


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
    assert payload["notes"][0].endswith(f"The comparison is made without it; run {pair[1].pk} is the baseline.")
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
        f"it; only run {pair[0].pk} is left; "
        "choose another run to compare with it."
    )
    assert (payload["differences"], payload["divergences"]) == ([], [])
    assert viewer.get(address(pair[0], gone, tail="kinds/")).status_code == 200
    answer = viewer.get(address(pair[0], gone, tail="jobs/"))
    assert (answer.status_code, answer.json()["detail"]) == (
        400, f"run {pair[0].pk} is the only one of the list that exists; name another run to compare it with",
    )  # fmt: skip
