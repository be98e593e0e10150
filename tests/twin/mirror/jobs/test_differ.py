"""The differ, case by case: what a poll at a cluster adds to the log."""

from __future__ import annotations

from dataclasses import replace

from scheduling.model.limits import MAX_INT
from tests.twin.mirror.builders import (
    EPOCH,
    NODES,
    Log,
    S,
    at,
    attempt,
    calls_of,
    ended,
    job,
    kinds,
    polled,
    running,
    suspended,
)
from twin.connectors.facts import DOWN, DRAINING, ENDED, RUNNING, UP, WAITING, Attempt, NodeFact, Share
from twin.eventlog.fold import RunState
from twin.eventlog.job_states import STATES, job_states
from twin.mirror.as_values import EventData
from twin.mirror.differ import Mirror, epoch_of


def test_the_first_look_adds_nodes_and_jobs():
    log = Log()
    events = log.apply(polled(10, running("1", 5), job("2", reason="Resources")))
    assert kinds(events) == [
        "server_added", "server_added", "job_added", "job_arrived", "decided", "plan_changed", "job_added",
        "job_arrived", "decided",
    ]  # fmt: skip
    assert [data["fields"]["site"] for _, data in events[:2]] == ["edge", "cloud"]
    assert events[0][1]["fields"]["capacity"] == (4_000, 8_000, 16_777, 0, 0)
    assert events[2][1]["fields"]["worker"] == (1_000, 1_000, 2_097, 0, 0), (
        "a worker is one of two GPUs, with half of the rest"
    )
    assert events[8][1] == {"job": 1, "kind": "waits", "code": "waits", "values": {"reason": "Resources"}}
    assert log.bars() == {(0, 0, 5 * S, MAX_INT, 2, -1)}, "it runs until somebody sees its end"


def test_a_time_limit_is_logged_and_so_is_its_change():
    log = Log()
    waiting = job("2", reason="Resources", limit_ms=600 * S)
    events = log.apply(polled(10, waiting))
    assert [data["fields"]["limit_ms"] for kind, data in events if kind == "job_added"] == [600 * S]
    ((kind, data),) = log.apply(polled(11, replace(waiting, limit_ms=900 * S)))
    assert (kind, data["job"], data["fields"]["limit_ms"]) == ("job_set", 0, 900 * S)
    assert log.apply(polled(12, replace(waiting, limit_ms=900 * S))) == []


def test_the_same_look_again_tells_nothing():
    log = Log()
    log.apply(polled(10, running("1", 5), job("2", reason="Resources")))
    assert log.apply(polled(11, running("1", 5), job("2", reason="Resources"))) == []


def test_a_look_at_many_unchanged_jobs_costs_a_few_calls_a_job():
    log, jobs = Log(), [job(str(number), reason="Resources") for number in range(1_000)]
    log.apply(polled(10, *jobs))
    calls = calls_of(lambda: log.mirror.apply(polled(11, *jobs)))
    assert calls < 10 * len(jobs)


def test_an_attempt_that_a_cluster_told_before_it_began_appears_when_it_begins():
    log = Log()
    log.apply(polled(10, running("1", 12)))
    assert log.bars() == set()
    assert kinds(log.apply(polled(12, running("1", 12)))) == ["plan_changed"]
    assert log.bars() == {(0, 0, 12 * S, MAX_INT, 2, -1)}


def test_a_job_starts_and_ends():
    log = Log()
    log.apply(polled(1, job("1", reason="Priority")))
    assert kinds(log.apply(polled(3, running("1", 2)))) == ["decided", "plan_changed"]
    events = log.apply(polled(9, ended(running("1", 2), 8)))
    assert kinds(events) == ["plan_changed", "decided", "job_completed"]
    assert events[2][1] == {"job": 0, "utility": 0.0, "ended_ms": 8 * S}
    assert log.bars() == {(0, 0, 2 * S, 8 * S, 2, -1)}
    assert log.apply(polled(10, ended(running("1", 2), 8))) == []
    assert log.apply(polled(400)) == [], "the cluster forgets what has ended"


def test_a_job_that_ends_without_having_run():
    log = Log()
    log.apply(polled(1, job("1")))
    events = log.apply(polled(2, replace(job("1"), state=ENDED, outcome="cancelled", ended_ms=at(2))))
    assert [(kind, data["kind"], data["code"]) for kind, data in events] == [("decided", "rejected", "withdrawn")]


