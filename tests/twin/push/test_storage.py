"""Storage of pushed events: order, repetition, compaction, and the connector's end state, whatever arrives when."""

import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.twin.push.builders import NOW, T0, pushed
from twin.connectors import base
from twin.mirror import differ
from twin.models import PushedEvent, PushSnapshot, PushSource
from twin.push import compaction, storage
from twin.push.mirror import KEPT_ENDED_MS, Mirror

pytestmark = pytest.mark.django_db
DAY_MS = 86_400_000


def test_sequence_numbers_are_those_of_the_arrival():
    first, second = pushed("job.submitted", "b", T0 + 5), pushed("job.submitted", "a", T0)
    assert storage.accept("lab", [first, second], NOW) == (2, 2)
    assert storage.accept("lab", [first], NOW) == (0, 2)
    assert storage.accept("prod", [first], NOW) == (1, 1), "of each source"
    assert storage.accept("lab", [first, pushed("job.submitted", "c", T0)], NOW) == (1, 4)
    source = PushSource.objects.get(name="lab")
    assert [(seq, key) for seq, key, _ in storage.after(source.pk, 1, 10)] == [(2, "ja"), (4, "jc")]
    assert storage.cursor("lab") == 4


def test_jobs_are_in_the_order_of_their_submission_and_of_their_numbers():
    submitted = {"job-10": T0, "job-2": T0, "late": T0 + 2, "job-1": T0, "first": T0 - 1, "job": T0}
    storage.accept("lab", [pushed("job.submitted", key, at_ms) for key, at_ms in submitted.items()], NOW)
    found = base.build("push", {"source": "lab"}).snapshot()
    assert [job.key for job in found.jobs] == ["first", "job", "job-1", "job-2", "job-10", "late"]


def test_which_jobs_and_nodes_may_still_be_there():
    storage.accept("lab", [
        pushed("job.submitted", "open", T0), pushed("job.submitted", "over", T0),
        pushed("job.ended", "over", T0 + 1, outcome="failed"), pushed("job.submitted", "again", T0),
        pushed("job.ended", "again", T0 + 1, outcome="failed"), pushed("job.submitted", "again", T0 + 2),
        pushed("node.changed", "n", T0),
    ], NOW)  # fmt: skip
    pk = PushSource.objects.get().pk
    assert sorted(storage.open_keys(pk, NOW + 1)) == ["jagain", "jopen", "nn"]
    assert "jover" in storage.open_keys(pk, NOW), "its end came a moment ago"


def test_old_rows_of_what_has_ended_are_deleted_and_nodes_keep_one():
    end = pushed("job.ended", "over", T0 + 1, outcome="failed")
    storage.accept("lab", [
        pushed("job.submitted", "over", T0), end, pushed("job.submitted", "open", T0),
        pushed("job.submitted", "late", T0), pushed("job.started", "late", T0 + 1),
        pushed("job.started", "never shown", T0 + 1),
        pushed("node.changed", "n", T0, gpus=4, state="down", reason="disk"),
        pushed("node.changed", "n", T0 + 1, state="up"), pushed("node.changed", "gone", T0),
        pushed("node.removed", "gone", T0 + 1),
        pushed("node.changed", "m", T0 + 1, gpus=4, state="down"), pushed("node.changed", "m", T0 + 2, reason="disk"),
        pushed("node.changed", "m", T0 + 3, gpus=2),
    ], NOW)  # fmt: skip
    storage.accept("lab", [pushed("job.ended", "late", T0 + 2, outcome="completed")], NOW + 20 * DAY_MS)
    before = base.build("push", {"source": "lab"}).snapshot()
    assert compaction.compact(NOW + 30 * DAY_MS) == 0
    assert compaction.compact(NOW + 31 * DAY_MS) == 7
    keys = sorted(PushedEvent.objects.values_list("key", flat=True))
    assert keys == ["jlate", "jlate", "jlate", "jopen", "ngone", "nm", "nn"]
    after = base.build("push", {"source": "lab"}).snapshot()
    assert after.nodes == before.nodes
    assert [(node.gpus, node.since_ms) for node in after.nodes] == [(2, T0 + 1), (4, T0 + 1)]
    assert [node.capacity_since_ms for node in after.nodes] == [T0 + 3, None]
    assert [job.key for job in after.jobs if job.state != "ended"] == ["open"]
    assert compaction.compact(NOW + 31 * DAY_MS) == 0


