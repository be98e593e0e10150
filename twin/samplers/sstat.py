"""sstat: reads the use of running jobs from Slurm itself; without exporters, but only what jobs use, and no GPUs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.reporting.quantities import counted
from twin.connectors._slurm import prefix
from twin.connectors._slurm.amounts import megabytes, tres
from twin.connectors._slurm.commands import Commands, configuration_file
from twin.connectors.facts import ConnectorError, Finding
from twin.samplers.base import Sampler, sample_interval
from twin.samplers.facts import NodeUse, Occupancy, Sample

MAX_IDS = 200  # jobs of one call
COLUMNS = ("JobID", "AveCPU", "NTasks", "TRESUsageInTot")
STEP = re.compile(r"(\d+(?:[_+]\d+)?)\.[\w+]+", re.ASCII)
MAX_OUTPUT_BYTES = 64_000_000
OFF = "JobAcctGatherType is jobacct_gather/none"
GATHER = "set JobAcctGatherType=jobacct_gather/linux and JobAcctGatherFrequency=30 in slurm.conf, and restart slurmd"
RIGHT = "run the twin as SlurmUser, or use a Prometheus: sstat answers root, SlurmUser and the owner of a job only"


@dataclass(frozen=True, slots=True)
class SstatParameters(Parameters):
    interval_s: int = sample_interval()
    timeout_s: float = parameter(
        10.0, "Time after which a call of a Slurm command fails", low=0.1, high=60, unit="s", title="Call timeout"
    )
    prefix: str = parameter(
        "",
        "Command put before each call, as for the connector, for example ssh -o BatchMode=yes login1",
        title="Command prefix",
    )
    conf: str = configuration_file()


@dataclass(slots=True)
class Step:
    """Use by one step of a job: seconds of CPU since it began, and memory now."""

    cpu_s: int
    memory_mb: int


@dataclass(slots=True)
class Reading:
    """Steps of the running jobs, {job: {step: Step}}, at a moment of a clock that never goes back."""

    at_s: float
    now_ms: int
    jobs: dict[str, dict[str, Step]] = field(default_factory=dict)


class SstatSampler(Sampler):
    name = "sstat"
    title = "Slurm's sstat"
    summary = "Reads from Slurm how many CPUs and how much memory running jobs use."
    Parameters = SstatParameters

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        p = self.parameters
        self._commands = Commands(p.prefix, p.conf, round(p.timeout_s * 1000), MAX_OUTPUT_BYTES)
        self._before: Reading | None = None
        self._gathers = False  # as far as it is known

    def check(self, occupancy: Occupancy) -> tuple[Finding, ...]:
        try:
            kind = self._gathering()
            if not kind:
                return (Finding("samples", False, OFF, GATHER, needed=False),)
            reported = len(self._read(occupancy).jobs)
        except ConnectorError as error:
            return (Finding("samples", False, str(error), needed=False),)
        whole = len(occupancy.running)
        message = (
            f"sstat reports {reported:,} of {counted(whole, 'running job')} ({kind})"
            if whole
            else f"no job runs ({kind})"
        )
        return (Finding("samples", reported > 0 or not whole, message, RIGHT, needed=False),)

    def sample(self, occupancy: Occupancy) -> Sample:
        if not self._gathers:  # sstat would report zeros
            self._gathers = bool(self._gathering())
        if not self._gathers:
            raise ConnectorError(f"sstat reports nothing: {OFF}; {GATHER}")
        reading = self._read(occupancy)
        before, self._before = self._before, reading
        if occupancy.running and not reading.jobs:
            raise ConnectorError(f"sstat reports none of {counted(len(occupancy.running), 'running job')}: {RIGHT}")
        uses = tuple(_use(name, occupancy, reading, before) for name in occupancy.nodes)
        missing = len(occupancy.running) - len(reading.jobs)
        why = (
            f"sstat does not report {missing:,} of {counted(len(occupancy.running), 'running job')}"
            if missing > 0
            else ""
        )
        return Sample(reading.now_ms, uses, why)

    def unsafe(self) -> str:
        return prefix.why_unsafe(self.parameters.prefix)

    def _gathering(self) -> str:
        """The plugin that gathers the use of jobs; "" = none."""
        config = self._commands.run("scontrol", "show", "config")
        gather = re.search(r"^JobAcctGatherType\s*=\s*(\S+)", config, re.MULTILINE)
        return "" if gather is None or gather[1] in ("(null)", "jobacct_gather/none") else gather[1]

    def _read(self, occupancy: Occupancy) -> Reading:
        reading = Reading(time.monotonic(), time.time_ns() // 1_000_000)
        keys = self._keys() if occupancy.running else {}
        ids = [raw for raw, key in keys.items() if key in occupancy.running]
        for first in range(0, len(ids), MAX_IDS):
            wanted = ",".join(ids[first : first + MAX_IDS])
            answer = self._commands.run("sstat", "-a", "-P", "-n", "-j", wanted, "-o", ",".join(COLUMNS))
            for step, use in _steps(answer.splitlines()):
                job = step.partition(".")[0]
                key = keys.get(job, job)
                if key in occupancy.running:
                    reading.jobs.setdefault(key, {})[step] = use
        return reading

    def _keys(self) -> dict[str, str]:
        """{number: key} of running jobs: sstat prints the number of an array's task, not its name."""
        answer = self._commands.run("squeue", "-h", "-a", "-t", "R", "-O", "JobID:30,JobArrayID:60")
        return {words[0]: words[1] for line in answer.splitlines() if len(words := line.split()) == 2}


