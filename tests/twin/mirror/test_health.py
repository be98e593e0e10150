"""Health of a live cluster: lag of facts, cost of asking, counts, and what a restart makes of them."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from scheduling.model.values import ModelError
from tests.twin.mirror.builders import EPOCH, S, Scripted, at, ended, job, polled, running, suspended
from tests.twin.mirror.builders_stored import follow
from twin.connectors._slurm import prefix
from twin.connectors.facts import ConnectorError, NodeFact
from twin.mirror.differ import Mirror
from twin.mirror.following import Following
from twin.mirror.health import Costs, counts, not_up, unfit
from twin.mirror.nodes.pattern_cost import why_not
from twin.mirror.nodes.sites import SiteRule


def test_the_lag_is_that_of_facts_after_the_first_look():
    first, second = running("1", 1), job("2", submitted_ms=at(9))
    connector = Scripted(
        polled(5, first), polled(10, first, second), polled(14, ended(first, 12), running("2", 11, submitted_ms=at(9)))
    )
    following, _, _ = follow(connector, 3)
    assert sorted(lag // S for lag in following.lags.newest) == [1, 2, 3], "submitted, ended and started so long before"
    lag = following.current_health().lag
    assert (lag["p50_ms"] // S, lag["p99_ms"] // S, lag["facts"]) == (2, 3, 3)


def test_what_the_first_look_after_a_gap_finds_is_no_lag():
    connector = Scripted(polled(1), ConnectorError("slurmctld: down"), polled(90, job("2", submitted_ms=at(9))))
    following, _, _ = follow(connector, 3)
    assert list(following.lags.newest) == []
    assert following.current_health().lag == {}


def test_counts_are_those_of_open_jobs():
    following, _, _ = follow(Scripted(polled(9, running("1", 1), job("2"), job("3"), ended(running("4", 2), 3))), 1)
    assert counts(following.mirror) == {"nodes": 2, "jobs": 4, "running": 1, "waiting": 2}


def test_shares_that_do_not_fit_the_nodes_are_named():
    jobs = [
        running("1", 1, node="m9", gpus=3),
        running("2", 1, gpus=6),
        running("3", 1, node="cloud1", gpus=1, gpu_ids=(0, 1)),
        suspended(running("4", 1, node="cloud1", gpus=4)),
        ended(running("5", 1, node="m9"), 3),
    ]
    following, _, _ = follow(Scripted(polled(9, *jobs)), 1)
    assert unfit(following.mirror) == (
        "running jobs on nodes that the cluster has not reported, without bars there: 1 on m9; "
        "jobs whose numbers of GPU ids and GPUs differ: 3; "
        "nodes with more GPUs held by jobs than they have: edge1 (6 of 4)"
    )
    many = [running(str(n), 1, node=f"m{n}") for n in range(5)]
    following, _, _ = follow(Scripted(polled(9, *many)), 1)
    assert following.current_health().unfit.endswith(": 0 on m0, 1 on m1, 2 on m2 and 2 more")
    following, _, _ = follow(Scripted(polled(9, running("1", 1, gpu_ids=(0, 1)))), 1)
    assert following.current_health().unfit == ""


def test_the_cost_is_the_difference_of_two_answers():
    costs = Costs(times_controller=True)
    assert costs.due(0)
    assert costs.add({"calls": 100, "ms": 1_000, "since_ms": 5}, 0) == {}
    assert not costs.due(29)
    assert costs.add({"calls": 130, "ms": 1_600, "since_ms": 5}, 60) == {
        "calls_per_minute": 30, "ms_per_call": 20, "share": 0.01,
    }  # fmt: skip
    assert costs.add({"calls": 2, "ms": 5}, 120) == {}, "the controller restarted its counts"
    client = Costs(times_controller=False)
    client.add({"calls": 0, "ms": 0}, 0)
    assert client.add({"calls": 6, "ms": 60}, 30) == {"calls_per_minute": 12, "ms_per_call": 10}
    assert Costs(times_controller=False).add({}, 0) == {}


def test_a_restart_after_a_pause_tells_the_gap_from_the_last_look_on():
    events = []
    mirror = Mirror(EPOCH, at_ms=at(10), log_ms=10 * S)
    following = Following(
        Scripted(polled(100)), mirror, lambda batch, log_ms: events.extend(batch), stopped=lambda seconds: True
    )
    following.resume({"last_look_at": time.time() - 60, "seen_ms": at(40), "looks": 7, "resumed_at": 5.0, "another": 1})
    assert following.current_health().resumed_at == 5.0, "until the first poll the cluster counts as starting"
    following.apply(polled(100))
    reason = "the cluster was not followed: it was paused, or no follower was running"
    assert events[0] == ("gap", {"from_ms": 40 * S, "to_ms": 100 * S, "reason": reason})
    assert (following.health.looks, following.health.failing_since, following.health.error) == (8, None, "")


def test_a_quick_restart_is_no_gap():
    events = []
    mirror = Mirror(EPOCH, at_ms=at(10), log_ms=10 * S)
    following = Following(
        Scripted(polled(12)), mirror, lambda batch, log_ms: events.extend(batch), stopped=lambda seconds: True
    )
    following.resume({"last_look_at": time.time() - 2, "seen_ms": at(10)})
    following.apply(polled(12))
    assert [kind for kind, _ in events] == ["server_added", "server_added"]


@pytest.mark.parametrize("pattern", ["", "edge.*", ".*edge.*gpu.*", "(edge|lab)-.*", "zone=(fra|ams).*", r"gpu\d{1,3}"])
def test_patterns_that_people_write_are_taken(pattern):
    assert why_not(pattern) == ""
    SiteRule(edge_pattern=pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a?){30}a{30}", "a?" * 30 + "a" * 30, ".*.*.*.*x", "x" * 201, "("]
)
def test_patterns_that_would_stop_a_process_are_refused(pattern):
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"^edge_pattern (would take too long|must)"):
        SiteRule(edge_pattern=pattern)
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    "text", ["", "ssh -o BatchMode=yes login1", "ssh -p 22 -l twin -i /etc/twin/key -J gate,b login1"]
)
def test_prefixes_that_a_page_may_set(text):
    assert prefix.why_unsafe(text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sh -c id", "the command 'sh'"),
        ("ssh -o ProxyCommand=id login1", "-o 'ProxyCommand=id'"),
        ("ssh -oProxyCommand=id login1", "'-oProxyCommand=id'"),
        ("ssh login1 id", "end with the host 'login1'"),
        ("ssh -p 22", "names no host"),
        ("ssh -F /tmp/x login1", "'-F'"),
        ("ssh 'a", "cannot be read: No closing quotation"),
        ("/usr/bin/ssh login1", "the command '/usr/bin/ssh'"),
    ],
)
def test_prefixes_that_only_a_shell_may_set(text, reason):
    assert prefix.why_unsafe(text).startswith("prefix ")
    assert reason in prefix.why_unsafe(text)


def test_nodes_that_the_cluster_no_longer_has_are_not_counted():
    mirror = Mirror(EPOCH)
    mirror.apply(polled(10))
    assert counts(mirror)["nodes"] == 2
    mirror.apply(polled(20, nodes=(NodeFact("edge1", gpus=4, cpus=8, memory_mb=16_000),)))
    assert (counts(mirror)["nodes"], len(mirror.nodes)) == (1, 2), "its server stays in the log"


def test_nodes_that_take_no_new_jobs_are_named_with_the_reason():
    mirror = Mirror(EPOCH)
    edge, cloud = (NodeFact(name, gpus=4, cpus=8, memory_mb=16_000) for name in ("edge1", "cloud1"))
    mirror.apply(polled(10, nodes=(edge, cloud)))
    assert not_up(mirror) == {"total": 0, "nodes": []}
    drains = replace(edge, state="draining", reason="fan 3 replaced")
    mirror.apply(polled(20, nodes=(drains, cloud)))
    assert not_up(mirror) == {
        "total": 1,
        "nodes": [{"name": "edge1", "state": "draining", "reason": "fan 3 replaced"}],
    }
    mirror.apply(polled(30, nodes=(cloud,)))
    assert not_up(mirror)["total"] == 0, "a node that the cluster no longer has is not one of its nodes"