def test_the_newest_snapshot_of_each_kind_is_kept():
    source = storage.locked("lab")
    made = [
        ("a", T0, ["jobs"], True),
        ("b", T0 + 1, ["jobs", "nodes"], True),
        ("c", T0 + 2, ["nodes"], True),
        ("d", T0, ["jobs"], False),
    ]
    for name, at_ms, covers, ended in made:
        PushSnapshot.objects.create(source=source, name=name, at_ms=at_ms, covers=covers, ended=ended)
    compaction.compact(T0 + 31 * DAY_MS)
    assert sorted(PushSnapshot.objects.values_list("name", flat=True)) == ["b", "c"]


@st.composite
def arrivals(draw):
    """Events of two jobs and a node, and the same events in another order, with repetitions, in batches."""
    at = st.integers(T0, T0 + 6)
    outcome = st.sampled_from(["completed", "failed"])
    job = st.sampled_from(["a", "b"])
    events = draw(
        st.lists(
            st.one_of(
                st.builds(lambda j, t: pushed("job.submitted", j, t, gpus=1), job, st.just(T0)),
                st.builds(
                    lambda j, t: pushed("job.started", j, t, submitted_ms=T0, shares=[{"node": "n", "gpus": 1}]),
                    job,
                    at,
                ),
                st.builds(lambda j, t, o: pushed("job.ended", j, t, submitted_ms=T0, outcome=o), job, at, outcome),
                st.builds(lambda j, t: pushed("job.requeued", j, t, submitted_ms=T0), job, at),
                st.builds(
                    lambda j, t, p: pushed("job.changed", j, t, submitted_ms=T0, priority=p), job, at, st.integers(0, 2)
                ),
                st.builds(lambda t, g: pushed("node.changed", "n", t, gpus=g), at, st.integers(1, 4)),
            ),
            min_size=1,
            max_size=12,
        )
    )
    other = draw(st.permutations(events + draw(st.lists(st.sampled_from(events), max_size=4))))
    cuts = sorted(draw(st.lists(st.integers(0, len(other)), max_size=3)))
    return events, [other[a:b] for a, b in zip([0, *cuts], [*cuts, len(other)], strict=True) if a < b]


def late_start():
    """A start that comes after the end of its attempt: the end was taken for that of the attempt before."""
    first, late = (
        pushed("job.started", "b", T0 + t, submitted_ms=T0, shares=[{"node": "n", "gpus": 1}]) for t in (0, 1)
    )
    requeued = pushed("job.requeued", "b", T0 + 2, submitted_ms=T0)
    return [first, late, requeued], [[first, requeued], [late]]