def test_a_job_that_a_complete_look_no_longer_has_ended_in_between():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    assert log.apply(polled(11, complete=False)) == [], "a part of an answer ends nothing"
    assert log.apply(polled(12, partial=True)) == []
    events = log.apply(polled(13))
    assert kinds(events) == ["plan_changed", "decided", "job_completed"]
    assert events[1][1]["values"] == {"outcome": "lost", "after_ms": 10 * S}
    assert log.bars() == {(0, 0, 5 * S, 13 * S, 2, -1)}


def test_jobs_that_the_account_may_not_see_are_not_gone():
    log = Log()
    log.apply(polled(10, running("1", 5, user="ada"), running("2", 6, user="twin")))
    assert log.apply(polled(11, running("2", 6, user="twin"), own="twin")) == []
    events = log.apply(polled(12, own="twin"))
    assert [data["job"] for kind, data in events if kind == "job_completed"] == [1], "its own job is gone"
    assert log.mirror.open == {0}
    assert kinds(log.apply(polled(13)))[-1] == "job_completed", "a poll that shows all jobs settles it"


def test_the_accounting_tells_better_when_it_ended():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(13))
    events = log.write(log.mirror.restate([replace(ended(running("1", 5), 11), complete_history=True)]))
    assert kinds(events) == ["plan_changed", "decided", "job_completed"]
    assert (events[1][1]["values"], events[2][1]["ended_ms"]) == ({"outcome": "completed"}, 11 * S)
    assert log.bars() == {(0, 0, 5 * S, 11 * S, 2, -1)}


def test_the_accounting_takes_no_gpu_indices_back():
    log = Log()
    log.apply(polled(10, running("1", 5, gpu_ids=(1, 3))))
    log.write(log.mirror.restate([ended(running("1", 5), 9, complete_history=True)]))
    assert log.bars() == {(0, 0, 5 * S, 9 * S, 1, 1), (0, 0, 5 * S, 9 * S, 1, 3)}


def test_a_requeued_job_runs_twice():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    events = log.apply(polled(20, job("1", restarts=1, reason="BeginTime")))
    assert [data.get("kind") for _, data in events] == ["requeued", "waits", None]
    log.apply(polled(30, replace(running("1", 25), restarts=1)))
    assert log.bars() == {(0, 0, 5 * S, 20 * S, 2, -1), (0, 0, 25 * S, MAX_INT, 2, -1)}
    assert log.mirror.jobs[0].attempts[0].ended_after_ms == at(10), "its end was between the two polls"


def test_a_node_failure_gives_the_job_a_new_submit_time():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(20, job("1", submitted_ms=at(15), restarts=1)))
    assert len(log.mirror.jobs) == 1


def test_a_key_that_is_used_again_is_another_job():
    log = Log()
    log.apply(polled(10, ended(running("1", 5), 9)))
    log.apply(polled(50, job("1", submitted_ms=at(40))))
    assert [known.name for known in log.mirror.jobs] == ["1", "1~2"]
    log.write(log.mirror.restate([replace(ended(running("1", 5), 8), complete_history=True)]))
    assert log.bars() == {(0, 0, 5 * S, 8 * S, 2, -1)}, "what is known later of the first one changes the first one"


def test_a_job_that_waited_again_or_outlived_its_last_attempt_ends_when_the_cluster_says_so():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.apply(polled(20, job("1", WAITING, restarts=1)))
    cancelled = job("1", ENDED, outcome="cancelled", ended_ms=at(31), restarts=1)
    events = log.apply(polled(32, cancelled))
    assert events[-1] == ("job_completed", {"job": 0, "utility": 0.0, "ended_ms": 31 * S})
    assert log.mirror.jobs[0].ended_ms == at(31)
    assert bars(log) == [(0, 5 * S, 20 * S)]


def test_suspensions_that_free_the_cpus_divide_the_bar():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    idle = replace(suspended(running("1", 5)), frees_cpus=True)
    assert kinds(log.apply(polled(12, idle))) == ["decided", "plan_changed"]
    assert bars(log) == [(0, 5 * S, 12 * S), (3, 12 * S, MAX_INT)]
    assert log.apply(polled(13, idle)) == [], "repeating a poll gives no events"
    log.apply(polled(20, running("1", 5)))
    assert log.apply(polled(21, running("1", 5))) == []
    log.apply(polled(30, idle))
    log.apply(polled(40, ended(running("1", 5), 38)))
    assert bars(log) == [
        (0, 5 * S, 12 * S), (3, 12 * S, 20 * S), (0, 20 * S, 30 * S), (3, 30 * S, 38 * S)
    ], "suspended when it ended"  # fmt: skip


