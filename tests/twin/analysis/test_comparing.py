"""Two runs side by side: metrics, differences of jobs and the divergence, by hand."""

import pytest

from scheduling.kernel.registry import schedulers
from scheduling.model.values import ModelError
from tests.twin.analysis.builders_compared import BASE, OTHER, PRICED, START, compared, decision
from tests.twin.analysis.builders_comparing import bar, decided, events_of, job, planned
from tests.twin.runtime.queues import work
from twin.analysis.comparison import Compared, common_instant, differences, side_of
from twin.analysis.comparison.metrics import COMPARED
from twin.analysis.comparison.outcomes import CLOUD, EDGE, FOREVER, STATES
from twin.eventlog.fold import RunState
from twin.eventlog.stored_states import at
from twin.models import Run
from twin.runs import runner


def test_metrics_of_both_runs_by_hand(pair):
    """Three jobs on two GPUs: 600 of 800 GPU-ms held until 400, and 700 of 1,000 until 500."""
    base, other = compared(*pair).metrics
    assert base | {"utilization.gpu": pytest.approx(0.75)} == base
    assert other | {"utilization.gpu": pytest.approx(0.7)} == other
    expected = {
        "total_utility": (6, 6), "jobs": (3, 3), "admitted": (2, 3), "rejected": (1, 0), "completed": (2, 3),
        "mean_jct_ms": (300, 300), "median_jct_ms": (300, 200), "common_jct_ms": (300, 350), "makespan_ms": (400, 500),
        "mean_delay_factor": (1, (500 / 400 + 1 + 2) / 3), "mean_wait_ms": (0, 100 / 3), "suspensions": (0, 1),
        "preemptions": (0, 1),
    }  # fmt: skip
    assert {key: (base[key], other[key]) for key in expected} == {
        key: pytest.approx(value) for key, value in expected.items()
    }
    assert base["utilization.cpu"] is None


def test_each_job_has_its_kinds_of_difference(pair):
    """x is stopped at 250 and goes on elsewhere; y is the same; z was rejected in the base."""
    mask = compared(*pair).kinds[1]
    assert [differences.names_of(int(m)) for m in mask] == [["shifted", "moved", "preempted"], [], ["not_rejected"]]
    assert differences.counts(mask) == {"shifted": 1, "moved": 1, "not_rejected": 1, "rejected": 0, "preempted": 1}
    back = compared(*reversed(pair)).kinds[1]
    assert differences.names_of(int(back[2])) == ["rejected"]


def test_a_job_that_is_rejected_after_it_ran_has_the_end_of_its_work(stored):
    """x runs from 0 to 250 and is then rejected; z is rejected on arrival; y completes."""
    late = events_of(
        *START, decided(100, 2, "rejected"), (200, "job_completed", {"job": 1, "utility": 2.0}),
        decided(250, 0, "preempted", "server_gone", {}), planned(250, 0, None), decided(250, 0, "rejected"),
        (250, "run_finished", {}),
    )  # fmt: skip
    side = compared(stored(late)).sides[0]
    lives = [differences.life(side.outcomes, index) for index in range(3)]
    assert [(one["state"], one["finish_ms"], one["stopped_ms"]) for one in lives] == [
        ("rejected", None, 250),
        ("completed", 200, None),
        ("rejected", None, None),
    ]


def test_the_runs_part_where_the_third_job_is_decided(pair):
    """Both decide x and y alike at 0; at 100 one rejects z and the other plans it."""
    found = compared(*pair)
    divergence = found.divergences[1]
    assert (divergence.at_ms, divergence.job, divergence.jobs, divergence.same) == (100, 2, 1, 2)
    both = [decision(side, 2, 100) for side in found.sides]
    assert [(one["immediate"], one["standing"]) for one in both] == [(True, None), (True, None)]
    mine, yours = (one["next"] for one in both)
    assert mine["sentence"] == "Rejected: requests 3 workers at once; the empty cluster has capacity for 2."
    assert mine["plan"] is None
    assert yours["kind"] == "started"
    assert yours["plan"] == {"start_ms": 200, "finish_ms": 300, "workers": 1, "servers": ["b"]}