@settings(max_examples=cases(40, 8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrivals())
@example(late_start())
def test_late_repeated_and_reordered_events_end_in_the_same_state(db, both):
    """What the connector shows, and what the differ's picture is after each batch has come as a change of its own."""
    events, batches = both
    now_ms = time.time_ns() // 1_000_000
    PushSource.objects.all().delete()
    storage.accept("whole", events, now_ms)
    whole = base.build("push", {"source": "whole"}).snapshot()
    follower = base.build("push", {"source": "parts"})
    mirror, seen = differ.Mirror(T0), {}
    stream = follower.changes()
    for batch in batches:
        added, _ = storage.accept("parts", batch, now_ms)
        if added:
            snapshot = next(stream)
            mirror.apply(snapshot)
            seen |= {job.key: job for job in snapshot.jobs}
    stream.close()
    assert {job.key: job for job in whole.jobs} == seen
    again = base.build("push", {"source": "parts"}).snapshot()
    assert (sorted(again.jobs, key=lambda job: job.key), again.nodes) == (
        sorted(whole.jobs, key=lambda job: job.key),
        whole.nodes,
    )
    expected = differ.Mirror(T0)
    expected.apply(whole)
    assert pictured(mirror) == pictured(expected)


def test_a_node_that_is_draining_is_drained_once_no_job_is_on_it(db):
    """Without a further event about the node: the end of its last job empties it."""
    now_ms = time.time_ns() // 1_000_000
    on_n1 = [{"node": "n1", "gpus": 1}]
    batches = [
        [pushed("node.changed", "n1", T0, gpus=2), pushed("node.changed", "n2", T0, gpus=2)],
        [pushed("job.submitted", "a", T0 + 1, gpus=1), pushed("job.started", "a", T0 + 2, shares=on_n1)],
        [pushed("node.changed", "n1", T0 + 3, state="draining", reason="memory")],
        [pushed("job.ended", "a", T0 + 4, outcome="completed")],
        [pushed("node.changed", "n1", T0 + 5, state="up")],
    ]
    stream, found = base.build("push", {"source": "lab"}).changes(), []
    for batch in batches:
        storage.accept("lab", batch, now_ms)
        nodes = next(stream).nodes
        found.append(None if nodes is None else {node.name: node.state for node in nodes})
        whole = base.build("push", {"source": "lab"}).snapshot().nodes
        assert nodes is None or list(nodes) == list(whole)
    stream.close()
    assert found == [
        {"n1": "up", "n2": "up"},
        None,
        {"n1": "draining", "n2": "up"},
        {"n1": "drained", "n2": "up"},
        {"n1": "up", "n2": "up"},
    ]


def test_a_drained_node_is_unavailable_since_its_last_job_ended_or_its_drain_if_that_is_later(db, monkeypatch):
    """Whenever the events are posted: n1 empties after its drain, n2 before, n3 never had a job."""
    monkeypatch.setattr("twin.connectors.push._now_ms", lambda: NOW)
    at_ms = NOW - 1_000_000
    events = [pushed("node.changed", name, at_ms, gpus=2) for name in ("n1", "n2", "n3")]
    for key, name, end_ms in (("a", "n1", 5), ("b", "n1", 9), ("c", "n2", 2)):
        shares = [{"node": name, "gpus": 1}]
        events += [pushed("job.submitted", key, at_ms), pushed("job.started", key, at_ms + 1, shares=shares)]
        events.append(pushed("job.ended", key, at_ms + end_ms, outcome="completed"))
    events += [pushed("node.changed", name, at_ms + 3, state="draining") for name in ("n1", "n2", "n3")]
    expected = {"n1": ("drained", at_ms + 9), "n2": ("drained", at_ms + 3), "n3": ("drained", at_ms + 3)}
    stream = base.build("push", {"source": "lab"}).changes()
    for each in events:
        storage.accept("lab", [each], NOW)
        nodes = next(stream).nodes
    assert {node.name: (node.state, node.since_ms) for node in nodes} == expected
    storage.accept("late", list(reversed(events)), NOW)
    whole = base.build("push", {"source": "late"}).snapshot().nodes
    assert {node.name: (node.state, node.since_ms) for node in whole} == expected
    stream.close()


def test_a_job_that_was_forgotten_still_counts_for_its_node_and_an_old_drain_alone_does_not(db):
    """Of a node that was drained long ago nobody knows which jobs have ended there since."""
    now_ms = time.time_ns() // 1_000_000
    storage.accept("lab", [
        pushed("node.changed", "n1", T0, gpus=2), pushed("node.changed", "n1", T0 + 2, state="draining"),
        pushed("node.changed", "n2", T0, gpus=2, state="draining"), pushed("node.changed", "n2", T0 + 1, gpus=1),
        pushed("job.submitted", "a", T0), pushed("job.started", "a", T0, shares=[{"node": "n1", "gpus": 1}]),
        pushed("job.ended", "a", T0 + 4, outcome="completed"),
    ], now_ms)  # fmt: skip
    mirror = Mirror(PushSource.objects.get(), now_ms)
    for _ in range(2):
        assert {node.name: node.since_ms for node in mirror.nodes()} == {"n1": T0 + 4, "n2": None}
        mirror.forget_ended(now_ms + 2 * KEPT_ENDED_MS)
    assert "ja" not in mirror.events


def pictured(mirror):
    return {known.fact.key: (known.fact, known.attempts) for known in mirror.jobs}