def bars(log):
    """(role, start, end) of the bars of the newest plan of the only job."""
    plan = [event.data for event in log.events if event.kind == "plan_changed"][-1]
    return [(bar.role, bar.start_ms, bar.end_ms) for bar in plan["bars"]]


def test_suspended_jobs_keep_their_bar_and_say_so():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    assert [data["kind"] for _, data in log.apply(polled(12, suspended(running("1", 5))))] == ["suspended"]
    assert [data["kind"] for _, data in log.apply(polled(14, running("1", 5)))] == ["resumed"]


def test_suspensions_are_written_by_the_times_that_the_cluster_states():
    log = Log()
    log.apply(polled(10, running("1", 5, suspensions=())))
    late = replace(suspended(running("1", 5)), suspensions=((at(7), None),))
    events = log.apply(polled(12, late))
    assert (kinds(events), events[-1][1]) == (["decided", "suspensions_set"], {"job": 0, "spans": [[7 * S, -1]]})
    over = running("1", 5, suspensions=((at(7), at(9)),))
    assert log.apply(polled(14, over))[-1] == ("suspensions_set", {"job": 0, "spans": [[7 * S, 9 * S]]})
    assert log.apply(polled(15, over)) == []
    both = running("1", 5, suspensions=((at(6), at(6) + 500), (at(7), at(9))))
    assert log.apply(polled(16, both)) == [
        ("suspensions_set", {"job": 0, "spans": [[6 * S, 6 * S + 500], [7 * S, 9 * S]]})
    ], "an earlier one that came late, of a job that runs"
    assert RunState().feed(log.events).suspensions == {0: [[6 * S, 6 * S + 500], [7 * S, 9 * S]]}


def test_a_job_that_does_not_state_where_it_runs_runs():
    log = Log()
    log.apply(polled(10, job("1", RUNNING, attempts=(Attempt(at(5), None, ()),)), job("2")))
    state = RunState().feed(log.events)
    assert [STATES[code] for code in job_states(state, 10 * S)] == ["running", "queued"]
    assert [STATES[code] for code in job_states(state, 4 * S)] == ["queued", "queued"]
    late = replace(
        job("1", ENDED, outcome="completed", ended_ms=at(15)), attempts=(Attempt(at(5), at(15), (), "completed"),)
    )
    log.apply(polled(20, late, job("2")))
    state = RunState().feed(log.events)
    assert state.jobs.rows[0, 2:5].tolist() == [5 * S, 15 * S, 15 * S]
    assert [STATES[job_states(state, ms * S)[0]] for ms in (14, 15)] == ["running", "completed"]


def test_gpu_indices_come_later_and_stay():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    assert log.mirror.undetailed() == [("1", at(5))]
    log.write(log.mirror.restate([running("1", 5, gpu_ids=(1, 3))]))
    assert log.bars() == {(0, 0, 5 * S, MAX_INT, 1, 1), (0, 0, 5 * S, MAX_INT, 1, 3)}
    assert log.mirror.undetailed() == []
    assert log.apply(polled(11, running("1", 5))) == [], "a poll without them withdraws nothing"


def test_a_job_on_two_nodes_that_holds_more_cpus_than_it_asked_for():
    log = Log()
    log.apply(polled(1, job("1", gpus=3)))
    shares = (Share("edge1", gpus=2, cpus=4, memory_mb=8_000), Share("cloud1", gpus=1, cpus=2, memory_mb=4_000))
    events = log.apply(polled(3, job("1", RUNNING, gpus=3, attempts=(Attempt(at(2), None, shares),))))
    assert kinds(events) == ["job_set", "decided", "plan_changed"]
    assert events[0][1]["fields"]["worker"] == (1_000, 2_000, 4_194, 0, 0)
    assert log.bars() == {(0, 0, 2 * S, MAX_INT, 2, -1), (0, 1, 2 * S, MAX_INT, 1, -1)}


def test_a_job_without_gpus_is_counted_in_cpus():
    log = Log()
    share = Share("edge1", cpus=6, memory_mb=6_000)
    log.apply(polled(3, job("1", RUNNING, gpus=0, attempts=(Attempt(at(2), None, (share,)),))))
    assert log.bars() == {(0, 0, 2 * S, MAX_INT, 6, -1)}
    assert log.events[2].data["fields"]["worker"] == (0, 1_000, 1_048, 0, 0)