def test_a_decision_that_comes_later_is_named_as_later(pair):
    side = compared(*pair).sides[1]
    later = decision(side, 0, 1)
    assert (later["immediate"], later["next"]["at_ms"], later["next"]["kind"]) == (False, 250, "preempted")
    assert decision(side, 0, 1, 249)["next"] is None, "what comes after the instant compared is not known"


def test_equal_runs_never_part(stored):
    first = stored(BASE)
    found = compared(first, stored(BASE, trace=first.scenario.trace))
    assert found.divergences == [None, None]
    assert not found.kinds[1].any()


def test_runs_that_go_on_are_compared_up_to_the_instant_that_both_have_reached(stored):
    """At 275 x runs in the base and is suspended in the other; the base's z is rejected, the other's runs since 200."""
    first = stored([event for event in BASE if event.at_ms <= 200])
    first.status, first.next_event_ms = Run.RUNNING, 250
    other = stored([event for event in OTHER if event.at_ms <= 300], trace=first.scenario.trace, status=Run.RUNNING)
    other.next_event_ms = 350
    finished = stored(OTHER, trace=first.scenario.trace)
    assert common_instant([first, other, finished]) == 200
    assert common_instant([other, finished]) == 300
    assert common_instant([finished]) == FOREVER
    other.next_event_ms = 300  # more happens at 300
    assert common_instant([other, finished]) == 299
    other.status, other.next_event_ms = Run.CANCELLED, None
    assert common_instant([other, finished]) == 299
    found = compared(stored(BASE, trace=first.scenario.trace), other, until_ms=275)
    states = [[STATES[code] for code in side.outcomes.states] for side in found.sides]
    assert states == [["running", "completed", "rejected"], ["suspended", "completed", "running"]]
    assert found.sides[0].outcomes.finish_ms.tolist() == [400, 200, -1]
    assert found.sides[0].outcomes.service_ms.tolist() == [275, 200, 0]
    assert [f["completed"] for f in found.metrics] == [1, 1]
    assert found.metrics[0]["utilization.gpu"] == pytest.approx(475 / 550)


def test_a_planned_start_is_no_wait_and_a_planned_gap_no_suspension(stored):
    """At 150 x runs and will pause from 200 to 300; z, which arrived at 100, is planned for 200."""
    events = events_of(
        (0, "run_started", {}), (0, "job_arrived", {"job": 0}), decided(0, 0, "admitted"),
        planned(0, 0, 400, bar(0, 0, 50, 200), bar(0, 0, 300, 400)), (100, "job_arrived", {"job": 2}),
        decided(100, 2, "admitted"), planned(100, 2, 300, bar(2, 1, 200, 300)), (350, "priced", PRICED),
    )  # fmt: skip
    run = stored(events, status=Run.CANCELLED)

    def metrics_at(until_ms):
        found = Compared([side_of(run, at(run.pk), until_ms)], until_ms).metrics[0]
        return found["mean_wait_ms"], found["suspensions"]

    assert metrics_at(150) == (50, 0)
    assert metrics_at(250) == ((50 + 100) / 2, 0)
    assert metrics_at(350) == ((50 + 100) / 2, 1)


def test_runs_of_two_traces_share_the_jobs_with_the_same_id(stored):
    others = [job("w", 0), job("x", 0)]
    first, second = stored(BASE), stored(events_of((0, "run_started", {}), (0, "job_arrived", {"job": 0})), others)
    found = compared(first, second)
    assert [rows.tolist() for rows in found.rows] == [[0], [1]]
    strangers = stored(events_of((0, "run_started", {})), [job("q", 0)])
    with pytest.raises(ModelError, match="no common job ids"):
        compared(first, strangers)


