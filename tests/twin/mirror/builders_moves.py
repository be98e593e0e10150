"""Clusters that Hypothesis plays: jobs and nodes that move at random, and the polls of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.twin.mirror.builders import NODES, at, attempt, ended, job
from twin.connectors.facts import DOWN, ENDED, RUNNING, SUSPENDED, WAITING, JobFact, Snapshot

STEPS = ("wait", "start", "suspend", "end", "requeue", "forget")


class Cluster:
    """A cluster of up to five jobs that move at random, and the polls of it."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobFact] = {}
        self.nodes = dict(zip(("edge1", "cloud1"), NODES, strict=True))

    def step(self, second: int, key: str, what: str, node: str) -> None:
        fact = self.jobs.get(key)
        if what == "wait" and fact is None:
            self.jobs[key] = job(key, submitted_ms=at(second), reason="Resources")
        elif fact is None:
            return
        elif what == "start" and fact.state == WAITING:
            self.jobs[key] = replace(fact, state=RUNNING, reason="", attempts=(attempt(second, node=node),))
        elif what == "suspend" and fact.state in (RUNNING, SUSPENDED):
            suspends = fact.state == RUNNING
            frees = suspends and node == "edge1"  # as under Slurm
            self.jobs[key] = replace(fact, state=SUSPENDED if suspends else RUNNING, frees_cpus=frees)
        elif what == "end" and fact.state != ENDED:
            self.jobs[key] = ended(fact, second)
        elif what == "requeue" and fact.state == RUNNING:
            self.jobs[key] = replace(fact, state=WAITING, reason="BeginTime", restarts=fact.restarts + 1, attempts=())
        elif what == "forget" and fact.state == ENDED:
            del self.jobs[key]

    def turn(self, node: str) -> None:
        fact = self.nodes[node]
        self.nodes[node] = replace(fact, state=DOWN if fact.state != DOWN else NODES[0].state)

    def poll(self, second: int) -> Snapshot:
        return Snapshot(at(second), tuple(self.jobs.values()), tuple(self.nodes.values()))


MOVES = st.lists(
    st.tuples(st.sampled_from("12345"), st.sampled_from(STEPS), st.sampled_from(("edge1", "cloud1")), st.booleans()),
    max_size=40,
)


def polls_of(moves) -> list[Snapshot]:
    cluster, polls = Cluster(), []
    for second, (key, what, node, turns) in enumerate(moves):
        cluster.step(second, key, what, node)
        if turns:
            cluster.turn(node)
        polls.append(cluster.poll(second))
    return polls
