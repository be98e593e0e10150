"""Laws of requeued jobs, over a Slurm that Hypothesis plays: whatever polls are lost, the accounting settles all jobs.

Each poll is that of a new follower, which knows only what the queue shows: the newest submit time, and the attempt that
runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.twin.mirror.builders import NODES, Log, at, attempt, job
from twin.connectors.facts import COMPLETED, ENDED, NODE_FAIL, RUNNING, WAITING, Attempt, JobFact, Snapshot

STEPS = ("on", "fail")  # the next state, or a failure where the job runs
MOVES = st.lists(
    st.tuples(st.sampled_from("12"), st.sampled_from(STEPS), st.sampled_from(("edge1", "cloud1")), st.booleans()),
    max_size=40,
)


@dataclass
class Played:
    """A job, with what the accounting knows of it; `completing` after a failure, before it has a new submit time."""

    key: str
    submits: list[int]
    state: str = WAITING
    restarts: int = 0
    completing: bool = False
    attempts: list[Attempt] = field(default_factory=list)
    shown: bool = True

    def in_queue(self) -> JobFact:
        newest = self.attempts[-1:] if self.state != WAITING else ()
        return self._fact(tuple(newest), submitted_ms=self.submits[-1])

    def accounted(self) -> JobFact:
        times = {"submitted_ms": self.submits[0], "resubmitted_ms": tuple(self.submits[1:])}
        record = replace(self, state=ENDED, restarts=self.restarts - 1) if self.completing else self
        return record._fact(tuple(self.attempts), complete_history=True, **times)

    def _fact(self, attempts, **fields) -> JobFact:
        last = self.attempts[-1] if self.state == ENDED else None
        over = {"outcome": last.outcome, "ended_ms": last.ended_ms} if last else {}
        return job(self.key, self.state, attempts=attempts, restarts=self.restarts, **over, **fields)


class Slurm:
    """Two jobs, each with its own number."""

    def __init__(self) -> None:
        self.jobs: dict[str, Played] = {}

    def step(self, second: int, key: str, what: str, node: str) -> None:
        one = self.jobs.get(key)
        if one is None:
            self.jobs[key] = Played(key, [at(second)])
        elif one.state == RUNNING:
            failed = what == "fail"
            outcome = NODE_FAIL if failed else COMPLETED
            one.attempts[-1] = replace(one.attempts[-1], ended_ms=at(second), outcome=outcome)
            one.state, one.completing, one.restarts = WAITING if failed else ENDED, failed, one.restarts + failed
        elif one.completing:
            one.completing = False
            one.submits.append(at(second))
        elif one.state == WAITING:
            one.state = RUNNING
            one.attempts.append(attempt(second, node=node))
        else:
            one.shown = False

    def poll(self, second: int) -> Snapshot:
        return Snapshot(at(second), tuple(one.in_queue() for one in self.jobs.values() if one.shown), NODES)


@settings(max_examples=cases(300, 40))
@given(MOVES, st.data())
def test_every_job_is_one_with_the_attempts_of_the_accounting(moves, data):
    slurm, log, records = Slurm(), Log(), []
    for second, (key, what, node, polled) in enumerate(moves, start=1):
        slurm.step(second, key, what, node)
        records.append([one.accounted() for one in slurm.jobs.values()])
        if polled:
            log.apply(slurm.poll(second))
            log.write(log.mirror.accounted(records[data.draw(st.integers(0, second - 1))]))  # the accounting is late
    log.apply(slurm.poll(len(moves) + 1))
    log.write(log.mirror.accounted([one.accounted() for one in slurm.jobs.values()]))
    found = {known.name: known for known in log.mirror.jobs}
    seen = {key: one for key, one in slurm.jobs.items() if one.shown or key in found}
    assert found.keys() == seen.keys()
    for key, one in seen.items():
        known = found[key]
        assert list(known.attempts) == one.attempts
        assert (known.fact.state, known.fact.submit_times) == (one.state, tuple(one.submits))
        assert known.index not in log.mirror.uncertain
    assert log.mirror.open == {found[key].index for key, one in seen.items() if one.state != ENDED}


@settings(max_examples=cases(100, 15))
@given(MOVES)
def test_what_the_accounting_stated_is_stated_once(moves):
    slurm, log = Slurm(), Log()
    for second, (key, what, node, _) in enumerate(moves, start=1):
        slurm.step(second, key, what, node)
        log.apply(slurm.poll(second))
        log.write(log.mirror.accounted([one.accounted() for one in slurm.jobs.values()]))
        assert log.apply(slurm.poll(second)) == []
        assert log.mirror.accounted([one.accounted() for one in slurm.jobs.values()]) == []
