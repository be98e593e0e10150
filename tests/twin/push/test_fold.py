"""The fold of pushed events: worked examples, and that the order of arrival does not matter."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.twin.push.builders import T0, event
from twin.connectors.facts import Attempt, JobFact, NodeFact, Share
from twin.push import fold

NODE = [{"node": "a", "gpus": 2, "gpu_ids": [0, 1]}]
SHARE = (Share("a", 2, gpu_ids=(0, 1)),)
SUBMITTED = event("job.submitted", T0, gpus=2, queue="edge", limit_ms=60_000)
STARTED = event("job.started", T0 + 10, shares=NODE)


def job(*events, snapshots=()):
    (found,) = fold.jobs("x", events, snapshots)
    return found


def test_a_job_from_its_submission_to_its_end():
    waiting = JobFact("x", T0, "waiting", gpus=2, queue="edge", limit_ms=60_000, complete_history=True, suspensions=())
    assert job(SUBMITTED) == waiting
    running = replace(waiting, state="running", attempts=(Attempt(T0 + 10, None, SHARE),))
    assert job(SUBMITTED, STARTED) == running
    ended = job(SUBMITTED, STARTED, event("job.ended", T0 + 30, outcome="failed"))
    assert ended == replace(
        running,
        state="ended",
        outcome="failed",
        ended_ms=T0 + 30,
        attempts=(Attempt(T0 + 10, T0 + 30, SHARE, "failed"),),
    )


def test_hold_and_release_and_suspension():
    held = event("job.held", T0 + 1, reason="JobHeldUser")
    assert (job(SUBMITTED, held).state, job(SUBMITTED, held).reason) == ("held", "JobHeldUser")
    free = job(SUBMITTED, held, event("job.released", T0 + 2))
    assert (free.state, free.reason) == ("waiting", "")
    suspended = event("job.suspended", T0 + 20)
    assert job(SUBMITTED, STARTED, suspended).state == "suspended"
    assert job(SUBMITTED, STARTED, suspended, event("job.resumed", T0 + 21)).state == "running"
    assert job(SUBMITTED, suspended).state == "waiting", "it did not run"


def test_suspensions_begin_and_end_when_they_happened():
    suspended, resumed = event("job.suspended", T0 + 20), event("job.resumed", T0 + 25)
    assert job(SUBMITTED, STARTED).suspensions == ()
    assert job(SUBMITTED, STARTED, suspended).suspensions == ((T0 + 20, None),)
    assert job(SUBMITTED, STARTED, resumed, suspended).suspensions == ((T0 + 20, T0 + 25),)
    again = event("job.suspended", T0 + 30)
    ended = event("job.stated", T0 + 50, state="ended", outcome="failed", ended_ms=T0 + 40)
    assert job(SUBMITTED, STARTED, suspended, resumed, again, ended).suspensions == (
        (T0 + 20, T0 + 25), (T0 + 30, T0 + 40),
    )  # fmt: skip
    assert job(SUBMITTED, STARTED, suspended, snapshots=[T0 + 60]).suspensions == ((T0 + 20, T0 + 60),)
    assert job(SUBMITTED, STARTED, suspended, event("job.requeued", T0 + 20)).suspensions == (), "it lasted no time"


def test_a_requeued_job_has_two_attempts():
    again = job(
        SUBMITTED,
        STARTED,
        event("job.requeued", T0 + 20, outcome="preempted"),
        event("job.started", T0 + 25, shares=NODE),
    )
    assert again.restarts == 1
    assert again.attempts == (Attempt(T0 + 10, T0 + 20, SHARE, "preempted"), Attempt(T0 + 25, None, SHARE))


def test_an_end_that_was_not_reported_lies_between_two_events():
    again = job(SUBMITTED, STARTED, event("job.started", T0 + 25, shares=NODE))
    assert again.attempts[0] == Attempt(T0 + 10, T0 + 25, SHARE, "requeued", ended_after_ms=T0 + 10)
    assert (again.restarts, again.state) == (1, "running")


def test_the_newest_statement_of_a_field_holds():
    changed = event("job.changed", T0 + 5, priority=7, limit_ms=None)
    late = event("job.changed", T0 + 2, priority=3, user="ada")
    found = job(SUBMITTED, changed, late)
    assert (found.priority, found.limit_ms, found.user, found.gpus) == (7, None, "ada", 2)


def test_a_job_is_shown_from_the_moment_its_submission_is_known():
    assert fold.jobs("x", [STARTED]) == []
    assert job(STARTED, event("job.changed", T0 + 11, submitted_ms=T0 - 5)).submitted_ms == T0 - 5


def test_a_key_used_twice_is_two_jobs():
    again = event("job.submitted", T0 + 1_000)
    first_end, second_start = event("job.ended", T0 + 30, outcome="completed"), event("job.started", T0 + 1_001)
    first, second = fold.jobs("x", [second_start, again, SUBMITTED, STARTED, first_end])
    assert (first.submitted_ms, first.state, first.ended_ms) == (T0, "ended", T0 + 30)
    assert (second.submitted_ms, second.state, len(second.attempts)) == (T0 + 1_000, "running", 1)
    late = event("job.ended", T0 + 2_000, outcome="failed", submitted_ms=T0)
    assert fold.jobs("x", [SUBMITTED, again, late])[0].outcome == "failed", "the event says whose it is"


def test_a_job_without_an_event_since_a_snapshot_is_gone():
    gone = job(SUBMITTED, STARTED, snapshots=[T0 + 5, T0 + 50, T0 + 90])
    assert (gone.state, gone.outcome, gone.ended_ms) == ("ended", "lost", T0 + 50)
    assert gone.attempts == (Attempt(T0 + 10, T0 + 50, SHARE, "lost", ended_after_ms=T0 + 10),)
    stated = event("job.stated", T0 + 50, state="running", attempts=[{"started_ms": T0 + 10, "shares": NODE}])
    assert job(SUBMITTED, STARTED, stated, snapshots=[T0 + 50]).state == "running"
    end = event("job.ended", T0 + 40, outcome="completed")
    assert job(SUBMITTED, STARTED, end, snapshots=[T0 + 50]).outcome == "completed", "a late end is the truth"


def test_a_statement_replaces_what_was_known():
    record = event(
        "job.stated", T0 + 60, state="ended", outcome="completed", ended_ms=T0 + 55, complete_history=True, restarts=1,
        attempts=[{"started_ms": T0 + 9, "ended_ms": T0 + 20, "outcome": "node_fail"},
                  {"started_ms": T0 + 30, "ended_ms": T0 + 55, "outcome": "completed"}],
    )  # fmt: skip
    found = job(SUBMITTED, STARTED, record)
    assert [attempt.started_ms for attempt in found.attempts] == [T0 + 9, T0 + 30]
    assert (found.restarts, found.ended_ms, found.complete_history) == (1, T0 + 55, True)


def test_a_statement_that_it_runs_elsewhere_ends_the_execution_before():
    stated = event("job.stated", T0 + 50, state="running", attempts=[{"started_ms": T0 + 40}])
    first, second = job(SUBMITTED, STARTED, stated).attempts
    assert first == Attempt(T0 + 10, T0 + 40, SHARE, "requeued", ended_after_ms=T0 + 10)
    assert second == Attempt(T0 + 40, None, ())


def test_an_attempt_without_amounts_keeps_what_the_job_asked_for_before_it_was_requeued():
    fields = {"submitted_ms": T0, "gpus": 4, "cpus": 4}
    first = event("job.started", T0 + 10, shares=[{"node": "edge1"}])
    requeued, changed = event("job.requeued", T0 + 20, outcome="preempted"), event("job.changed", T0 + 25, gpus=1)
    then = event("job.started", T0 + 30, shares=[{"node": "edge1"}])
    found = job(event("job.submitted", T0, **fields), first, requeued, changed, then)
    assert [attempt.shares for attempt in found.attempts] == [(Share("edge1", 4, 4),), (Share("edge1", 1, 4),)]
    waits = job(event("job.submitted", T0, **fields), first, requeued, changed)
    assert (waits.gpus, [attempt.shares for attempt in waits.attempts]) == (1, [(Share("edge1", 4, 4),)])
    late = event("job.ended", T0 + 40, outcome="completed", gpus=2)
    last = job(event("job.submitted", T0, **fields), first, late).attempts[-1]
    assert last.shares == (Share("edge1", 2, 4),), "the newest statement counts for the last one"


def test_a_node_is_unavailable_since_the_event_that_says_so():
    up = event("node.changed", T0, gpus=4)
    down, drained = event("node.changed", T0 + 5, state="down"), event("node.changed", T0 + 7, state="drained")
    assert fold.node("x", [up]).since_ms is None
    assert fold.node("x", [event("node.changed", T0 + 8, gpus=2), drained, down, up]).since_ms == T0 + 5
    draining = event("node.changed", T0 + 9, state="draining")
    assert fold.node("x", [up, down, draining]).since_ms == T0 + 9
    assert fold.node("x", [up, draining, event("node.changed", T0 + 12, state="up")]).since_ms == T0 + 12


def test_a_node_that_comes_back_was_unavailable_until_then():
    up, down = event("node.changed", T0, gpus=4), event("node.changed", T0 + 5, state="down")
    removed, back = event("node.removed", T0 + 7), event("node.changed", T0 + 20, gpus=4, state="up")
    assert fold.node("x", [up, down, removed, back]).since_ms == T0 + 20
    assert fold.node("x", [up, removed, event("node.changed", T0 + 20, gpus=4)]).since_ms == T0 + 20
    assert fold.node("x", [up, removed, event("node.changed", T0 + 20, gpus=4, state="down")]).since_ms == T0 + 7


def test_a_node_has_its_capacity_since_the_event_that_states_it():
    first, state = event("node.changed", T0, gpus=4, cpus=8), event("node.changed", T0 + 9, state="draining")
    six, back = event("node.changed", T0 + 5, gpus=6, cpus=8), event("node.changed", T0 + 7, gpus=4)
    assert fold.node("x", [first, state]).capacity_since_ms is None
    assert fold.node("x", [first, state, six]).capacity_since_ms == T0 + 5
    assert fold.node("x", [first, back, six]).capacity_since_ms == T0 + 7
    removed, again = event("node.removed", T0 + 6), event("node.changed", T0 + 8, gpus=6)
    assert fold.node("x", [first, six, removed, again]).capacity_since_ms == T0 + 8, "it has no CPUs any more"
    assert fold.node("x", [first, removed, event("node.changed", T0 + 8, gpus=4, cpus=8)]).capacity_since_ms is None


def test_a_node_from_what_is_stated_of_it():
    first = event("node.changed", T0, gpus=4, labels={"site": "edge"}, queues=["short"])
    drain = event("node.changed", T0 + 5, state="draining", reason="disk")
    assert fold.node("x", [drain, first]) == NodeFact(
        "x", "draining", "disk", 4, queues=("short",), labels={"site": "edge"}, since_ms=T0 + 5
    )
    back = event("node.changed", T0 + 9, state="up")
    assert fold.node("x", [first, drain, back]).reason == ""
    assert fold.node("x", [first, event("node.removed", T0 + 9)]) is None
    assert fold.node("x", [first], snapshots=[T0 + 1]) is None
    assert fold.node("x", [first, drain], snapshots=[T0 + 5]) is not None


def times():
    return st.integers(T0, T0 + 8)


def events_of_a_job():
    outcome = st.sampled_from(["completed", "failed", "preempted"])
    plain = st.sampled_from(
        ["job.submitted", "job.held", "job.released", "job.suspended", "job.resumed", "job.changed"]
    )
    shares = st.sampled_from([[], NODE, [{"node": "b", "gpus": 1}]])
    return st.one_of(
        st.builds(event, plain, times()),
        st.builds(lambda at, n: event("job.changed", at, priority=n), times(), st.integers(0, 3)),
        st.builds(lambda at, s: event("job.started", at, shares=s), times(), shares),
        st.builds(lambda at, o: event("job.requeued", at, outcome=o), times(), outcome),
        st.builds(lambda at, o, s: event("job.ended", at, outcome=o, submitted_ms=s), times(), outcome, times()),
        st.builds(
            lambda at, state, began: event("job.stated", at, state=state, attempts=[{"started_ms": began}]),
            times(),
            st.sampled_from(["waiting", "running", "ended"]),
            times(),
        ),
    )


@settings(max_examples=cases(150, 20))
@given(
    st.lists(events_of_a_job(), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
    st.lists(times(), max_size=2),
)
def test_any_order_and_any_repetition_end_in_the_same_jobs(events, random, snapshots):
    snapshots = sorted(snapshots)
    expected = fold.jobs("x", events, snapshots)
    other = events + random.choices(events, k=5)
    random.shuffle(other)
    assert fold.jobs("x", other, snapshots) == expected
    for found in expected:
        borders = [at for span in found.suspensions for at in span if at is not None]
        assert borders == sorted(set(borders)) or (len(found.suspensions) > 1 and borders == sorted(borders))
        assert (found.state == "suspended") == (None in [end for _, end in found.suspensions])
        assert all(a.ended_ms is not None for a in found.attempts) or found.state in ("running", "suspended")
        assert all(a.ended_ms is None or a.ended_ms >= a.started_ms for a in found.attempts)
        assert all(a.ended_after_ms is None or a.started_ms <= a.ended_after_ms <= a.ended_ms for a in found.attempts)
        assert (found.ended_ms is not None) == (found.state == "ended")