def test_nodes_drain_fail_and_return():
    log = Log()
    edge, cloud = NODES
    log.apply(polled(1))
    events = log.apply(polled(2, nodes=(replace(edge, state=DRAINING, reason="disk"), cloud)))
    assert kinds(events) == ["server_set"]
    assert (events[0][1]["state"], events[0][1]["reason"]) == ("draining", "disk")
    events = log.apply(polled(3, nodes=(replace(edge, state=DOWN), cloud)))
    assert kinds(events) == ["server_set", "server_changed"]
    assert events[0][1]["fields"]["away"] == ((3 * S, MAX_INT),)
    events = log.apply(polled(9, nodes=NODES))
    assert events[0][1]["fields"]["away"] == ((3 * S, 9 * S),)
    events = log.apply(polled(10, nodes=(edge,)))
    assert events[0][1]["reason"] == "the cluster no longer has this node"


def test_a_node_that_is_seen_after_its_job():
    log = Log()
    log.apply(polled(3, running("1", 2, node="new1")))
    assert log.bars() == set()
    log.apply(polled(4, running("1", 2, node="new1"), nodes=(*NODES, NodeFact("new1", gpus=4))))
    assert log.bars() == {(0, 2, 2 * S, MAX_INT, 2, -1)}


def test_what_ran_before_the_log_begins_is_cut_at_its_beginning():
    mirror = Mirror(EPOCH)
    events = mirror.apply(
        polled(5, running("1", -50, submitted_ms=at(-60)), ended(running("2", -40, submitted_ms=at(-60)), -20))
    )
    bars = [data["bars"] for kind, data in events if kind == "plan_changed"]
    assert [(bar.start_ms, bar.end_ms) for bar in bars[0]] == [(0, MAX_INT)]
    assert bars[1] == [], "before the log"


def test_an_answer_that_is_older_than_the_newest_tells_nothing():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    assert log.apply(polled(4, job("1"))) == []
    assert log.mirror.log_ms == 10 * S


def test_an_attempt_that_begins_in_the_future_has_not_begun():
    log = Log()
    log.apply(polled(10, job("1", WAITING, attempts=(attempt(70),), restarts=1)))
    assert log.bars() == set()


def test_hostile_keys_become_names():
    log = Log()
    log.apply(polled(1, job("a,b\nc d"), job("x" * 300)))
    assert [known.name for known in log.mirror.jobs] == ["a_b_c_d", "x" * 180]


def test_the_log_begins_before_every_job_that_it_shows():
    """A job that had ended when it was first seen keeps its times, also where it is the oldest."""
    old = ended(running("1", -10_000, submitted_ms=at(-10_060)), -60)
    first = polled(0, old, running("2", -600, submitted_ms=at(-600)), job("3", submitted_ms=0))
    mirror = Mirror(epoch_of(first))
    log = [data for kind, data in mirror.apply(first) if kind in ("job_arrived", "job_completed") and data["job"] == 0]
    assert log[1]["ended_ms"] - log[0]["submitted_ms"] == 10_000_000
    assert 0 <= log[0]["submitted_ms"] < 3_600_000


def test_the_start_of_a_job_that_has_one_attempt_only_is_restated():
    log = Log()
    log.apply(polled(1, replace(running("pod", 0), complete_history=True)))
    log.apply(polled(5, replace(running("pod", 3), complete_history=True)))
    assert {start for _, _, start, *_ in log.bars()} == {3 * S}


def test_an_outage_is_stated_from_the_time_of_the_cluster_on():
    """A cluster says at second 300 that the node has been down since 60, and at 400 since 30; at 500 up since 450."""
    log = Log()
    log.apply(polled(0))
    base = log.mirror.epoch_ms

    def said(second: int, since: int, state: str) -> list[EventData]:
        return log.apply(polled(second, nodes=(NODES[0], replace(NODES[1], state=state, since_ms=at(since)))))

    assert said(300, 60, DOWN)[-1] == ("server_changed", {"server": 1, "away": True, "since_ms": at(60) - base})
    assert log.mirror.nodes["cloud1"].away == ((at(60) - base, MAX_INT),)
    [(kind, data)] = said(400, 30, DOWN)
    assert (kind, data["fields"]["away"]) == ("server_set", ((at(30) - base, MAX_INT),))
    assert said(500, 450, UP)[-1] == ("server_changed", {"server": 1, "away": False, "since_ms": at(450) - base})
    [(kind, data)] = said(510, 440, UP)
    assert data["fields"]["away"] == ((at(30) - base, at(440) - base),)
    said(520, 470, DOWN)
    said(530, 20, DOWN)
    assert log.mirror.nodes["cloud1"].away[-1] == (at(440) - base + 1, MAX_INT), "not before the end of the one before"
    said(600, 700, UP)
    assert log.mirror.nodes["cloud1"].away[-1][1] == at(600) - base, "clocks may differ: nothing is stated ahead"
