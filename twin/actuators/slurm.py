"""Slurm: changes nice, begin time and required nodes of waiting jobs with scontrol, which needs the level Operator.

`nice` moves a job in the queue and keeps its ageing and fair share, which a fixed priority would end; a begin time
expires by itself; both, and the required nodes, can be undone exactly.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from scheduling.kernel.parameters import Parameters, parameter
from twin.actuators.base import Actuator
from twin.actuators.facts import NICE, NODES, NOT_BEFORE, ActuatorError, Change, WaitingJob
from twin.connectors._slurm import amounts, rights
from twin.connectors._slurm.commands import CallError, Commands, call_timeout_ms, configuration_file
from twin.connectors._slurm.hostlist import hosts
from twin.connectors._slurm.rows import Separators
from twin.connectors.facts import ConnectorError

COLUMNS = (
    "JobArrayID", "State", "Reason", "SubmitTime", "EligibleTime", "PriorityLong", "Nice", "ReqNodes", "NumNodes",
    "Partition", "Account", "UserName", "Dependency",
)  # fmt: skip
MAX_BYTES = 64_000_000
MAX_NAMED = 100  # jobs asked for by name; the whole queue is read for more
GONE = ("Invalid job id", "no longer pending")


@dataclass(frozen=True, slots=True)
class SlurmActuatorParameters(Parameters):
    prefix: str = parameter(
        "", "Command put before each call, which gives the right to change jobs, for example "
        "sudo -n -u slurm-operator",
        title="Command prefix",
    )  # fmt: skip
    conf: str = configuration_file()
    timeout_ms: int = call_timeout_ms()


class SlurmActuator(Actuator):
    name = "slurm"
    title = "Slurm"
    Parameters = SlurmActuatorParameters

    def __init__(self, parameters: SlurmActuatorParameters | None = None) -> None:
        super().__init__(parameters)
        p = self.parameters
        self._commands = Commands(p.prefix, p.conf, p.timeout_ms, MAX_BYTES)

    def account(self) -> str:
        name = self._run("id", "-un").strip()
        if name == "root" or rights.configuration(self._commands).get("SlurmUser", "").partition("(")[0] == name:
            return f"{name}, which may change every job"
        try:
            level = self._run("sacctmgr", "-n", "-P", "show", "user", name, "format=AdminLevel").strip()
        except ActuatorError:  # without accounting nobody has a level
            level = ""
        if level.lower() in rights.ALL:
            return f"{name}, {level.lower()}"
        return f"{name}, which may change only its own jobs: `sacctmgr modify user {name} set adminlevel=operator`"

    def waiting(self, keys: Sequence[str] | None = None) -> dict[str, WaitingJob]:
        separators = Separators()
        which = () if keys is None or len(keys) > MAX_NAMED else ("-j", ",".join(keys))
        if which and not keys:
            return {}
        try:
            answer = self._run("squeue", "-h", "-a", "-t", "PD", *which, "-O", separators.format(COLUMNS))
        except ActuatorError as error:
            if keys is not None and len(keys) == 1 and GONE[0] in str(error):
                return {}
            raise
        try:
            found = [
                _job(separators.cells("squeue", row, COLUMNS), time.time_ns() // 1_000_000 + self.clock_offset_ms)
                for row in separators.rows("squeue", answer)
            ]
        except ConnectorError as error:
            raise ActuatorError(str(error)) from error
        return {job.key: job for job in found if keys is None or job.key in keys}

    def apply(self, change: Change) -> None:
        self._run("scontrol", "update", f"jobid={change.key}", _assignment(change))

    @staticmethod
    def command(change: Change) -> str:
        return f"scontrol update jobid={change.key} {_assignment(change)}"

    def _run(self, *command: str) -> str:
        try:
            return self._commands.run(*command)
        except CallError as error:
            if any(words in error.message for words in ("Invalid user id", "ccess/permission denied")):
                raise ActuatorError(
                    f"{error.message}; the account may not change jobs of others: "
                    "`sacctmgr modify user ACCOUNT set adminlevel=operator`"
                ) from error
            raise ActuatorError(str(error)) from error
        except ConnectorError as error:
            raise ActuatorError(str(error)) from error


def _assignment(change: Change) -> str:
    if change.field == NICE:
        return f"nice={change.after or 0}"
    if change.field == NODES:
        return f"reqnodelist={change.after or ''}"
    assert change.field == NOT_BEFORE
    return "starttime=now" if change.after is None else f"starttime=uts{int(change.after) // 1000}"


def _job(row: dict[str, str], now_ms: int) -> WaitingJob:
    """The job of a row. A begin time that is over is none."""
    key = row["JobArrayID"]
    eligible_ms = amounts.seconds_ms(row["EligibleTime"])
    later = eligible_ms is not None and eligible_ms > now_ms
    return WaitingJob(
        key=key, submitted_ms=amounts.seconds_ms(row["SubmitTime"]) or 0, priority=int(row["PriorityLong"]),
        nice=int(row["Nice"]), not_before_ms=eligible_ms if later else None,
        nodes=",".join(hosts(amounts.known(row["ReqNodes"]))), node_count=amounts.count(row["NumNodes"]) or 1,
        queue=row["Partition"], account=amounts.known(row["Account"]), user=row["UserName"],
        held="JobHeld" in row["Reason"] or row["PriorityLong"] == "0", depends_on=amounts.known(row["Dependency"]),
        single=key.isdecimal(),
    )  # fmt: skip
