"""Following a cluster that fails, forgets and comes back: what is asked again, and what the log says of it."""

from __future__ import annotations

import pytest

from tests.twin.mirror.builders import EPOCH, S, Scripted, at, ended, job, polled, running
from tests.twin.mirror.builders_stored import follow
from twin.connectors.facts import ConnectorError


def test_a_cluster_that_does_not_answer_ends_nothing_and_the_gap_is_reported():
    away = ConnectorError("slurmctld: does not answer within 5 s")
    connector = Scripted(polled(1, running("1", 1)), away, away, polled(20, running("1", 1)))
    following, events, waits = follow(connector, 5)
    assert [(at_ms, data) for at_ms, kind, data in events if kind == "gap"] == [
        (1 * S, {"from_ms": 0, "to_ms": 1 * S, "reason": "the cluster was not followed before this time"}),
        (20 * S, {"from_ms": 1 * S, "to_ms": 20 * S, "reason": "slurmctld: does not answer within 5 s"}),
    ]
    assert following.mirror.open == {0}
    assert following.health.error == ""
    assert waits[1] == pytest.approx(1.0, rel=0.2)
    assert waits[2] == pytest.approx(2.0, rel=0.2)


def test_a_cluster_that_is_away_for_long_is_polled_every_ten_seconds():
    away = ConnectorError("slurmctld: does not answer within 5 s")
    _, _, waits = follow(Scripted(polled(1), *[away] * 9, polled(90)), 10)
    assert max(waits) <= 12.0
    assert waits[-1] == pytest.approx(10.0, rel=0.2)


def test_an_incomplete_answer_is_an_error():
    connector = Scripted(polled(1, running("1", 1)), polled(2, complete=False, why="squeue: 3 of 5 columns"))
    following, _, _ = follow(connector, 3)
    assert following.health.error == "squeue: 3 of 5 columns"
    assert following.mirror.open == {0}


def test_the_accounting_says_how_a_job_ended_that_is_gone():
    connector = Scripted(
        polled(1, running("1", 1)), polled(9), accounting=[ended(running("1", 1), 4, "timeout", complete_history=True)]
    )
    following, events, _ = follow(connector, 2)
    assert [data["values"] for _, kind, data in events if kind == "decided"][-1] == {"outcome": "timeout"}
    assert following.mirror.jobs[0].attempts[0].ended_ms == at(4)


def test_a_job_that_nobody_knows_any_more_has_ended_unseen():
    _, events, _ = follow(Scripted(polled(1, running("1", 1)), polled(9)), 2)
    assert [data["values"] for _, kind, data in events if kind == "decided"][-1] == {
        "outcome": "lost",
        "after_ms": 1 * S,
    }


def test_many_jobs_that_are_gone_at_once_are_believed_at_the_second_look():
    five = [running(str(n), 1) for n in range(5)]
    following, _, _ = follow(Scripted(polled(1, *five), polled(2), polled(3, *five), polled(4, *five)), 3)
    assert len(following.mirror.open) == 5
    following, _, _ = follow(Scripted(polled(1, *five), polled(2), polled(3)), 2)
    assert following.mirror.open == set()


def test_gpu_indices_are_asked_once_per_start():
    connector = Scripted(
        polled(1, running("1", 1), job("2")),
        polled(2, running("1", 1), job("2")),
        known=[running("1", 1, gpu_ids=(2, 3))],
    )
    _, events, _ = follow(connector, 4)
    assert connector.asked == [("1",)]
    assert [bar.worker_slot for _, kind, data in events if kind == "plan_changed" for bar in data["bars"]] == [-1, 2, 3]


def test_gpu_indices_that_the_cluster_does_not_tell_are_not_asked_again():
    connector = Scripted(polled(1, running("1", 1)), polled(2, running("1", 1)))
    follow(connector, 4)
    assert connector.asked == [("1",)]


def test_ends_become_exact_when_the_accounting_is_asked_for_everything():
    connector = Scripted(polled(1, running("1", 1)), polled(9))
    following, _, _ = follow(connector, 2)
    connector.accounting = [ended(running("1", 1), 4, complete_history=True)]
    following.catch_up(EPOCH)
    assert following.mirror.jobs[0].attempts[0].ended_ms == at(4)


