"""Facts as JSON and back, and the replay of recordings."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.connectors import base, facts, recording
from twin.connectors.facts import Attempt, ConnectorError, JobFact, NodeFact, Share, Snapshot
from twin.connectors.facts_json import dumps, loads

numbers, texts = st.integers(0, 2**53), st.text(max_size=8)
optional = st.none() | numbers
shares = st.builds(Share, texts, numbers, numbers, numbers, st.lists(numbers, max_size=3).map(tuple))
attempts = st.builds(Attempt, numbers, optional, st.lists(shares, max_size=2).map(tuple), texts, optional)
jobs = st.builds(
    JobFact, texts, numbers, st.sampled_from(facts.JOB_STATES), reason=texts,
    outcome=st.sampled_from(["", *facts.OUTCOMES]), restarts=numbers,
    attempts=st.lists(attempts, max_size=2).map(tuple), complete_history=st.booleans(), nodes=numbers,
    limit_ms=optional, queue=texts, user=texts, gang=st.none() | texts, priority=optional, depends_on=texts,
    ended_ms=optional,
)  # fmt: skip
nodes = st.builds(
    NodeFact, texts, st.sampled_from(facts.NODE_STATES), texts, numbers, queues=st.lists(texts, max_size=2).map(tuple),
    labels=st.dictionaries(texts, texts, max_size=2),
)  # fmt: skip
polls = st.builds(
    Snapshot, numbers, st.lists(jobs, max_size=3).map(tuple), st.none() | st.lists(nodes, max_size=2).map(tuple),
    complete=st.booleans(), partial=st.booleans(), why=texts, calls=st.dictionaries(texts, numbers, max_size=2),
)  # fmt: skip


@given(polls)
def test_a_look_is_the_same_after_json(snapshot):
    line = dumps(snapshot)
    assert b"\n" not in line
    assert loads(Snapshot, line) == snapshot


def test_a_line_that_is_no_look_is_refused_with_its_field():
    with pytest.raises(ConnectorError, match=r"not a Snapshot in JSON: Expected `int`, got `str` - at `\$.at_ms`"):
        loads(Snapshot, '{"at_ms": "now"}')
    with pytest.raises(ConnectorError, match="job a: state must be one of waiting, held"):
        loads(JobFact, '{"key": "a", "submitted_ms": 1, "state": "lost"}')


WAITING = Snapshot(1_000, (JobFact("1", 900, "waiting"),), (NodeFact("n"),))
STARTED = Snapshot(3_000, (JobFact("1", 900, "running"),), partial=True)
ENDED = Snapshot(61_000, (JobFact("1", 900, "ended", outcome="completed", ended_ms=60_000),))


@pytest.fixture
def tape(tmp_path):
    written = io.BytesIO()
    for snapshot in (WAITING, STARTED, ENDED):
        recording.recorder(written)(snapshot)
    (tmp_path / "lab.jsonl").write_bytes(written.getvalue())
    return tmp_path


@pytest.mark.parametrize("name", ["lab.jsonl", ""])
def test_a_recording_is_played_as_it_was(tape, name):
    player = base.build("replay", {"path": str(tape / name), "speed": "0"})
    assert player.check().findings[0].message == "3 polls over 60 s"
    assert player.snapshot() == WAITING
    stream = player.changes()
    assert [next(stream), next(stream)] == [STARTED, ENDED]
    assert player.snapshot() == ENDED
    player.close()
    assert list(stream) == []


def test_a_long_pause_has_signs_of_life(tape, monkeypatch):
    """2 s, then 58 s, at ten times the pace."""
    waited = []
    player = base.build("replay", {"path": str(tape), "speed": "10"})
    monkeypatch.setattr(player.closed, "wait", lambda s: waited.append(s) or False)
    stream = player.changes()
    assert [next(stream) for _ in range(3)] == [STARTED, Snapshot(3_000, partial=True), ENDED]
    assert waited == pytest.approx([0.2, 5.0, 0.8])


def test_a_recording_that_cannot_be_played(tmp_path):
    def player(path, **given):
        return base.build("replay", {"path": str(path), **given})

    with pytest.raises(ConnectorError, match=r"has no recording: a recording is a file \.jsonl with one poll per line"):
        player(tmp_path).snapshot()
    with pytest.raises(ConnectorError, match="cannot be read: No such file"):
        player(tmp_path / "lab.jsonl").snapshot()
    (tmp_path / "a.jsonl").write_bytes(dumps(STARTED) + b"\n{}\n")
    with pytest.raises(
        ConnectorError, match=r"a.jsonl, line 2: not a Snapshot in JSON: .*missing required field `at_ms`"
    ):
        player(tmp_path).check()
    (tmp_path / "a.jsonl").write_bytes(dumps(STARTED) + b"\n")
    with pytest.raises(ConnectorError, match="has no complete poll with which it could begin"):
        player(tmp_path).snapshot()
    with pytest.raises(ModelError, match="speed"):
        player(tmp_path, speed="-1")
    with pytest.raises(UnknownName, match=r"known: .*push, replay"):
        base.build("replays", {})
