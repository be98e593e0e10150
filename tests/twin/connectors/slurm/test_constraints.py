"""Constraints of a Slurm cluster: answers of its commands, and when they are asked for."""

import pytest

from tests.twin.connectors.slurm.texts import TOKEN
from twin.connectors._slurm.constraints import answers
from twin.connectors._slurm.constraints.reading import Constraining
from twin.connectors.constraints import Asked, QueueLimits
from twin.connectors.facts import ConnectorError

PARTITION = (
    "PartitionName={name} AllowGroups=ALL Default=YES DefaultTime=NONE MaxNodes={nodes} MaxTime={limit} MinNodes=0 "
    "Nodes=edge[1-4] OverSubscribe={share} State={state} TotalCPUs=32\n"
)
CONFIG = "SchedulerParameters     = bf_interval=7,bf_window=60\nSchedulerType           = sched/backfill\n"


def rows(*cells):
    return "".join(TOKEN.column.join(row) + TOKEN.row + "\n" for row in cells)


def test_what_jobs_ask_for():
    found = answers.read_asked(
        rows(
            ("1", "(null)", "OK", ""), ("2", "sw,matlab@flex:2", "OK", ""), ("3", "(null)", "NO", "edge[2-3]"),
            ("4_[1-9%2]", "sw:1", "YES", ""), ("5+1", "sw*3", "OK", ""), ("6", "a:1|b:1", "OK", ""),
        ),
        TOKEN,
    )  # fmt: skip
    assert found == {
        "2": Asked({"sw": 1, "matlab@flex": 2}), "3": Asked(exclusive=True, only=("edge2", "edge3")),
        "4": Asked({"sw": 1}), "5+1": Asked({"sw": 3}),
    }  # fmt: skip
    with pytest.raises(ConnectorError, match="ends in the middle"):
        answers.read_asked("squeue: error", TOKEN)


def test_licences_and_limits_of_partitions():
    text = "LicenseName=sw Total=3 Used=1 Free=2 Reserved=0 Remote=no\n"
    assert answers.read_licences(text) == {"sw": 3}
    assert answers.read_licences("No licenses configured in Slurm.\n") == {}
    plain = {"name": "edge", "nodes": "UNLIMITED", "limit": "UNLIMITED", "share": "NO", "state": "UP"}
    other = {"name": "debug", "nodes": "2", "limit": "1-00:30:00", "share": "EXCLUSIVE", "state": "DRAIN"}
    found = answers.read_queues(PARTITION.format(**plain) + PARTITION.format(**other))
    assert found == {"edge": QueueLimits(), "debug": QueueLimits(2, 88_200_000, None, False, True)}
    with pytest.raises(ConnectorError, match="instead of PartitionName="):
        answers.read_queues("slurm_load_partitions error\n")


def test_when_the_scheduler_runs():
    usual = {"main_ms": 3_000, "backfill_ms": 30_000, "resolution_ms": 60_000, "window_ms": 86_400_000, "depth": 500}
    found = answers.read_passes(CONFIG)
    assert found == usual | {"backfill_ms": 7_000, "window_ms": 3_600_000}
    assert answers.read_passes("SchedulerParameters = (null)\nSchedulerType = sched/backfill\n") == usual
    assert answers.read_passes("SchedulerType = sched/builtin\n") == {}


class Script:
    """Commands with fixed answers, which remember what was asked."""

    def __init__(self):
        self.asked, self.fails, self.jobs = [], False, {"1": "sw", "2": "(null)"}

    def run(self, *command):
        self.asked.append(command)
        if self.fails:
            raise ConnectorError("slurmctld does not answer")
        if command[0] != "squeue":
            return {"licenses": "LicenseName=sw Total=1\n", "partition": "", "config": CONFIG}[command[2]]
        wanted = command[command.index("-j") + 1].split(",") if "-j" in command else self.jobs
        column, row = (part.split(":")[1] for part in command[-1].split(",")[-2:])
        return "".join(column.join((key, self.jobs[key], "OK", "")) + row + "\n" for key in wanted)


def test_new_jobs_are_asked_for_alone_and_all_again_after_a_minute():
    commands = Script()
    reader = Constraining(commands)
    assert reader.constraints(["1", "2"]).jobs == {"1": Asked({"sw": 1})}
    assert len(commands.asked) == 4
    reader.constraints(["1", "2"])
    assert len(commands.asked) == 4, "nothing is new"
    commands.jobs["9"] = "sw:2"
    assert reader.constraints(["2", "9"]).jobs == {"9": Asked({"sw": 2})}, "job 1 is over"
    assert (len(commands.asked), "9" in commands.asked[-1]) == (5, True)
    reader.due = 0
    commands.fails, before = True, reader.known
    assert reader.constraints(["2", "9"]) is before, "what cannot be read stays as it was"
    assert (before.backfill_ms, before.passes["backfill_ms"]) == (7_000, 7_000)
