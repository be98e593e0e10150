"""The verifier accepts the groups that schedulers log, and nothing that was tampered with."""

import copy

import pytest

from scheduling.colocation import subtasks
from scheduling.verification.verify import verify
from tests.scheduling.builders_colocation import A, B, job, machines, small
from tests.scheduling.colocation.grouped import rows_of


@pytest.fixture(scope="module")
def original():
    cluster, jobs = small(6, jobs=16, servers=14, minutes=4)
    rows = rows_of(cluster, jobs, "harmony")
    assert verify(**rows) == []
    return rows


@pytest.fixture
def rows(original):
    return copy.deepcopy(original)


def neighbours(rows, least=2):
    """A `grouped` event of several jobs that stands beside another group at its instant's end, and the other one."""
    standing: dict = {}
    events = rows["events"]
    for place, event in enumerate(events):
        if event["kind"] == "grouped":
            standing[event["data"]["group"]] = event["data"]
            over = (
                place + 1 == len(events)
                or events[place + 1]["at_ms"] > event["at_ms"]
                or events[place + 1]["kind"] == "regrouped"
            )
            others = [data for group, data in standing.items() if group != event["data"]["group"] and data["jobs"]]
            if over and others and len(event["data"]["jobs"]) >= least:
                return event["data"], others[0]
    raise AssertionError("no two groups")


def shared_machine(rows):
    data, other = neighbours(rows)
    data["servers"][0] = other["servers"][0]
    return "both hold server"


def shared_job(rows):
    data, other = neighbours(rows)
    data["jobs"][0] = other["jobs"][0]
    return "both hold job"


def idle_machine(rows):
    data, _ = neighbours(rows)
    data["servers"].pop()
    data["machines"] -= 1
    return "are idle while jobs run"


def wrong_score(rows):
    next(e for e in rows["events"] if e["kind"] == "regrouped")["data"]["after"][0] += 0.01
    return "states a cpu_utilization"


def wrong_iteration(rows):
    neighbours(rows)[0]["iteration_ms"] *= 0.99
    return "iteration_ms is"


def wrong_utilization(rows):
    neighbours(rows)[0]["net_utilization"] *= 1.01
    return "net_utilization is"


def too_fast(rows):
    data, _ = neighbours(rows)
    data["pace_ms"] = [pace * 0.9 for pace in data["pace_ms"]]
    return "which is faster than its group allows"


def all_in_memory(rows):
    for event in rows["events"]:
        if event["kind"] == "grouped" and any(ratio > 0.5 for ratio in event["data"]["disk_ratios"]):
            event["data"]["disk_ratios"] = [0.0] * len(event["data"]["jobs"])
            return "its jobs use"
    raise AssertionError("nothing lies on disk")


def wrong_memory(rows):
    neighbours(rows)[0]["memory_gb"][0] += 1
    return "memory_gb is"


def wrong_usage(rows):
    neighbours(rows)[0]["memory_used"] += 0.1
    return "memory_used is"


def profiling_that_is_off(rows):
    neighbours(rows)[0]["profiling"][0] = 1
    return "profiles jobs"


def unknown_job(rows):
    neighbours(rows)[0]["jobs"][0] = 999
    return "names unknown jobs or servers"


def empty_group_with_machines(rows):
    data, _ = neighbours(rows)
    for key in (
        "jobs",
        "disk_ratios",
        "model_disk_ratios",
        "comp_ms",
        "comm_ms",
        "pace_ms",
        "ready_ms",
        "profiling",
        "memory_gb",
    ):
        data[key] = []
    return "names unknown jobs or servers"


def ready_before_it_moved(rows):
    """A job that moved would have made more iterations than it had time for: its neighbour's rate is not its own."""
    for event in rows["events"]:
        if event["kind"] == "grouped" and any(ready > event["at_ms"] for ready in event["data"]["ready_ms"]):
            event["data"]["ready_ms"] = [ms + 10**8 for ms in event["data"]["ready_ms"]]
            return "completes after"
    raise AssertionError("nobody moves")


def another_group_in_the_schedule(rows):
    rows["schedule"][0]["group"] = "77"
    return "schedule.csv"


def a_row_less(rows):
    rows["groups"].pop()
    return "is missing"


def a_row_changed(rows):
    rows["groups"][0]["machines"] = "1"
    return "differs from events.jsonl"


def another_span(rows):
    rows["groups"][0]["end_ms"] = str(int(rows["groups"][0]["end_ms"]) + 1)
    return "is not in events.jsonl"


@pytest.mark.parametrize(
    "tamper",
    [
        shared_machine, shared_job, idle_machine, wrong_score, wrong_iteration, wrong_utilization, too_fast,
        all_in_memory, wrong_memory, wrong_usage, profiling_that_is_off, unknown_job, empty_group_with_machines,
        ready_before_it_moved, another_group_in_the_schedule, a_row_less, a_row_changed, another_span,
    ],
    ids=lambda tamper: tamper.__name__,
)  # fmt: skip
def test_it_finds_what_was_tampered_with(rows, tamper):
    expected = tamper(rows)
    problems = verify(**rows)
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[]], -1])
@pytest.mark.parametrize(
    "key", ["jobs", "servers", "pace_ms", "ready_ms", "iteration_ms", "machines", "comp_ms", "bound"]
)
def test_whatever_stands_there_it_does_not_fail(rows, key, value):
    data, _ = neighbours(rows)
    same = data[key] == value
    data[key] = value
    allowed = key == "bound" and value is None  # a group whose jobs contend has none
    assert verify(**rows) != [] or same or allowed


def test_logged_groups_are_enough_to_draw_their_subtasks(original):
    """Two opposite jobs fill both tracks, and a job that moves joins when it is ready."""
    rows = rows_of(machines(2), [job("a", *A, 6), job("b", *B, 3)], "harmony")
    data = next(event["data"] for event in rows["events"] if event["kind"] == "grouped")
    bars = subtasks.of_group(data, 0, 15_000, 25_000)
    assert {bar.job for bar in bars} == {0, 1}
    assert subtasks.idle(bars, 15_000, 25_000, data["bound"]) == []
    for event in original["events"]:
        if event["kind"] == "grouped" and max(event["data"]["ready_ms"], default=0) > event["at_ms"]:
            at, ready = event["at_ms"], event["data"]["ready_ms"]
            bars = subtasks.of_group(event["data"], at, at, max(ready) + 100_000)
            firsts = {j: min(b.start_ms for b in bars if b.job == j) for j in range(len(ready))}
            assert all(firsts[j] >= max(at, ready[j]) for j in firsts)
            return
    raise AssertionError("nobody moves")


def test_a_row_of_groups_csv_by_hand():
    rows = rows_of(machines(2), [job("a", *A, 6), job("b", *B, 3)], "harmony")
    assert rows["groups"][0] == {
        "group": "0", "start_ms": "0", "end_ms": "30000", "servers": "m0 m1", "jobs": "a b", "machines": "2",
        "iteration_ms": "10000.0", "cpu_utilization": "1.0", "net_utilization": "1.0", "disk_ratios": "0.0 0.0",
        "model_disk_ratios": "0.0 0.0",
    }  # fmt: skip