def test_a_job_that_came_and_ended_during_an_outage_is_taken_from_the_accounting():
    brief = ended(running("2", 3, submitted_ms=at(3)), 5, complete_history=True)
    connector = Scripted(
        polled(1, running("1", 1)), ConnectorError("no answer"), polled(9, running("1", 1)), accounting=[brief]
    )
    following, events, _ = follow(connector, 3)
    assert [(job.name, job.attempts[-1].ended_ms) for job in following.mirror.jobs] == [("1", None), ("2", at(5))]
    assert [data["fields"]["id"] for _, kind, data in events if kind == "job_added"] == ["1", "2"]


class Settling(Scripted):
    """A cluster whose accounting knows of an end after 15 s: `accounting` is its record from then on."""

    settled_ms = 15 * S

    def __init__(self, *answers, accounting=(), silent_s=0):
        super().__init__(*answers, accounting=accounting)
        self.silent_ms, self.questions, self.now_ms = at(silent_s), [], 0

    def snapshot(self, *, nodes=True):
        found = super().snapshot(nodes=nodes)
        self.now_ms = found.at_ms
        return found

    def history(self, since_ms, until_ms):
        self.questions.append((since_ms, until_ms))
        if self.now_ms < self.silent_ms:
            raise ConnectorError("slurmdbd: does not answer")
        for fact in self.accounting:
            if fact.ended_ms + self.settled_ms <= self.now_ms and since_ms <= fact.ended_ms < until_ms:
                yield fact


def test_a_job_that_is_gone_stays_open_until_the_accounting_is_settled():
    done = ended(running("1", 1), 4, "timeout", complete_history=True)
    connector = Settling(polled(1, running("1", 1)), polled(5), polled(6), polled(20), polled(21), accounting=[done])
    following, events, _ = follow(connector, 5)
    assert [(at_ms, data["values"]) for at_ms, kind, data in events if kind == "decided"][1:] == [
        (20 * S, {"outcome": "timeout"})
    ]
    assert following.mirror.jobs[0].attempts[0].ended_ms == at(4)
    assert connector.questions == [(at(1), at(5)), (at(1), at(20))]  # not at every poll


def test_a_job_of_which_a_settled_accounting_has_no_record_has_ended_unseen():
    connector = Settling(polled(1, running("1", 1)), polled(5), polled(19), polled(20))
    following, events, _ = follow(connector, 3)
    assert following.mirror.open == {0}
    following, events, _ = follow(Settling(polled(1, running("1", 1)), polled(5), polled(19), polled(20)), 4)
    assert [(at_ms, data["values"]) for at_ms, kind, data in events if kind == "decided"][1:] == [
        (20 * S, {"outcome": "lost", "after_ms": 1 * S})
    ]


def test_a_job_that_is_shown_again_is_not_awaited_any_more():
    one = running("1", 1)
    connector = Settling(polled(1, one), polled(5), polled(6, one), polled(20, one), polled(21), polled(35))
    following, _, _ = follow(connector, 6)
    assert following.mirror.open == {0}
    assert following.awaited == {0: at(21)}


def test_the_accounting_is_asked_again_for_jobs_that_came_and_ended_unseen():
    brief = ended(running("2", 3, submitted_ms=at(3)), 5, complete_history=True)
    one = running("1", 1)
    polls = (
        polled(1, one),
        ConnectorError("no answer"),
        polled(9, one),
        polled(10, one),
        polled(24, one),
        polled(40, one),
    )
    following, events, _ = follow(Settling(*polls, accounting=[brief]), 6)
    assert [(at_ms, data["fields"]["id"]) for at_ms, kind, data in events if kind == "job_added"] == [
        (1 * S, "1"), (24 * S, "2"),
    ]  # fmt: skip
    assert following.health.unsettled_ms is None


def test_an_accounting_that_does_not_answer_is_asked_until_it_does():
    brief = ended(running("2", 3, submitted_ms=at(3)), 5, complete_history=True)
    one = running("1", 1)
    polls = (ConnectorError("no answer"), polled(9, one), polled(24, one), *(polled(n, one) for n in range(39, 100, 5)))
    connector = Settling(polled(1, one), *polls, accounting=[brief], silent_s=50)
    _, events, _ = follow(connector, 2 + len(polls))
    assert connector.questions == [(at(1), at(9))] * 4  # at 9, 24, 39 and 69 s
    assert [data["fields"]["id"] for _, kind, data in events if kind == "job_added"] == ["1", "2"]


def test_what_had_ended_before_the_first_look_is_no_part_of_the_log():
    earlier = ended(running("0", 0), 1, complete_history=True)
    following, _, _ = follow(Scripted(polled(2, running("1", 1)), accounting=[earlier]), 2)
    assert [job.name for job in following.mirror.jobs] == ["1"]
