"""A model of a large, busy Slurm that answers its commands: its clock is the caller's, so a day passes in minutes.

The text has the form of Slurm 22.05; jobs are submitted, wait, run on one node and end as fast as others come.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

MIN_JOB_AGE_S = 300  # time for which an ended job is shown
GPUS, CPUS, MEMORY_MB = 8, 64, 512_000  # of a node
ROW = (
    "{id} {state} {reason} {submit} {start} {end} {limit} 0 1 {cpus} 1 {node} cpu={cpus},mem={memory}M,node=1 N/A "
    "gres:gpu:{gpus} N/A gpu user{user} lab{account} {priority} (null) (null)"
)
NODE = (
    "NodeName={name} Arch=x86_64 CPUAlloc=0 CPUEfctv={cpus} CPUTot={cpus} CPULoad={load} ActiveFeatures=(null) "
    "Gres=gpu:{gpus} RealMemory={memory} State=MIXED Partitions=gpu BootTime=1795361729 LastBusyTime={now}\n"
)
RECORD = (
    "JobId={id} JobName=train UserId=user{user}(1000) Priority={priority} JobState=RUNNING NodeList={node} "
    "BatchHost={node} NumNodes=1 NumCPUs={cpus} Nodes={node} CPU_IDs=0-{last_cpu} Mem={memory} "
    "GRES=gpu:{gpus}(IDX:{indices}) Command=/home/user{user}/run.sh WorkDir=/home/user{user} StdOut=/dev/null Power=\n"
)
SDIAG = """\
sdiag output at now ({now})
Data since then ({since})
Jobs pending: {pending}
Jobs running: {running}
Job states ts:  now ({now})
"""


@dataclass(slots=True)
class Job:
    """A job with the fields of its rows."""

    fields: dict[str, object]
    end_s: int = 0
    row: str = ""


class BusySlurm:
    """The cluster at `now_s`, which `advance` moves on."""

    def __init__(self, now_s: int, nodes: int, waiting: int, ended_a_day: int, mean_run_s: int) -> None:
        self.now_s, self.since_s, self.nodes, self.mean_run_s = now_s, now_s, nodes, mean_run_s
        self.rate = ended_a_day / 86_400
        self.dice = random.Random(1)
        self.waiting: deque[Job] = deque()
        self.running: dict[int, Job] = {}
        self.ended: deque[Job] = deque()
        self.submitted = self.finished = 0
        self.due = 0.0
        for _ in range(waiting):
            self._submit()
        for _ in range(round(self.rate * mean_run_s)):
            self._start()

    def advance(self, seconds: int) -> None:
        """Ends of jobs that are over, as many starts, and as many submissions."""
        self.now_s += seconds
        over = [number for number, job in self.running.items() if job.end_s <= self.now_s]
        for number in over:
            self._end(number)
        for _ in over:
            self._start()
        while self.ended and self.ended[0].end_s < self.now_s - MIN_JOB_AGE_S:
            self.ended.popleft()

    def answer(self, *argv: str) -> str:
        """Output of a Slurm command."""
        if argv[0] == "squeue":
            return self._queue(argv[-1])
        if argv[:3] == ("scontrol", "show", "node"):
            return "".join(
                NODE.format(name=f"gpu{n}", cpus=CPUS, gpus=GPUS, memory=MEMORY_MB, load=n % 64, now=self.now_s)
                for n in range(self.nodes)
            )
        if argv[:3] == ("scontrol", "show", "job"):
            asked = [self.running[int(argv[3])]] if argv[3].isdigit() else [*self.waiting, *self.running.values()]
            return "".join(RECORD.format(**job.fields) for job in asked)
        if argv[0] == "sdiag":
            counts = {"pending": len(self.waiting), "running": len(self.running)}
            return SDIAG.format(now=self.now_s, since=self.since_s, **counts)
        return "0\n" if argv[0] == "id" else ""

    def _queue(self, columns: str) -> str:
        first, last = columns.split(",")[0].partition(":")[2], columns.rpartition(":")[2]
        rows = [job.row for jobs in (self.waiting, self.running.values(), self.ended) for job in jobs]
        return "".join(row + last + "\n" for row in rows).replace(" ", first)

    def _submit(self) -> None:
        self.submitted += 1
        gpus = self.dice.choice((1, 1, 2, 4))
        first = self.dice.randrange(GPUS - gpus + 1)
        job = Job({
            "id": self.submitted, "state": "PENDING", "reason": "Priority", "submit": self.now_s, "start": "N/A",
            "end": "N/A", "limit": "2:00:00", "cpus": 8 * gpus, "last_cpu": 8 * gpus - 1, "memory": 64_000 * gpus,
            "gpus": gpus, "indices": ",".join(map(str, range(first, first + gpus))), "user": self.submitted % 75,
            "account": self.submitted % 9, "priority": 4_000_000_000 - self.submitted, "node": "",
        })  # fmt: skip
        self._say(job)
        self.waiting.append(job)

    def _start(self) -> None:
        job = self.waiting.popleft()
        self._submit()
        job.end_s = self.now_s + max(1, round(self.dice.expovariate(1 / self.mean_run_s)))
        job.fields |= {"state": "RUNNING", "reason": "None", "start": self.now_s, "end": self.now_s + 7_200}
        job.fields |= {"node": f"gpu{self.dice.randrange(self.nodes)}"}
        self._say(job)
        self.running[int(str(job.fields["id"]))] = job

    def _end(self, number: int) -> None:
        job = self.running.pop(number)
        job.fields |= {"state": "COMPLETED", "end": job.end_s}
        self._say(job)
        self.ended.append(job)
        self.finished += 1

    @staticmethod
    def _say(job: Job) -> None:
        job.row = ROW.format(**job.fields)
