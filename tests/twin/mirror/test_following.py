"""Following a cluster that fails, forgets and comes back: what is asked again, and what the log says of it."""

from __future__ import annotations

import pytest

from tests.twin.mirror.builders import EPOCH, S, Scripted, at, ended, job, look, running
from tests.twin.mirror.builders_stored import follow
from twin.connectors.facts import ConnectorError


def test_a_cluster_that_does_not_answer_ends_nothing_and_the_gap_is_reported():
    away = ConnectorError("slurmctld: does not answer within 5 s")
    connector = Scripted(look(1, running("1", 1)), away, away, look(20, running("1", 1)))
    following, events, waits = follow(connector, 5)
    assert [(at_ms, data) for at_ms, kind, data in events if kind == "gap"] == [
        (20 * S, {"from_ms": 1 * S, "to_ms": 20 * S, "reason": "slurmctld: does not answer within 5 s"})
    ]
    assert following.mirror.open == {0}
    assert following.health.error == ""
    assert waits[1] == pytest.approx(1.0, rel=0.2)
    assert waits[2] == pytest.approx(2.0, rel=0.2)


def test_an_incomplete_answer_is_an_error():
    connector = Scripted(look(1, running("1", 1)), look(2, complete=False, why="squeue: 3 of 5 columns"))
    following, _, _ = follow(connector, 3)
    assert following.health.error == "squeue: 3 of 5 columns"
    assert following.mirror.open == {0}


def test_the_accounting_says_how_a_job_ended_that_is_gone():
    connector = Scripted(
        look(1, running("1", 1)), look(9), accounting=[ended(running("1", 1), 4, "timeout", complete_history=True)]
    )
    following, events, _ = follow(connector, 2)
    assert [data["values"] for _, kind, data in events if kind == "decided"][-1] == {"outcome": "timeout"}
    assert following.mirror.jobs[0].attempts[0].ended_ms == at(4)


def test_a_job_that_nobody_knows_any_more_has_ended_unseen():
    _, events, _ = follow(Scripted(look(1, running("1", 1)), look(9)), 2)
    assert [data["values"] for _, kind, data in events if kind == "decided"][-1] == {
        "outcome": "lost",
        "after_ms": 1 * S,
    }


def test_many_jobs_that_are_gone_at_once_are_believed_at_the_second_look():
    five = [running(str(n), 1) for n in range(5)]
    following, _, _ = follow(Scripted(look(1, *five), look(2), look(3, *five), look(4, *five)), 3)
    assert len(following.mirror.open) == 5
    following, _, _ = follow(Scripted(look(1, *five), look(2), look(3)), 2)
    assert following.mirror.open == set()


def test_gpu_indices_are_asked_once_per_start():
    connector = Scripted(
        look(1, running("1", 1), job("2")), look(2, running("1", 1), job("2")), known=[running("1", 1, gpu_ids=(2, 3))]
    )
    _, events, _ = follow(connector, 4)
    assert connector.asked == [("1",)]
    assert [bar.lane for _, kind, data in events if kind == "plan_changed" for bar in data["bars"]] == [-1, 2, 3]


def test_gpu_indices_that_the_cluster_does_not_tell_are_not_asked_again():
    connector = Scripted(look(1, running("1", 1)), look(2, running("1", 1)))
    follow(connector, 4)
    assert connector.asked == [("1",)]


def test_ends_become_exact_when_the_accounting_is_asked_for_everything():
    connector = Scripted(look(1, running("1", 1)), look(9))
    following, _, _ = follow(connector, 2)
    connector.accounting = [ended(running("1", 1), 4, complete_history=True)]
    following.catch_up(EPOCH)
    assert following.mirror.jobs[0].attempts[0].ended_ms == at(4)


def test_a_job_that_came_and_ended_during_an_outage_is_taken_from_the_accounting():
    brief = ended(running("2", 3, submitted_ms=at(3)), 5, complete_history=True)
    connector = Scripted(
        look(1, running("1", 1)), ConnectorError("no answer"), look(9, running("1", 1)), accounting=[brief]
    )
    following, events, _ = follow(connector, 3)
    assert [(job.name, job.attempts[-1].ended_ms) for job in following.mirror.jobs] == [("1", None), ("2", at(5))]
    assert [data["fields"]["id"] for _, kind, data in events if kind == "job_added"] == ["1", "2"]


def test_what_had_ended_before_the_first_look_is_no_part_of_the_log():
    earlier = ended(running("0", 0), 1, complete_history=True)
    following, _, _ = follow(Scripted(look(2, running("1", 1)), accounting=[earlier]), 2)
    assert [job.name for job in following.mirror.jobs] == ["1"]