def test_breakdowns_by_model_size_and_site(pair):
    found = compared(*pair).breakdowns
    breakdowns = {
        by: [(row["name"], row["jobs"], [v["value"] for v in row["completed"]]) for row in rows]
        for by, rows in found.items()
    }
    assert breakdowns["model"] == [("m1", [2, 2], [2, 2]), ("m2", [1, 1], [0, 1])]
    assert breakdowns["size"] == [("up to 1 GPU", [2, 2], [2, 2]), ("over 2, up to 4 GPU", [1, 1], [0, 1])]
    assert breakdowns["site"] == [
        ("edge only", [1, 0], [1, 0]), ("cloud only", [1, 2], [1, 2]), ("edge and cloud", [0, 1], [0, 1]),
        ("no site yet", [1, 0], [0, 0]),
    ]  # fmt: skip
    assert compared(*pair).sides[1].outcomes.sites.tolist() == [EDGE | CLOUD, CLOUD, CLOUD]


def test_jobs_of_another_trace_are_grouped_by_their_own_model_and_size(stored):
    """In the second run, the ids x and y name other jobs: of models m3 and m2, not of m1."""
    jobs = [job("x", 0, "m3", workers=8), job("y", 0, "m2"), job("w", 0)]
    found = compared(stored(BASE), stored(OTHER, jobs)).breakdowns
    breakdowns = {by: [(row["name"], row["jobs"]) for row in found[by]] for by in ("model", "size")}
    assert breakdowns == {
        "model": [("m1", [2, 0]), ("m2", [0, 1]), ("m3", [0, 1])],
        "size": [("up to 1 GPU", [2, 1]), ("over 4, up to 8 GPU", [0, 1])],
    }


def test_distributions_are_quantiles(pair):
    jct, delay, utility = compared(*pair).distributions
    assert [(curve["jobs"], *(curve["values"][percent] for percent in (0, 50, 100))) for curve in jct["curves"]] == [
        (2, 200, 300, 400), (3, 200, 200, 500),
    ]  # fmt: skip
    assert delay["curves"][1]["values"][100] == 2
    assert (utility["curves"][0]["jobs"], utility["curves"][0]["values"][0]) == (3, 0), (
        "the rejected job is worth nothing"
    )


def test_utility_of_a_run_that_completes_nothing_is_0_beside_one_that_does(stored):
    nothing = events_of(*START, (500, "run_finished", {}))
    curves = compared(stored(BASE), stored(nothing)).distributions[-1]["curves"]
    assert [(curve["jobs"], curve["values"][-1]) for curve in curves] == [(3, 4), (3, 0)]
    curves = compared(stored(nothing), stored(nothing)).distributions[-1]["curves"]
    assert curves == [{"jobs": 0, "values": []}] * 2, "no run has any utility"


@pytest.mark.parametrize("scheduler", [name for name in ("fifo", "drf", "oasis", "rrh") if name in schedulers()])
def test_at_its_end_a_run_has_the_metrics_of_its_summary(make_run, layer, scheduler):
    """The arrays against scheduling/reporting/metrics.py, which folds the events one by one."""
    run = make_run(scheduler=scheduler, jobs=30)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    found = compared(run, run).metrics[0]
    plain = dict(run.metrics)
    shares = plain.pop("utilization")
    expected = plain | {f"utilization.{name}": share for name, share in shares.items()}
    assert {key: found[key] for key in expected} == {key: pytest.approx(value) for key, value in expected.items()}
    assert set(expected) <= set(COMPARED)


def test_a_snapshot_of_nothing_can_be_compared(stored):
    """A run that has not begun."""
    first = stored(BASE)
    empty = Run.objects.create(scenario=first.scenario)
    found = Compared([side_of(first, at(first.pk), FOREVER), side_of(empty, RunState(), FOREVER)])
    assert found.metrics[1]["jobs"] == 0
    assert not found.kinds[1].any(), "a job that has not arrived is no difference"
