"""The connection test: what answers, what the account sees, and the command that helps where something is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from scheduling.reporting.quantities import counted
from twin.connectors import facts
from twin.connectors._slurm.clock import Clock
from twin.connectors._slurm.commands import CallError, Commands
from twin.connectors._slurm.diagnostics import Diagnostics
from twin.connectors._slurm.rights import Rights, configuration, grants, sees_own
from twin.connectors.facts import ConnectorError, Finding, Found, Snapshot

MIN_VERSION = (22, 5)
MAX_OFFSET_MS = 2000
MAX_POLL_SHARE = 0.25


@dataclass(slots=True)
class Test:
    """One connection test; each step adds its finding, and a step that fails ends it, as the next ones need it."""

    __test__ = False  # pytest takes any Test* for a case

    commands: Commands
    diagnostics: Callable[[], Diagnostics]
    snapshot: Callable[[], Snapshot]
    clock: Clock
    rights: Rights
    interval_ms: int
    version: str = ""
    findings: list[Finding] = field(default_factory=list)

    def found(self) -> Found:
        steps = {
            "commands": self._version,
            "controller": self._controller,
            "queue": self._queue,
            "configuration": self._configuration,
        }
        for subject, step in steps.items():
            try:
                step()
            except ConnectorError as error:
                self.findings.append(Finding(subject, False, *_message_and_remedy(error)))
                break
        offset = None if self.clock.low_ms is None else self.clock.offset_ms
        return Found(self.version, offset, tuple(self.findings))

    def _say(self, subject: str, well: bool, message: str, helps: str = "", needed: bool = True) -> None:
        self.findings.append(Finding(subject, well, message, "" if well else helps, needed))

    def _version(self) -> None:
        message = self.commands.run("squeue", "--version").strip()
        match = re.search(r"(\d+)\.(\d+)(?:\.\d+)?", message)
        if match is None:
            raise ConnectorError(f"squeue --version says {message[:100]!r}, which names no version of Slurm")
        self.version = match[0]
        well = (int(match[1]), int(match[2])) >= MIN_VERSION
        self._say(
            "version", well, self.version, "Slurm 22.05 or newer is needed: install a newer slurm-client on this host"
        )

    def _controller(self) -> None:
        self.diagnostics()
        self._say("controller", True, "slurmctld answers")
        offset = self.clock.offset_ms
        message = (
            f"the controller's clock is {abs(offset) / 1000:.1f} s {'ahead of' if offset > 0 else 'behind'} the twin's"
            if offset
            else "agrees with the twin's"
        )
        self._say(
            "clock",
            abs(offset) <= MAX_OFFSET_MS,
            message,
            "synchronize both clocks: `timedatectl set-ntp true`",
            needed=False,
        )

    def _queue(self) -> None:
        snapshot = self.snapshot()
        counts = self.diagnostics()
        at = counts.counted_ms
        then = [job for job in snapshot.jobs if job.submitted_ms <= at and (job.ended_ms is None or job.ended_ms > at)]
        seen, expected = len(then), counts.pending + counts.running
        account = self.rights.account
        self._say("account", True, f"{account}; reading needs no right in Slurm")
        running = sum(job.state == facts.RUNNING for job in snapshot.jobs)
        message = f"sees {counted(len(snapshot.jobs), 'job')}, {running} of them running"
        some = expected > seen and seen < expected // 2 + 1
        if some:
            message += f"; slurmctld counted {expected} waiting or running, of which {seen} are seen"
        if some or snapshot.own:
            message += f": {sees_own(account) if snapshot.own else 'this account sees only some jobs'}"
        self._say("jobs", not (some or snapshot.own), message, grants(account), needed=False)
        nodes = snapshot.nodes or ()
        gpus = sum(node.gpus for node in nodes)
        self._say(
            "nodes",
            bool(nodes),
            f"{counted(len(nodes), 'node')}, {counted(gpus, 'GPU')}"
            + ("" if gpus else ": jobs are shown by their CPUs"),
            "see `sinfo -a`, PrivateData",
        )
        spent = snapshot.calls.get("squeue", 0)
        self._say(
            "cost", spent <= self.interval_ms * MAX_POLL_SHARE,
            f"a poll of the queue takes {spent:,} ms of an interval of {self.interval_ms:,} ms",
            f"raise the poll interval of the queue (interval_ms) to {spent * 4} ms or more", needed=False,
        )  # fmt: skip

    def _configuration(self) -> None:
        found = configuration(self.commands)
        private, hidden = found.get("PrivateData", "none"), self.rights.hidden_kinds(found)
        message = f"{private}, which this account sees" if private != "none" and not hidden else private
        well = not {"jobs", "nodes", "all"} & hidden
        self._say("PrivateData", well, message, grants(self.rights.account), needed=False)
        stated = re.match(r"\d+", found.get("MinJobAge", ""))
        age = int(stated[0]) if stated else 300  # slurm.conf(5)
        self._say(
            "MinJobAge", age * 1000 >= 2 * self.interval_ms, f"an ended job stays in the queue for {age} s",
            f"set MinJobAge={max(300, self.interval_ms // 500)} in slurm.conf, or a shorter interval_ms", needed=False,
        )  # fmt: skip
        tracked = "gres/gpu" in found.get("AccountingStorageTRES", "")
        self._say(
            "GPUs", tracked,
            "slurmctld adds up the GPUs of each job" if tracked
            else "GPUs are those requested; exclusive jobs show none",
            "set AccountingStorageTRES=gres/gpu in slurm.conf", needed=False,
        )  # fmt: skip
        self._accounting(found.get("AccountingStorageType", "(null)"))

    def _accounting(self, kind: str) -> None:
        helps = "set AccountingStorageType=accounting_storage/slurmdbd in slurm.conf"
        if "slurmdbd" not in kind:
            self._say("accounting", False, "off: jobs that end between two polls stay unknown", helps, needed=False)
            return
        try:
            self.commands.run("sacct", "-n", "-X", "-S", "now-1minutes", "-o", "JobID")
        except ConnectorError as error:
            message, helps = _message_and_remedy(error)
            self._say("accounting", False, message, helps or "try `systemctl status slurmdbd`", needed=False)
        else:
            self._say("accounting", True, "sacct answers: jobs that ended during an interruption are filled in")


def _message_and_remedy(error: ConnectorError) -> tuple[str, str]:
    return (error.message, error.helps) if isinstance(error, CallError) else (str(error), "")
