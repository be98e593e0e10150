"""Memberships of jobs in groups, as tests/fixtures/memberships.json pins them.

tests/js/core/memberships.test.js reads the file, too.

TWIN_WRITE_GOLDEN=1 writes the file.
"""

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from dashboard.readmodels.colocation import members, stretches
from scheduling.model.values import Event
from tests.twin.eventlog.builders_memberships import known, moments_of, of_groups, runs
from twin.eventlog.fold import NEVER, RunState
from twin.eventlog.job_states import MOVING, PROFILING, RUNNING, STATES, job_states
from twin.eventlog.memberships import memberships

FILE = Path(__file__).resolve().parents[2] / "fixtures" / "memberships.json"
OWN = ("disk_ratios", "model_disk_ratios", "memory_gb", "comp_ms", "comm_ms", "pace_ms")
SHARED = ("cpu_utilization", "net_utilization", "memory_used", "bound")


def written() -> list[dict]:
    cases = []
    for name, events in runs():
        rows = of_groups(events)
        times = moments_of(rows)
        cases.append({"name": name, "events": rows, "moments": [{"at_ms": ms, **known(rows, ms)} for ms in times]})
    return cases


if os.environ.get("TWIN_WRITE_GOLDEN"):
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in written())
    FILE.write_text(f"[\n{lines}\n]\n")
PINNED = json.loads(FILE.read_text())
MOMENTS = [pytest.param(case["events"], moment, id=f"{case['name']}-{moment['at_ms']}")
           for case in PINNED for moment in case["moments"]]  # fmt: skip


def folded(events, until_ms=2**62) -> RunState:
    return RunState().feed(Event(*row) for row in events if row[1] <= until_ms)


def states(state, at_ms):
    """States as rows of the file: what goes on in one group on the same servers is one row."""
    found = {}
    for one in memberships(state, at_ms):
        for name, begin, until in one.states:
            rows = found.setdefault(one.job, [])
            row = [one.job, name, begin, until, one.data["group"], one.data["servers"]]
            if rows and rows[-1][:2] == row[:2] and rows[-1][3] == begin and rows[-1][4:] == row[4:]:
                rows[-1][3] = until
            else:
                rows.append(row)
    return [row for job in sorted(found) for row in found[job]]


def test_the_file_is_what_runs_do_today():
    assert json.loads(json.dumps(written())) == PINNED


def test_the_file_has_what_it_is_to_pin():
    newest = {case["name"]: case["moments"][-1] for case in PINNED}
    every = [row for moment in newest.values() for row in moment["states"]]
    assert {row[1] for row in every} == {"moving", "profiling", "running"}
    gaps, moved, other_group = 0, 0, 0
    for moment in newest.values():
        for (job, _, end, group, servers), (after, begin, _, later, then) in pairwise(moment["stays"]):
            gaps += job == after and end != begin  # suspended, or the other model in between
            moved += job == after and end == begin and servers != then
            other_group += job == after and end == begin and group != later
    assert min(gaps, moved, other_group) > 2
    earlier = [row for case in PINNED for moment in case["moments"][:-1] for row in moment["stays"]]
    assert sum(row[2] == NEVER for row in earlier) > 20, "stays that have not ended at an earlier time"


@pytest.mark.parametrize(("events", "moment"), MOMENTS)
def test_states_at_each_moment(events, moment):
    """Both looking back from the end and at the newest moment of a run that goes on."""
    at_ms = moment["at_ms"]
    for state in (folded(events), folded(events, at_ms)):
        assert states(state, at_ms) == moment["states"]


@pytest.mark.parametrize(("events", "moment"), MOMENTS)
def test_the_group_and_the_state_of_a_job_are_those_of_its_membership(events, moment):
    at_ms, full = moment["at_ms"], []
    for seq, ms, kind, data in events:
        own = {key: [0] * len(data["jobs"]) for key in OWN} if kind == "grouped" else {}
        full.append([seq, ms, kind, data | own | (dict.fromkeys(SHARED) if own else {})])
    jobs = sorted({job for _, _, kind, data in events if kind == "grouped" for job in data["jobs"]})
    arrived = [[0, 0, "job_arrived", {"job": job}] for job in range(max(jobs) + 1)]
    rows = [row for row in [*arrived, *full] if row[1] <= at_ms and row[2] != "run_finished"]
    state = folded([[seq, *row[1:]] for seq, row in enumerate(rows, 1)])
    open_now = {row[0]: row[3] for row in moment["stays"] if row[2] == NEVER}
    assert {job: here["group"] for job, here in members(state, at_ms).items()} == open_now
    doing = {row[0]: row[1] for row in moment["states"] if row[2] <= at_ms and (row[3] == NEVER or at_ms < row[3])}
    codes = job_states(state, at_ms)
    found = {job: STATES[code] for job, code in enumerate(codes) if code in (RUNNING, PROFILING, MOVING)}
    assert found == doing
    for job in jobs:
        own = [row for row in moment["states"] if row[0] == job and row[2] <= at_ms]
        shown = [one for one in stretches(state, job, at_ms) if one["state"] != "suspended"]
        assert [one["from_ms"] for one in shown if one["from_ms"] in {row[2] for row in own}] == [row[2] for row in own]
        if own:
            end = own[-1][3]
            assert shown[-1]["until_ms"] == (None if end == NEVER or end > at_ms else end)
