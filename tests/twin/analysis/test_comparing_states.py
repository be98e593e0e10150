"""States and decisions of jobs in compared runs at a time, and what is said of their plans."""

from scheduling.model.bars import NONE, Placement
from tests.twin.analysis.builders_compared import BASE, PRICED, START, compared, decision
from tests.twin.analysis.builders_comparing import bar, decided, events_of, planned
from twin.analysis.comparison import differences
from twin.analysis.comparison.decision_text import MAX_SERVERS, decision_pair, shortened
from twin.analysis.comparison.outcomes import CLOUD, EDGE, FOREVER, grouped
from twin.eventlog.stored_states import at
from twin.models import Run


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
