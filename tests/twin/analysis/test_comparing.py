"""Two runs side by side: two servers and three jobs by hand, then plain loops against the arrays."""

import pytest

from scheduling.kernel.registry import schedulers
from scheduling.model.bars import NONE, Placement
from scheduling.model.values import ModelError
from tests.twin.analysis.builders_comparing import CLUSTER, bar, decided, events_of, job, planned
from tests.twin.runtime.conftest import drop_messages, fresh, layer, make_run, make_scenario, valkey, work  # noqa: F401
from twin.analysis.comparison import Compared, common_instant, differences, side_of
from twin.analysis.comparison.decision_text import MAX_SERVERS, decision_of, decision_pair, shortened
from twin.analysis.comparison.metrics import COMPARED
from twin.analysis.comparison.outcomes import CLOUD, EDGE, FOREVER, STATES, grouped
from twin.eventlog import event_log, state_cache
from twin.eventlog.fold import RunState
from twin.eventlog.stored_states import at
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios import store as scenarios

PRICED = {"slots": "all", "low": [], "mean": [], "high": []}


JOBS = [job("x", 0), job("y", 0), job("z", 100, "m2", workers=3)]


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
    state_cache.forget()  # row ids are used again

    def store(events, jobs=JOBS, trace=None, status=Run.FINISHED):
        spec, own = scenarios.store_generated("hand", CLUSTER, jobs, 1)
        scenario = Scenario.objects.create(name="hand", cluster=spec, trace=trace or own, scheduler="fifo")
        run = Run.objects.create(scenario=scenario, status=status)
        event_log.append(run.pk, 0, events[:7])
        event_log.append(run.pk, 0, events[7:])
        run.refresh_from_db()
        return run

    return store


def decision(side, job, at_ms, until_ms=FOREVER):
    return decision_of(Run.objects.get(pk=side.run_id), side, job, at_ms, until_ms)


def compared(*runs, until_ms=FOREVER):
    return Compared([side_of(run, at(run.pk), until_ms) for run in runs], until_ms)


@pytest.fixture
def pair(stored):
    first = stored(BASE)
    return first, stored(OTHER, trace=first.scenario.trace)


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


def test_a_job_about_which_nothing_is_decided_stands_as_it_was_decided_before(pair):
    """y is planned once, at 0, and runs from then to 200. x is taken off at 250 and is suspended until 350."""
    base, other = compared(*pair).sides

    def standing(side, job, at_ms):
        found = decision(side, job, at_ms)
        return found["next"] and found["next"]["at_ms"], found["standing"]["state"], found["standing"]["at_ms"]

    assert standing(base, 1, 100) == (None, "running", 0)
    plan = decision(base, 1, 100)["standing"]["plan"]
    assert plan == {"start_ms": 0, "finish_ms": 200, "workers": 1, "servers": ["b"]}
    assert standing(base, 1, 200) == (None, "completed", 200)
    assert standing(base, 2, 300) == (None, "rejected", 100)
    assert standing(other, 0, 100) == (250, "running", 0)
    assert standing(other, 0, 300) == (350, "suspended", 250)
    assert standing(other, 2, 50) == (100, "not arrived", 100)


def test_a_job_without_a_plan_is_queued_until_it_has_run_and_suspended_after(stored):
    """z arrives at 100, is planned at 110 to run from 200, loses this plan at 150, and runs from 250 to 280."""
    events = events_of(
        *START, decided(110, 2, "admitted"), planned(110, 2, 300, bar(2, 1, 200, 300)), planned(150, 2, None),
        decided(250, 2, "started"), planned(250, 2, 350, bar(2, 1, 250, 350)),
        decided(280, 2, "preempted", "server_gone", {}), planned(280, 2, None), (300, "run_finished", {}),
    )  # fmt: skip
    side = compared(stored(events)).sides[0]
    found = {at_ms: decision(side, 2, at_ms)["standing"] for at_ms in (105, 120, 160, 260, 290)}
    assert {at_ms: (one["state"], one["at_ms"]) for at_ms, one in found.items()} == {
        105: ("queued", 100),
        120: ("planned", 110),
        160: ("queued", 150),
        260: ("running", 250),
        290: ("suspended", 280),
    }
    assert [found[at_ms]["plan"] is not None for at_ms in found] == [False, True, False, True, False]


def test_a_job_that_is_between_two_parts_of_its_plan_is_suspended_and_keeps_the_plan(stored):
    """x is planned at 0 to run from 50 to 100 and from 200 to 300; y arrives and nothing is decided about it."""
    events = events_of(
        (0, "run_started", {}), (0, "job_arrived", {"job": 0}), (0, "job_arrived", {"job": 1}),
        decided(0, 0, "admitted"), planned(0, 0, 300, bar(0, 0, 50, 100), bar(0, 1, 200, 300)),
        (300, "job_completed", {"job": 0, "utility": 1.0}), (400, "run_finished", {}),
    )  # fmt: skip
    side = compared(stored(events)).sides[0]
    found = {at_ms: decision(side, 0, at_ms)["standing"] for at_ms in (20, 60, 150, 250)}
    assert [one["state"] for one in found.values()] == ["planned", "running", "suspended", "running"]
    plan = {"start_ms": 50, "finish_ms": 300, "workers": 1, "servers": ["a", "b"]}
    assert all((one["at_ms"], one["plan"]) == (0, plan) for one in found.values())
    assert decision(side, 1, 399)["standing"] == {"state": "queued", "at_ms": 0, "plan": None}
    assert decision(side, 1, 450)["standing"] == {"state": "unfinished", "at_ms": 400, "plan": None}