def _steps(lines: Iterable[str]) -> Iterable[tuple[str, Step]]:
    """(step, use) of each row; a step that has not been measured yet has empty cells."""
    for line in lines:
        cells = line.split("|")
        if len(cells) != len(COLUMNS) or not STEP.fullmatch(cells[0]):
            continue
        used = tres(cells[3])
        cpu_s = _seconds(used.get("cpu", ""))
        if cpu_s is None:  # versions that report only the mean of the tasks
            mean, tasks = _seconds(cells[1]), cells[2]
            cpu_s = mean * int(tasks) if mean is not None and tasks.isdigit() else None
        if cpu_s is not None:
            yield cells[0], Step(cpu_s, megabytes(used["mem"]) if used.get("mem") else 0)


def _seconds(text: str) -> int | None:
    """`1-02:03:04`, `00:20:00` or `20:00.123`; None where there is no time."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?", text, re.ASCII)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _use(name: str, occupancy: Occupancy, reading: Reading, before: Reading | None) -> NodeUse:
    """The sum over the jobs of a node, each by its share of the job's CPUs; unknown where one of them is."""
    cpus: float | None = 0.0
    memory_mb: float | None = 0.0
    for key, running in occupancy.running.items():
        held = sum(share.cpus for share in running.shares if share.node == name)
        whole = sum(share.cpus for share in running.shares)
        if not held:
            continue
        steps = reading.jobs.get(key)
        used = _cpus(key, running.started_ms, reading, before)
        cpus = None if cpus is None or used is None else cpus + used * held / whole
        memory_mb = (
            None
            if memory_mb is None or steps is None
            else memory_mb + sum(step.memory_mb for step in steps.values()) * held / whole
        )
    return NodeUse(name, reading.now_ms, None, cpus, memory_mb)


def _cpus(key: str, started_ms: int, reading: Reading, before: Reading | None) -> float | None:
    """CPUs that a job kept busy since the sample before; None where that is not known."""
    steps = reading.jobs.get(key)
    if steps is None or before is None or reading.at_s <= before.at_s:
        return None
    earlier = before.jobs.get(key)
    if earlier is None and started_ms < before.now_ms:
        return None
    seconds = sum(
        max(0, step.cpu_s - (earlier[name].cpu_s if earlier and name in earlier else 0)) for name, step in steps.items()
    )
    return seconds / (reading.at_s - before.at_s)
