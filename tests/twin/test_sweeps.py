"""Sweeps: the points of a grid, cancel and resume, and what is refused."""

from __future__ import annotations

import csv
import io

import pytest

from scheduling.model import ModelError
from tests.twin.test_forking import played_out, scenario_of
from twin import control, sweeps
from twin.models import Run, Scenario, Sweep
from twin.refused import Refused

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_point_is_a_run_of_its_own():
    scenario = scenario_of("oasis", "fifo", jobs=12, servers=6)
    control.edit(scenario.pk, 1, {"edits": [{"verb": "scale_arrivals", "factor": 1.0, "at_ms": 0}]})
    scenario.refresh_from_db()
    axes = [{"edit": 1, "field": "factor", "values": [0.5, 4]}, {"parameter": "backfill", "values": ["true", "false"]}]
    sweep = sweeps.start(scenario, "", axes, [3, 4])
    points = list(sweep.points.select_related("run__scenario"))
    assert [(p.place, p.seed) for p in points] == [([i, j], seed) for i in (0, 1) for j in (0, 1) for seed in (3, 4)]
    made = points[-1].run.scenario
    assert (made.edits[0]["factor"], made.parameters, made.seed, made.of_sweep) == (4, {"backfill": False}, 4, True)
    for point in points:
        played_out(point.run)
    told = sweeps.told(sweep)
    assert all(row["figures"]["completed"] == points[i].run.metrics["completed"] for i, row in enumerate(told))
    slow, fast = told[0]["figures"], told[-1]["figures"]
    assert slow["makespan_ms"] > fast["makespan_ms"], "jobs that come eight times as fast are done sooner"
    rows = list(csv.DictReader(io.StringIO("".join(sweeps.as_csv(sweep)))))
    assert len(rows) == 8
    assert (rows[0]["edit 1: scale arrivals, factor"], rows[0]["backfill"], rows[0]["seed"], rows[0]["status"]) == (
        "0.5",
        "true",
        "3",
        "finished",
    )
    assert float(rows[0]["makespan_ms"]) == slow["makespan_ms"]


def test_a_cancelled_sweep_goes_on_and_keeps_what_is_finished():
    scenario = scenario_of("oasis", "fifo", jobs=8, servers=6)
    sweep = sweeps.start(scenario, "mine", [{"parameter": "backfill", "values": [True, False]}], [])
    first, second = sweep.points.all()
    played_out(first.run)
    assert sweeps.cancel(sweep) == 1
    with pytest.raises(Refused, match="are not finished; cancel it before deleting it"):
        sweeps.delete(sweep)
    from twin import runner

    runner.advance(second.run_id)
    assert sweeps.resume(sweep) == 1
    second.refresh_from_db()
    played_out(second.run)
    first.refresh_from_db()
    assert first.run.status == second.run.status == Run.FINISHED
    assert sweeps.resume(sweep) == 0
    sweeps.delete(sweep)
    assert list(Scenario.objects.all()) == [scenario]
    assert not Sweep.objects.exists()


@pytest.mark.parametrize(("axes", "seeds", "sentence"), [
    ([{"parameter": "backfill", "values": list(range(1000))}], list(range(1000)), "parameter backfill must be of type bool"),
    ([{"edit": 1, "field": "factor", "values": list(range(1, 1001))}], list(range(1000)), "at most 500 points, and this one 1,000,000"),
    ([{"edit": 2, "field": "factor", "values": [1]}], [], "got 2; it has 1"),
    ([{"edit": 1, "field": "speed", "values": [1]}], [], "field must be one of at_ms, factor, got 'speed'"),
    ([{"edit": 1, "field": "factor", "values": [1, 1]}], [], "each value once"),
    ([{"parameter": "speed", "values": [1]}], [], "unknown parameter 'speed'"),
    ([{"values": []}], [], "a list that is not empty"),
    ([], [], "one or two axes, got 0"),
    ([{"edit": 1, "field": "factor", "values": [0]}], [], "parameter factor must be >= 0.001, got 0"),
])  # fmt: skip
def test_what_cannot_be_swept_is_said_and_nothing_is_kept(axes, seeds, sentence):
    scenario = scenario_of("oasis", "fifo", jobs=4, servers=6)
    Scenario.objects.filter(pk=scenario.pk).update(edits=[{"verb": "scale_arrivals", "factor": 1.0, "at_ms": 0}])
    scenario.refresh_from_db()
    with pytest.raises(ValueError, match=r"\w") as caught:
        sweeps.start(scenario, "", axes, seeds)
    assert sentence in str(caught.value)
    assert isinstance(caught.value, ModelError | ValueError)
    assert (Sweep.objects.count(), Run.objects.count(), Scenario.objects.count()) == (0, 0, 1)
