"""Every scheduler hands over to every one of another execution model: kernel, log, snapshot and verifier agree."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import orjson
import pytest

from scheduling.kernel.registry import schedulers
from scheduling.model.bars import END, GROUP, SERVER, START, WORKER_SLOT
from tests.twin.scenarios.builders_phases import scenario_state, staged
from twin.analysis import verification
from twin.eventlog.batch_codec import decode, encode
from twin.eventlog.fold import DIED, NEVER, RunState, snapshot
from twin.files.outputs import event_line
from twin.infra.columns import pack
from twin.scenarios.store import played

H = 3_600_000
AT_MS = 24 * H  # four of eight jobs have come, and some of them run under every scheduler
MOMENTS = (AT_MS - 1, AT_MS, AT_MS + 12 * H, 1 << 50)
BATCHES = (1, 7, 1000)  # events in a batch of the log
MODEL = {name: cls.model.name for name, cls in schedulers().items()}
OF_SCHEDULER = {"gavel": {"round_min": 60}}  # of an hour, as the slots: not ten rounds in each
PAIRS = [(one, other) for one, other in permutations(MODEL, 2) if MODEL[one] != MODEL[other]]


def own(bars):
    """{model: [bar] whether it is of a form that its ledger takes}"""
    placed = bars[:, SERVER] >= 0
    return {
        "slotted": placed & (bars[:, WORKER_SLOT] < 0) & (bars[:, GROUP] < 0),
        "typed_workers": (bars[:, GROUP] < 0) & ((bars[:, WORKER_SLOT] >= 0) | (bars[:, SERVER] == -2)),
        "colocation": (bars[:, GROUP] >= 0) & ~placed,
    }


def handed_over(first, then, servers=5):
    base = scenario_state("pd-ors", first, 2, jobs=8, servers=servers)
    parameters = scenario_state("pd-ors", then, 2, jobs=8, servers=servers).parameters | OF_SCHEDULER.get(then, {})
    text = " ".join(f"{key}={value}" for key, value in parameters.items())
    return staged(base, [{"verb": "change_scheduler", "scheduler": then, "parameters": text, "at_ms": AT_MS}])


def problems_of(stages, events):
    return verification.problems_of(verification.rows_of(stages), stages, events)


def state_at(events, at_ms):
    """The snapshot that a browser gets at that moment, as bytes."""
    state = RunState().feed(event for event in events if event.at_ms <= at_ms)
    return state, pack(*snapshot(state))


def test_there_is_a_pair_for_every_two_models():
    assert len(PAIRS) == 290
    assert {(MODEL[one], MODEL[other]) for one, other in PAIRS} == set(permutations(set(MODEL.values()), 2))


@pytest.mark.parametrize(("first", "then"), PAIRS)
@pytest.mark.thorough
def test_a_scheduler_hands_over_to_one_of_another_model(first, then):
    stages = handed_over(first, then)
    events = list(played(stages, 5).events())
    for size in BATCHES:
        batches = [events[i : i + size] for i in range(0, len(events), size)]
        stored = [event for batch in batches for event in decode(encode(batch))]
        assert list(map(event_line, stored)) == list(map(event_line, events))
    assert problems_of(stages, [orjson.loads(event_line(event)) for event in stored]) == []
    for at_ms in MOMENTS:
        (state, folded), (_, expected) = state_at(stored, at_ms), state_at(events, at_ms)
        assert folded == expected
        bars = state.bars.rows
        true = bars[(bars[:, DIED] == NEVER) & (bars[:, END] > at_ms)]
        assert own(true)[MODEL[first if at_ms < AT_MS else then]].all(), (
            "nothing of the other model is left of what is to come"
        )
        if at_ms == AT_MS - 1:
            assert np.count_nonzero(true[:, START] <= at_ms), "something runs that has to be taken over"


@pytest.fixture(scope="module")
def example():
    """(stages, plain events) of a run that goes from slots to groups."""
    stages = handed_over("fifo", "harmony")
    return stages, [orjson.loads(event_line(event)) for event in played(stages, 5).events()]


def changed(events, kind, **data):
    """The log with other data in its first event of that kind."""
    place = next(i for i, event in enumerate(events) if event["kind"] == kind)
    return [
        *events[:place],
        {**events[place], "data": {**events[place]["data"], **data}},
        *events[place + 1 :],
    ], place + 1


FOREIGN = {  # (server, worker, group) of a bar of another model, and the problem reported
    ("srtf", "fifo"): [((-1, -1, 7), "is on no server, which the slotted model does not allow"),
                       ((0, 0, -1), "names a worker or a group, which the slotted model does not have")],
    ("fifo", "srtf"): [((0, -1, -1), "server h00 has no worker -1"), ((-1, -1, 7), "is on no worker of a server")],
    ("fifo", "harmony"): [((0, -1, -1), "is in no group, but co-located jobs must be"),
                          ((-2, -1, -1), "is in no group, but co-located jobs must be")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("pair", "place", "problem"), [(pair, *case) for pair, cases in FOREIGN.items() for case in cases]
)
def test_a_bar_of_the_model_before_is_found(pair, place, problem):
    """A plan of the scheduler that takes over holds something by the rules of the one that went."""
    stages = handed_over(*pair)
    stages = [
        stage._replace(state=replace(stage.state, cluster=replace(stage.state.cluster, unlimited_cloud=True)))
        for stage in stages
    ]
    events = [orjson.loads(event_line(event)) for event in played(stages, 5).events()]
    assert problems_of(stages, events) == []
    last = next(e["data"] for e in reversed(events) if e["kind"] == "plan_changed" and e["data"]["bars"])
    job, _, _, start_ms, end_ms, *_ = last["bars"][0]
    server, worker_slot, group = place
    last["bars"].append([job, 0, server, start_ms, end_ms, 1, worker_slot, -1, group])
    assert any(line.endswith(problem) for line in problems_of(stages, events)), problems_of(stages, events)


def test_an_event_of_an_unknown_kind_is_named(example):
    stages, events = example
    problems = problems_of(stages, [*events[:5], {**events[5], "kind": "teleported"}, *events[6:]])
    assert problems[0].startswith("events.jsonl: line 6: must be of a kind among run_started, ")
    assert problems[0].endswith(", not 'teleported'")


@pytest.mark.parametrize("kind", ["run_started", "edited"])
def test_a_model_without_rules_in_the_log_is_named(example, kind):
    stages, events = example
    log, line = changed(events, kind, execution={"model": "magic", "packs": [], "final": False})
    assert problems_of(stages, log)[0] == (
        f"events.jsonl: line {line}: {kind} with an execution that must be an object whose "
        "model is one of slotted, typed_workers, "
        "colocation, observed, not 'magic'"
    )


def test_a_phase_of_a_model_without_rules_is_a_problem(example):
    stages, events = example
    rows = verification.rows_of(stages)
    rows[1] = rows[1]._replace(execution={"model": "magic", "packs": [], "final": False})
    [problem, *_] = verification.problems_of(rows, stages, events)
    assert problem.startswith("phase 1 of scheduler harmony: must be an object whose model is one of slotted, ")


def groups_of(events):
    """The data of each group in the log, in order."""
    return [event["data"] for event in events if event["kind"] == "grouped" and event["data"]["jobs"]]


def test_groups_that_overbook_memory_after_a_hand_over_are_found():
    """The machines of the later phase have a fourteenth of the memory, and the log states shares that agree with it."""
    stages = handed_over("fifo", "harmony")
    events = [orjson.loads(event_line(event)) for event in played(stages, 5).events()]
    assert max(data["memory_used"] for data in groups_of(events)) < 1
    small = [
        replace(server, capacity=(*server.capacity[:2], server.capacity[2] // 14, *server.capacity[3:]))
        for server in stages[1].state.cluster.servers
    ]
    shrunk = [
        stages[0],
        stages[1]._replace(
            state=replace(stages[1].state, cluster=replace(stages[1].state.cluster, servers=tuple(small)))
        ),
    ]
    for data in groups_of(events):
        data["memory_used"] *= 14
    [full] = [data for data in groups_of(events) if data["memory_used"] > 1]
    [problem] = [line for line in problems_of(shrunk, events) if "use " in line]
    usable = 0.85 * min(small[server].capacity[2] for server in full["servers"]) / 1000
    expected = (
        f": group {full['group']}: its jobs use {full['memory_used'] * usable:.4g} GB of each machine, of {usable:.4g}"
    )
    assert problem.endswith(expected)


def test_groups_that_share_a_server_after_a_hand_over_are_found():
    stages = handed_over("fifo", "harmony", servers=10)
    log = [orjson.loads(event_line(event)) for event in played(stages, 5).events()]
    one, other = groups_of(log)[:2]
    assert set(one["servers"]).isdisjoint(other["servers"])
    other["servers"][0] = one["servers"][0]
    name = stages[1].state.cluster.servers[one["servers"][0]].name
    problems = problems_of(stages, log)
    assert f"groups {one['group']} and {other['group']} both hold server {name} from {AT_MS} ms on" in problems, (
        problems
    )


def test_a_job_of_no_group_and_an_iteration_too_fast_after_a_hand_over_are_found(example):
    stages, events = example
    log = orjson.loads(orjson.dumps(events))
    groups_of(log)[0]["jobs"][0] = 3
    assert any("its bar is in group" in line for line in problems_of(stages, log))
    log = orjson.loads(orjson.dumps(events))
    groups_of(log)[0]["pace_ms"][0] /= 2
    assert any(line.endswith("faster than its group allows") for line in problems_of(stages, log))


def test_groups_that_stand_after_their_scheduler_has_gone_are_found():
    stages = handed_over("harmony", "fifo")
    events = [orjson.loads(event_line(event)) for event in played(stages, 5).events()]
    assert problems_of(stages, events) == []
    ended = [
        event
        for event in events
        if event["kind"] == "grouped" and event["at_ms"] == AT_MS and not event["data"]["jobs"]
    ]
    left = [{**event, "seq": seq} for seq, event in enumerate((e for e in events if e not in ended), start=1)]
    numbers = ", ".join(str(event["data"]["group"]) for event in ended)
    assert f"groups {numbers} exist at {AT_MS} ms, in a phase that has none" in problems_of(stages, left)