def test_a_job_in_a_group_has_the_state_of_its_membership(stored):
    """x moves until 50; from 200 on its times are measured; z has not arrived."""
    data = {"group": 0, "servers": [0], "jobs": [0]}
    events = events_of(
        (0, "run_started", {}), (0, "job_arrived", {"job": 0}), decided(0, 0, "started"),
        planned(0, 0, 400, Placement(0, 0, NONE, 0, 400, 1, group=0)),
        (0, "grouped", data | {"ready_ms": [50], "profiling": [0]}),
        (200, "grouped", data | {"ready_ms": [50], "profiling": [1]}), (300, "priced", PRICED),
    )  # fmt: skip
    side = compared(stored(events, status=Run.CANCELLED)).sides[0]
    found = [decision(side, 0, at_ms)["standing"] for at_ms in (20, 100, 250)]
    assert [one["state"] for one in found] == ["moving", "running", "profiling"]
    assert [(one["at_ms"], one["plan"]["finish_ms"]) for one in found] == [(0, 400)] * 3
    assert decision(side, 2, 250)["standing"] == {"state": "not arrived", "at_ms": None, "plan": None}


def test_plans_that_differ_in_their_servers_name_those_that_the_other_lacks(stored):
    """Both runs start x for the same reason at 0, one on server a, the other on a and on b."""
    begin = [(0, "run_started", {}), (0, "job_arrived", {"job": 0}), decided(0, 0, "started")]
    base = stored(events_of(*begin, planned(0, 0, 400, bar(0, 0, 0, 400))))
    other = stored(
        events_of(*begin, planned(0, 0, 400, bar(0, 0, 0, 400), bar(0, 1, 0, 400))), trace=base.scenario.trace
    )
    sides = compared(base, other).sides
    both = [one["next"] for one in decision_pair((base, other), sides, (0, 0), 0, FOREVER)]
    assert both[0]["sentence"] == both[1]["sentence"]
    mine, yours = (one["plan"] for one in both)
    assert (mine["servers"], mine["more"], mine["own"], mine["own_more"]) == (["a"], 0, [], 0)
    assert (yours["servers"], yours["more"], yours["own"], yours["own_more"]) == (["a", "b"], 0, ["b"], 0)


def test_a_few_servers_of_a_plan_are_named_and_the_others_counted():
    names = [f"s{i}" for i in range(MAX_SERVERS + 3)]
    plan = {"start_ms": 0, "finish_ms": 1, "workers": 9, "servers": names}
    shown = shortened({"next": {"plan": plan}, "standing": None}, plan, plan | {"servers": names[:1]})["next"]["plan"]
    assert (shown["servers"], shown["more"]) == (names[:MAX_SERVERS], 3)
    assert (shown["own"], shown["own_more"]) == (names[1 : MAX_SERVERS + 1], 2)


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
def test_at_its_end_a_run_has_the_metrics_of_its_summary(make_run, layer, scheduler):  # noqa: F811
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
    plan = decision(side, 0, 0)["next"]["plan"]
    assert (plan["servers"], plan["workers"]) == ([], 1), "the group's sentence names its machines"


def test_a_job_was_not_on_machines_of_groups_that_lasted_no_time(stored):
    """x is grouped three times at 100: on a, on both, and at last on b, where it stays."""
    log = [
        (0, "run_started", {}), (0, "job_arrived", {"job": 0}), decided(0, 0, "admitted"),
        group_of(100, [0], [0]), group_of(100, [0, 1], [0]), group_of(100, [1], [0]), (200, "priced", PRICED),
    ]  # fmt: skip
    first = stored(events_of(*log), status=Run.CANCELLED)
    assert grouped(at(first.pk), FOREVER).tolist() == [[0, 1]]
    alone = stored(events_of(*log[:3], log[-2], log[-1]), trace=first.scenario.trace, status=Run.CANCELLED)
    sides = compared(first, alone, until_ms=150).sides
    assert [side.outcomes.sites[0] for side in sides] == [CLOUD, CLOUD]
    assert sides[0].outcomes.servers[0] == sides[1].outcomes.servers[0]


def test_a_plan_is_known_by_its_bars_whatever_their_order_or_worker(stored):
    """Worker slots are for drawing; the count of workers is not."""

    def run(*bars):
        return stored(
            events_of((0, "run_started", {}), (0, "job_arrived", {"job": 0}), planned(0, 0, 400, *bars)), trace=first
        )

    first = stored(BASE).scenario.trace
    one, two = bar(0, 0, 0, 100), bar(0, 1, 0, 400)
    base = run(one, two)
    assert compared(base, run(two, one._replace(worker_slot=3, chunk=1))).divergences[1] is None
    assert compared(base, run(one, two._replace(count=2))).divergences[1] is not None
    assert compared(base, run(one)).divergences[1] is not None


def test_a_snapshot_of_nothing_can_be_compared(stored):
    """A run that has not begun."""
    first = stored(BASE)
    empty = Run.objects.create(scenario=first.scenario)
    found = Compared([side_of(first, at(first.pk), FOREVER), side_of(empty, RunState(), FOREVER)])
    assert found.metrics[1]["jobs"] == 0
    assert not found.kinds[1].any(), "a job that has not arrived is no difference"
