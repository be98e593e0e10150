"""Laws of samples: repeated, lost and reordered answers fold to the same newest samples."""

from hypothesis import given
from hypothesis import strategies as st

from scheduling.model.values import Event
from tests.twin.mirror.builders import EPOCH, at, polled
from twin.connectors.facts import NodeFact
from twin.eventlog.batch_codec import decode, encode
from twin.eventlog.fold import RunState
from twin.mirror.differ import Mirror
from twin.mirror.uses import Uses
from twin.samplers.facts import NodeUse, Sample

NAMES = ("a", "b", "c", "stranger")
NODES = tuple(NodeFact(name, gpus=4, cpus=8, memory_mb=16_000) for name in NAMES[:3])


@st.composite
def answers(draw) -> list[Sample]:
    """Answers in the order of the source's clock; each names some nodes, some of them again with an old sample."""
    second, out = 600, []
    for _ in range(draw(st.integers(1, 6))):
        second += draw(st.integers(1, 120))
        names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
        ages = [draw(st.integers(0, min(400, second - 1))) for _ in names]
        # one moment of a node has one value, whichever answer states it
        uses = [NodeUse(name, at(second - age), memory_mb=second - age) for name, age in zip(names, ages, strict=True)]
        out.append(Sample(at(second), tuple(uses)))
    return out


def logged(taken: list[Sample]) -> list[Event]:
    """The log that a mirror writes which takes these answers; the clock of the cluster is the source's."""
    mirror, uses, events = Mirror(EPOCH), Uses(60_000), []
    mirror.apply(polled(1, nodes=NODES))
    for sample in taken:
        mirror.at_ms = max(mirror.at_ms, sample.now_ms)
        mirror.log_ms = mirror.at_ms - EPOCH
        for kind, data in uses.take(sample, mirror):
            events.append(Event(len(events) + 1, mirror.log_ms, kind, data))
    return events


def newest(events: list[Event]) -> list[list[int]]:
    return RunState().feed(events).samples.rows.tolist()


@given(answers(), st.data())
def test_repeated_answers_change_nothing(given_answers, data):
    once = logged(given_answers)
    repeated = [each for sample in given_answers for each in [sample] * data.draw(st.integers(1, 3))]
    assert logged(repeated) == once


@given(answers(), st.data())
def test_after_any_order_and_loss_the_newest_reported_counts(given_answers, data):
    kept = data.draw(st.lists(st.sampled_from(given_answers), min_size=1))  # repeated, reordered, lost
    in_order = sorted(kept, key=lambda sample: sample.now_ms)
    fold, ordered = newest(logged(kept)), newest(logged(in_order))
    index = {node.name: i for i, node in enumerate(NODES)}
    now_ms = in_order[-1].now_ms
    for name, i in index.items():
        times = [u.at_ms for sample in kept for u in sample.uses if u.node == name and now_ms - u.at_ms <= 180_000]
        if times:  # what counts at the end
            reported = [rows[i][0] + EPOCH for rows in (fold, ordered)]
            assert reported == [max(times), max(times)]
            assert fold[i] == ordered[i]


@given(answers())
def test_time_never_runs_backwards_and_the_log_survives_its_bytes(given_answers):
    events = logged(given_answers)
    seen: dict[int, int] = {}
    for event in events:
        assert all(row[1] <= event.at_ms for row in event.data["rows"])
        for server, at_ms, *_ in event.data["rows"]:
            assert at_ms > seen.get(server, -1)
            seen[server] = at_ms
    if events:
        assert decode(encode(events)) == events
