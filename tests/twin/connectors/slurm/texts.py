"""Recorded answers of three versions of Slurm, and rows written by hand."""

from pathlib import Path

from twin.connectors._slurm.queue import COLUMNS, Queue
from twin.connectors._slurm.rows import Separators

RECORDED = Path(__file__).parents[3] / "fixtures" / "live"
VERSIONS = sorted(path.name.split("-")[1] for path in RECORDED.glob("slurm-*-queue.txt"))
TOKEN = Separators("ab12")
NOW_S = 1_795_340_000
PLAIN = {
    "JobArrayID": "54", "State": "PENDING", "Reason": "Resources", "SubmitTime": str(NOW_S - 100), "StartTime": "N/A",
    "EndTime": "N/A", "TimeLimit": "10:00", "RestartCnt": "0", "NumNodes": "1", "NumCPUs": "1", "NumTasks": "1",
    "NodeList": "", "tres-alloc": "cpu=1,mem=2000M,node=1,billing=1", "tres-per-job": "N/A", "tres-per-node": "N/A",
    "tres-per-task": "N/A", "Partition": "edge", "UserName": "ann", "Account": "(null)", "PriorityLong": "7",
    "Dependency": "(null)", "Reservation": "(null)",
}  # fmt: skip


def recorded(version, what):
    return (RECORDED / f"slurm-{version}-{what}.txt").read_text()


def answer(*jobs):
    """What squeue prints for jobs given as the columns in which they differ from a plain waiting one."""
    return "".join(TOKEN.column.join((PLAIN | job)[column] for column in COLUMNS) + TOKEN.row + "\n" for job in jobs)


def read(*jobs, at_s=NOW_S, max_tasks=1000):
    return Queue(max_tasks).read(answer(*jobs), TOKEN, at_s * 1000)


def running(**differing):
    return {
        "State": "RUNNING",
        "Reason": "None",
        "StartTime": str(NOW_S - 60),
        "EndTime": str(NOW_S + 540),
        "NodeList": "edge1",
    } | differing
