"""Two runs side by side: two servers and three jobs by hand, then plain loops against the arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.kernel.registry import schedulers
from scheduling.model.values import NONE, Cluster, Event, Job, ModelError, Placement, Server, Utility
from scheduling.reporting.quantities import value_text
from tests.twin.runtime.conftest import drop_messages, fresh, layer, make_run, make_scenario, valkey, work  # noqa: F401
from twin.analysis.comparison import Compared, common_instant, differences, side_of
from twin.analysis.comparison.decision_text import decision_of
from twin.analysis.comparison.decisions import Decisions, decisions_of
from twin.analysis.comparison.divergence import first_divergence
from twin.analysis.comparison.metrics import COMPARED, against
from twin.analysis.comparison.outcomes import CLOUD, EDGE, FOREVER, STATES, _service, preemptions, suspensions
from twin.eventlog import event_log
from twin.eventlog.fold import VERDICT, RunState
from twin.eventlog.stored_states import at
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store as scenarios

UNIT = (1000, 0, 0, 0, 0)
PRICED = {"slots": "all", "low": [], "mean": [], "high": []}
CLUSTER = Cluster("two", 100, (Server("a", "edge", UNIT), Server("b", "cloud", UNIT)))
IN_ORDER = {"workers": 1, "ps": 0, "waited_ms": 0}


def job(name, arrival_ms, model="m1", workers=1):
    return Job(name, arrival_ms, model, worker=UNIT, requested_workers=workers, utility=Utility(5, 0, 1))


JOBS = [job("x", 0), job("y", 0), job("z", 100, "m2", workers=3)]


def bar(index, server, start, end):
    return Placement(index, 0, server, start, end, 1)


def events_of(*happened):
    """Events numbered from 1: (at_ms, kind, data)."""
    return [Event(seq, *event) for seq, event in enumerate(happened, 1)]


def decided(at_ms, index, kind, code="in_order", values=IN_ORDER):
    return (at_ms, "decided", {"job": index, "kind": kind, "code": code, "values": values})


def planned(at_ms, index, finish_ms, *bars):
    start_ms = min((bar.start_ms for bar in bars), default=-1)
    jobs = [[index, start_ms, -1 if finish_ms is None else finish_ms]]
    return (at_ms, "plan_changed", {"scope": "job", "keys": [index], "jobs": jobs, "bars": list(bars)})


START = [
    (0, "run_started", {}), (0, "job_arrived", {"job": 0}), (0, "job_arrived", {"job": 1}),
    decided(0, 0, "started"), planned(0, 0, 400, bar(0, 0, 0, 400)), decided(0, 1, "started"),
    planned(0, 1, 200, bar(1, 1, 0, 200)), (100, "job_arrived", {"job": 2}),
]  # fmt: skip
BASE = events_of(
    *START, decided(100, 2, "rejected", "gang_too_large", {"role": "worker", "count": 3, "most": 2}),
    (200, "job_completed", {"job": 1, "utility": 2.0}), (400, "job_completed", {"job": 0, "utility": 4.0}),
    (400, "run_finished", {}),
)  # fmt: skip
OTHER = events_of(
    *START, decided(100, 2, "started"), planned(100, 2, 300, bar(2, 1, 200, 300)),
    (200, "job_completed", {"job": 1, "utility": 2.0}), decided(250, 0, "preempted", "server_gone", {}),
    planned(250, 0, None), (300, "job_completed", {"job": 2, "utility": 1.0}), decided(350, 0, "resumed"),
    planned(350, 0, 500, bar(0, 1, 350, 500)), (500, "job_completed", {"job": 0, "utility": 3.0}),
    (500, "run_finished", {}),
)  # fmt: skip


@pytest.fixture
def stored(db):
    """stored(events, jobs) -> a run whose log holds them."""

    def store(events, jobs=JOBS, trace=None, status=Run.FINISHED):
        spec, own = scenarios.store_generated("hand", CLUSTER, jobs, 1)
        scenario = Scenario.objects.create(name="hand", cluster=spec, trace=trace or own, scheduler="fifo")
        run = Run.objects.create(scenario=scenario, status=status)
        event_log.append(run.pk, 0, events[:7])
        event_log.append(run.pk, 0, events[7:])
        run.refresh_from_db()
        return run

    return store


def compared(*runs, until_ms=FOREVER):
    return Compared([side_of(run, at(run.pk), until_ms) for run in runs], until_ms)


@pytest.fixture
def pair(stored):
    first = stored(BASE)
    return first, stored(OTHER, trace=first.scenario.trace)


def test_figures_of_both_runs_by_hand(pair):
    """Three jobs on two GPUs: 600 of 800 GPU-ms held until 400, and 700 of 1,000 until 500."""
    base, other = compared(*pair).figures
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
    assert [differences.names_of(int(m)) for m in mask] == [["shifted", "moved", "preempted"], [], ["admitted"]]
    assert differences.counts(mask) == {"shifted": 1, "moved": 1, "admitted": 1, "rejected": 0, "preempted": 1}
    back = compared(*reversed(pair)).kinds[1]
    assert differences.names_of(int(back[2])) == ["rejected"]


def test_the_runs_part_where_the_third_job_is_decided(pair):
    """Both decide x and y alike at 0; at 100 one rejects z and the other plans it."""
    found = compared(*pair)
    divergence = found.divergences[1]
    assert (divergence.at_ms, divergence.job, divergence.jobs, divergence.same) == (100, 2, 1, 2)
    both = [decision_of(side, 2, 100, FOREVER) for side in found.sides]
    assert [(decision["then"], decision["standing"]) for decision in both] == [(True, None), (True, None)]
    mine, yours = (decision["next"] for decision in both)
    assert mine["sentence"] == "Rejected: requests 3 workers at once; the empty cluster has capacity for 2."
    assert mine["plan"] is None
    assert yours["kind"] == "started"
    assert yours["plan"] == {"start_ms": 200, "finish_ms": 300, "workers": 1, "servers": ["b"], "more": 0}


def test_a_decision_that_comes_later_is_named_as_later(pair):
    side = compared(*pair).sides[1]
    later = decision_of(side, 0, 1, FOREVER)
    assert (later["then"], later["next"]["at_ms"], later["next"]["kind"]) == (False, 250, "preempted")
    assert decision_of(side, 0, 1, 249)["next"] is None, "what comes behind the instant compared is not known"


def test_a_job_about_which_nothing_is_decided_stands_as_it_was_decided_before(pair):
    """y is planned once, at 0, and runs from then to 200: it does not wait. x is taken off at 250 and waits for 350."""
    base, other = compared(*pair).sides

    def standing(side, job, at_ms):
        decision = decision_of(side, job, at_ms, FOREVER)
        return (
            decision["next"] and decision["next"]["at_ms"],
            decision["standing"]["state"],
            decision["standing"]["at_ms"],
        )

    assert standing(base, 1, 100) == (None, "planned", 0)
    plan = decision_of(base, 1, 100, FOREVER)["standing"]["plan"]
    assert plan == {"start_ms": 0, "finish_ms": 200, "workers": 1, "servers": ["b"], "more": 0}
    assert standing(base, 1, 200) == (None, "completed", 200)
    assert standing(base, 2, 300) == (None, "rejected", 100)
    assert standing(other, 0, 100) == (250, "planned", 0)
    assert standing(other, 0, 300) == (350, "waiting", 250)
    assert standing(other, 2, 50) == (100, "not arrived", 100)


def test_equal_runs_never_part(stored):
    first = stored(BASE)
    found = compared(first, stored(BASE, trace=first.scenario.trace))
    assert found.divergences == [None, None]
    assert not found.kinds[1].any()


def test_runs_that_go_on_are_compared_up_to_the_instant_that_both_have_reached(stored):
    """At 275 x runs in the base and is suspended in the other; the base's z is rejected, the other's runs since 200."""
    first = stored([event for event in BASE if event.at_ms <= 200])
    first.status = Run.RUNNING
    other = stored([event for event in OTHER if event.at_ms <= 300], trace=first.scenario.trace, status=Run.RUNNING)
    finished = stored(OTHER, trace=first.scenario.trace)
    assert common_instant([first, other, finished]) == 200
    assert common_instant([other, finished]) == 300
    assert common_instant([finished]) == FOREVER
    found = compared(stored(BASE, trace=first.scenario.trace), other, until_ms=275)
    states = [[STATES[code] for code in side.outcomes.states] for side in found.sides]
    assert states == [["running", "completed", "rejected"], ["suspended", "completed", "running"]]
    assert found.sides[0].outcomes.finish_ms.tolist() == [400, 200, -1]
    assert found.sides[0].outcomes.service_ms.tolist() == [275, 200, 0]
    assert [f["completed"] for f in found.figures] == [1, 1]
    assert found.figures[0]["utilization.gpu"] == pytest.approx(475 / 550)


def test_a_planned_start_is_no_wait_and_a_planned_gap_no_suspension(stored):
    """At 150 x runs and will pause from 200 to 300; z, which arrived at 100, is planned for 200."""
    events = events_of(
        (0, "run_started", {}), (0, "job_arrived", {"job": 0}), decided(0, 0, "admitted"),
        planned(0, 0, 400, bar(0, 0, 50, 200), bar(0, 0, 300, 400)), (100, "job_arrived", {"job": 2}),
        decided(100, 2, "admitted"), planned(100, 2, 300, bar(2, 1, 200, 300)), (350, "priced", PRICED),
    )  # fmt: skip
    run = stored(events, status=Run.CANCELLED)

    def figures_at(until_ms):
        found = Compared([side_of(run, at(run.pk), until_ms)], until_ms).figures[0]
        return found["mean_wait_ms"], found["suspensions"]

    assert figures_at(150) == (50, 0)
    assert figures_at(250) == ((50 + 100) / 2, 0)
    assert figures_at(350) == ((50 + 100) / 2, 1)


def test_runs_of_two_traces_share_the_jobs_with_the_same_id(stored):
    others = [job("w", 0), job("x", 0)]
    first, second = stored(BASE), stored(events_of((0, "run_started", {}), (0, "job_arrived", {"job": 0})), others)
    found = compared(first, second)
    assert [rows.tolist() for rows in found.rows] == [[0], [1]]
    strangers = stored(events_of((0, "run_started", {})), [job("q", 0)])
    with pytest.raises(ModelError, match="no common job ids"):
        compared(first, strangers)


def test_groups_by_model_size_and_site(pair):
    groups = compared(*pair).groups
    breakdowns = {
        by: [(row["name"], row["jobs"], [v["value"] for v in row["completed"]]) for row in rows]
        for by, rows in groups.items()
    }
    assert breakdowns["model"] == [("m1", [2, 2], [2, 2]), ("m2", [1, 1], [0, 1])]
    assert breakdowns["size"] == [("up to 1 GPU", [2, 2], [2, 2]), ("over 2, up to 4 GPU", [1, 1], [0, 1])]
    assert breakdowns["site"] == [
        ("edge only", [1, 0], [1, 0]), ("cloud only", [1, 2], [1, 2]), ("edge and cloud", [0, 1], [0, 1]),
        ("no site yet", [1, 0], [0, 0]),
    ]  # fmt: skip
    assert compared(*pair).sides[1].outcomes.sites.tolist() == [EDGE | CLOUD, CLOUD, CLOUD]


def test_distributions_are_quantiles(pair):
    jct, delay, utility = compared(*pair).distributions
    assert [(curve["jobs"], *(curve["values"][percent] for percent in (0, 50, 100))) for curve in jct["curves"]] == [
        (2, 200, 300, 400), (3, 200, 200, 500),
    ]  # fmt: skip
    assert delay["curves"][1]["values"][100] == 2
    assert (utility["curves"][0]["jobs"], utility["curves"][0]["values"][0]) == (3, 0), (
        "the rejected job is worth nothing"
    )


def test_a_delta_knows_which_way_is_better():
    less, none, more = against([10, None, 12], "lower")
    assert (less["verdict"], less["best"]) == ("same", False), "the unknown one may be better"
    assert against([10, 12], "lower")[0]["best"]
    assert none == {"value": None, "delta": None, "relative": None, "verdict": None, "best": False, "ranked": True}
    assert (more["delta"], more["relative"], more["verdict"], more["best"]) == (2, 0.2, "worse", False)
    assert [v["best"] for v in against([3, 3], "higher")] == [False, False]
    assert against([1, 2], None)[1]["verdict"] is None


def test_values_that_read_alike_are_equal():
    """Sums in another order differ by dust: neither is best, none is better."""
    for unit, value, dust in (
        ("", 1e4, 1e-9), ("x", 3.0, 0.002), ("share", 0.5, 1e-6), ("share", 0.666, 0.0004), ("ms", 3_600_000.0, 1e-6),
        ("ms", 7_500_000.0, 7_000), ("", 0.0, 1e-12),
    ):  # fmt: skip
        more = value + (3_600_000 if unit == "ms" else 1)
        first, second, third = against([value, value + dust, more], "higher", unit)
        assert (second["verdict"], third["verdict"]) == ("same", "better")
        assert [cell["best"] for cell in (first, second, third)] == [False, False, True]
        assert not any(cell["best"] for cell in against([value, value + dust], "higher", unit))
    assert [cell["best"] for cell in against([1, 5, 5 + 1e-12], "higher")] == [False, True, True]
    assert against([0.005, 0.005 - 1e-15], "higher")[1]["verdict"] == "same", "dust that tips the last digit"
    assert against([0.666, 0.6664, 0.7], None, "share")[1]["verdict"] == "same", (
        "both read 66.6 %, so there is no change to show"
    )


def test_values_that_read_otherwise_differ():
    assert against([0.66649, 0.66651], "higher", "share")[1]["verdict"] == "better", "66.6 % and 66.7 %"
    assert [cell["best"] for cell in against([7_500_000, 7_560_000], "lower", "ms")] == [True, False], "2h 5m and 2h 6m"


@pytest.mark.parametrize(
    ("unit", "value", "more"),
    [("ms", 125_003_256, 126_791_309), ("ms", 7_500_000, 7_520_000), ("share", 0.0068, 0.0074), ("x", 1.0, 1.002)],
)
def test_a_difference_that_the_text_hides_is_one(unit, value, more):
    """Two makespans of "1d 11h" differ by half an hour, two utilizations of "0.7 %" by a twelfth."""
    cells = against([value, more], "lower", unit)
    assert value_text(value, unit) == value_text(more, unit)
    assert [(cell["verdict"], cell["best"]) for cell in cells] == [("same", True), ("worse", False)]


def test_what_cannot_be_ranked_is_not_ranked():
    first, second, third = against([10, 20, 12], "higher", ranked=[True, False, True])
    assert second == {"value": 20, "delta": None, "relative": None, "verdict": None, "best": False, "ranked": False}
    assert (first["best"], third["best"], third["verdict"]) == (False, True, "better")
    assert against([10, 20], None, ranked=[True, False])[1]["delta"] == 10, "where no way is better, nothing is ranked"


@pytest.mark.parametrize("scheduler", [name for name in ("fifo", "drf", "oasis", "rrh") if name in schedulers()])
def test_at_its_end_a_run_has_the_figures_of_its_summary(make_run, layer, scheduler):  # noqa: F811
    """The arrays against scheduling/reporting/metrics.py, which folds the events one by one."""
    run = make_run(scheduler=scheduler, jobs=30)
    runner.enqueue(run.pk)
    work()
    run.refresh_from_db()
    assert run.status == Run.FINISHED
    found = compared(run, run).figures[0]
    plain = dict(run.metrics)
    shares = plain.pop("utilization")
    expected = plain | {f"utilization.{name}": share for name, share in shares.items()}
    assert {key: found[key] for key in expected} == {key: pytest.approx(value) for key, value in expected.items()}
    assert set(expected) <= set(COMPARED)


bars_of = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(1, 5), st.integers(-1, 1)), max_size=12)


@given(bars_of)
def test_service_and_suspensions_are_those_of_plain_loops(spans):
    rows = np.array(
        [[j, 0, 0, start, start + length, 1, -1, chunk, -1, 0, -1] for j, start, length, chunk in spans], dtype=np.int64
    ).reshape(-1, 11)
    service = [
        len({t for j, start, length, _ in spans if j == index for t in range(start, start + length)})
        for index in range(3)
    ]
    assert _service(rows, 3).tolist() == service
    gaps = [0, 0, 0]
    for index in range(3):
        for chunk in (-1, 0, 1):
            busy = {
                t for j, start, length, c in spans if (j, c) == (index, chunk) for t in range(start, start + length)
            }
            gaps[index] += sum(t not in busy and t - 1 in busy and any(u > t for u in busy) for t in range(15))
    assert suspensions(rows, 3).tolist() == gaps


def test_gaps_of_many_jobs_that_have_not_ended():
    """Times of 2^53 in more than 1,024 chains: nothing overflows."""
    spans = [[j, 0, 0, *span, 1, -1, -1, -1, 0, -1] for j in range(3_000) for span in ((0, 5), (7 + j % 2, 2**53))]
    assert suspensions(np.array(spans, dtype=np.int64), 3_000).tolist() == [1] * 3_000


stops = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.sampled_from(sorted(VERDICT))), max_size=8)


@given(bars_of, stops)
def test_only_a_job_with_workers_is_preempted(spans, given):
    rows = np.array(
        [[j, 0, 0, start, start + length, 1, -1, chunk, -1, 0, -1] for j, start, length, chunk in spans], dtype=np.int64
    ).reshape(-1, 11)
    verdicts = np.array([[0, at_ms, j, VERDICT[kind]] for j, at_ms, kind in given], dtype=np.int64).reshape(-1, 4)
    taken = {(j, at_ms) for j, at_ms, kind in given if kind in ("preempted", "paused")}
    wanted = [0, 0, 0]
    for j, at_ms in taken:
        wanted[j] += any(job == j and start < at_ms <= start + length for job, start, length, _ in spans)
    assert preemptions(verdicts, rows, 3).tolist() == wanted


def group_of(at_ms, servers, jobs):
    none = [0] * len(jobs)
    return (at_ms, "grouped", {"group": 0, "servers": servers, "jobs": jobs, "ready_ms": none, "profiling": none})


def test_jobs_of_a_group_are_on_its_machines(stored):
    """x has server a, y both; x is paused at 200 when it runs, and its bars name only the group."""
    shared = [Placement(index, 0, NONE, 0, 400, 1, group=0) for index in (0, 1)]
    log = [
        (0, "run_started", {}), (0, "job_arrived", {"job": 0}), (0, "job_arrived", {"job": 1}),
        group_of(0, [0], [0, 1]), decided(0, 0, "started"), planned(0, 0, 400, shared[0]), decided(0, 1, "started"),
        planned(0, 1, 400, shared[1]), decided(200, 0, "paused"), planned(200, 0, None), group_of(200, [0, 1], [1]),
    ]  # fmt: skip
    first = stored(events_of(*log))
    found = compared(first, stored(BASE, trace=first.scenario.trace), until_ms=300)
    side = found.sides[0]
    assert side.outcomes.sites.tolist() == [EDGE, EDGE | CLOUD, 0]
    assert side.outcomes.preemptions.tolist() == [1, 0, 0]
    assert [differences.names_of(int(mask)) for mask in found.kinds[1]][:2] == [
        ["shifted", "preempted"],
        ["shifted", "moved"],
    ]
    plan = decision_of(side, 0, 0, FOREVER)["next"]["plan"]
    assert (plan["servers"], plan["more"], plan["workers"]) == ([], 0, 1), "the group's sentence names its machines"


acts = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(1, 3)), max_size=10)


@given(acts, acts)
def test_runs_part_at_the_first_instant_with_another_set_of_decisions(mine, yours):
    """plans of one instant and job are a bag; the earliest instant at which some job's bag differs."""

    def decisions(given):
        given = sorted(given, key=lambda act: act[0])
        plans = np.array(
            [[seq, at_ms, index] for seq, (at_ms, index, _) in enumerate(given, 1)], dtype=np.int64
        ).reshape(-1, 3)
        return Decisions(
            np.empty((0, 4), dtype=np.int64),
            plans,
            np.array([99**plan for *_, plan in given], dtype=np.uint64) << np.uint64(20),
        )

    def bags(given):
        return {(at_ms, index): sorted(p for a, j, p in given if (a, j) == (at_ms, index)) for at_ms, index, _ in given}

    places = (np.arange(4), np.arange(4))
    found = first_divergence(decisions(mine), decisions(yours), places, FOREVER)
    ours, theirs = bags(mine), bags(yours)
    differing = sorted(key for key in {*ours, *theirs} if ours.get(key, []) != theirs.get(key, []))
    if not differing:
        assert found is None
        return
    moment = differing[0][0]
    there = {index for at_ms, index in differing if at_ms == moment}
    assert found is not None
    assert (found.at_ms, found.jobs) == (moment, len(there))
    assert found.job in there


def test_a_plan_is_known_by_its_bars_whatever_their_order_or_lane(stored):
    """Lanes are for drawing; the count of workers is not."""

    def run(*bars):
        return stored(
            events_of((0, "run_started", {}), (0, "job_arrived", {"job": 0}), planned(0, 0, 400, *bars)), trace=first
        )

    first = stored(BASE).scenario.trace
    one, two = bar(0, 0, 0, 100), bar(0, 1, 0, 400)
    base = run(one, two)
    assert compared(base, run(two, one._replace(lane=3, chunk=1))).divergences[1] is None
    assert compared(base, run(one, two._replace(count=2))).divergences[1] is not None
    assert compared(base, run(one)).divergences[1] is not None


def test_a_snapshot_of_nothing_can_be_compared(stored):
    """A run that has not begun."""
    first = stored(BASE)
    empty = Run.objects.create(scenario=first.scenario)
    found = Compared([side_of(first, at(first.pk), FOREVER), side_of(empty, RunState(), FOREVER)])
    assert found.figures[1]["jobs"] == 0
    assert not found.kinds[1].any(), "a job that has not arrived is no difference"


def test_a_plan_of_lanes_is_a_decision_about_each_job_whose_times_change():
    """Job 7 runs on a, job 3 on b; each is known by its times and its own bars."""

    def digests(jobs, *bars):
        keys = [[0, bar.server, bar.lane] for bar in bars]
        plan = {"scope": "worker", "keys": keys, "jobs": jobs, "bars": list(bars)}
        decided = decisions_of(RunState().feed(events_of((0, "plan_changed", plan))), CLUSTER)
        assert decided.plans[:, 2].tolist() == [job for job, _, _ in jobs]
        return dict(zip(decided.plans[:, 2].tolist(), decided.digests.tolist(), strict=True))

    jobs = [[7, 0, 100], [3, 50, 200]]
    seven, three, five = bar(7, 0, 0, 100), bar(3, 1, 50, 200), bar(5, 1, 200, 300)
    first = digests(jobs, seven, three, five)
    assert digests(jobs[::-1], three, five, seven) == first
    moved = digests(jobs, seven, three._replace(server=0), five)
    assert (moved[7] == first[7], moved[3] == first[3]) == (True, False)
    assert digests(jobs, seven, three, five._replace(end_ms=400)) == first, (
        "job 5 keeps its times, so nothing is decided about it"
    )
    assert digests([[7, 0, 150], jobs[1]], seven, three, five)[7] != first[7]


def test_jobs_that_are_planned_at_once_and_one_after_the_other_are_planned_alike():
    """Schedulers differ in how many jobs one event plans; the decisions about each may be the same."""
    one, two = bar(0, 0, 0, 100), bar(1, 1, 0, 200)
    at_once = {"scope": "job", "keys": [0, 1], "jobs": [[0, 0, 100], [1, 0, 200]], "bars": [one, two]}
    single = RunState().feed(events_of(planned(0, 1, 200, two), planned(0, 0, 100, one)))
    both = RunState().feed(events_of((0, "plan_changed", at_once)))
    places = (np.arange(2), np.arange(2))
    assert first_divergence(decisions_of(single, CLUSTER), decisions_of(both, CLUSTER), places, FOREVER) is None
    later = RunState().feed(events_of((0, "plan_changed", at_once | {"bars": [one, two._replace(end_ms=300)]})))
    divergence = first_divergence(decisions_of(single, CLUSTER), decisions_of(later, CLUSTER), places, FOREVER)
    assert (divergence.at_ms, divergence.job, divergence.jobs) == (0, 1, 1)
