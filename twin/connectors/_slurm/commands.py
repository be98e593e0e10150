"""Calls of Slurm's commands: argument lists without a shell, with a time limit and a bound on what they may print."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scheduling.kernel.parameters import parameter
from twin.connectors.facts import ConnectorError, NoAccounting
from twin.processes import bounded_command

ENVIRONMENT = {
    "LC_ALL": "C",
    "SLURM_TIME_FORMAT": "%s",  # Unix seconds: no time zones
    "SLURM_BITSTR_LEN": "0",  # the tasks of an array in full, not their first 64 characters
}
PLAIN = re.compile(r"[\w@%+=:,./-]+")  # what a remote shell, which ssh starts, takes as it is
ACCOUNTING_OFF = "accounting storage is disabled"
REMEDIES = (  # what Slurm and ssh print, and what helps
    (r"munge.*(failed|error)|plugin_init.*munge|Failed to access .*munge",
     "munge does not work on this host: `systemctl restart munge`, then `munge -n | unmunge`"),
    (r"Protocol authentication error|Invalid authentication credential|Invalid credential",
     "the munge keys of this host and of the controller differ: copy /etc/munge/munge.key from the controller"),
    (r"Incompatible versions",
     "the commands on this host have another Slurm version than the controller: install its version"),
    (r"cannot stat file|Unable to process configuration|establish a configuration source|DNS SRV",
     "no slurm.conf: set the parameter conf to its path on this host"),
    (r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED",
     "the key of the host is unknown or has changed: compare it with `ssh-keyscan HOST`, and add it to "
     "~/.ssh/known_hosts of this user"),
    (r"Could not resolve hostname", "there is no host of this name: correct the parameter prefix"),
    (r"ssh: connect to host",
     "no ssh server answers there: correct host and port in the parameter prefix, or start sshd"),
    (r"Permission denied",
     "ssh cannot log in without a password: try `ssh -o BatchMode=yes HOST true` as this user"),
    (ACCOUNTING_OFF, "set AccountingStorageType=accounting_storage/slurmdbd in slurm.conf"),
    (r"Access/permission denied|Access denied",
     "the account lacks the right: see PrivateData in `scontrol show config`"),
    (r"Unable to contact slurm controller|Connection refused|timed out|Unexpected message|Zero Bytes",
     "slurmctld does not answer: `scontrol ping`, `systemctl status slurmctld`"),
)  # fmt: skip


class CallError(ConnectorError):
    """A call that failed: its message, and a remedy ("" if unknown)."""

    def __init__(self, message: str, helps: str = "") -> None:
        super().__init__(f"{message}; {helps}" if helps else message)
        self.message, self.helps = message, helps


class AccountingOff(CallError, NoAccounting):
    """A call of sacct on a cluster without accounting."""


@dataclass(slots=True)
class Commands:
    """The way to Slurm's commands: on this host, or behind a prefix such as `ssh -o BatchMode=yes login1`.

    spent_ms  milliseconds of the last call of each command
    """

    prefix: str = ""
    conf: str = ""
    timeout_ms: int = 5000
    max_bytes: int = 64_000_000
    spent_ms: dict[str, int] = field(default_factory=dict)

    def run(self, *command: str) -> str:
        """Output of the command; ConnectorError if it is missing, fails, hangs or prints too much."""
        name = command[0]
        if self.conf and not self.prefix and not Path(self.conf).is_file():  # behind a prefix it is on another host
            raise CallError(
                f"{name} was not called: there is no file {self.conf} on this host", "correct the parameter conf"
            )
        began = time.monotonic()
        try:
            code, out, err = bounded_command.run(self.argv(command), self.timeout_ms / 1000, self.max_bytes)
        except FileNotFoundError as error:
            raise CallError(
                f"{name} cannot be started: there is no command {error.filename!r} on this host",
                "correct the parameter prefix",
            )
        except TimeoutError:
            helps = "slurmctld may be down or overloaded: try `scontrol ping`, or raise the call timeout (timeout_ms)"
            raise CallError(f"{name} did not answer within {self.timeout_ms / 1000:g} s and was stopped", helps)
        except OverflowError:
            helps = "raise the output limit (max_output_mb) if the answer is right"
            raise CallError(f"{name} printed more than {self.max_bytes / 1e6:g} MB and was stopped", helps)
        finally:
            self.spent_ms[name] = round((time.monotonic() - began) * 1000)
        if code:
            raise _failure(name, code, err)
        return out

    def argv(self, command: tuple[str, ...]) -> list[str]:
        """The argument list; `env` sets the variables, as they do not travel through ssh."""
        for word in command:
            if not PLAIN.fullmatch(word):
                raise ConnectorError(
                    f"{command[0]}: argument {word!r} has characters that a remote shell "
                    f"would read; allowed: {PLAIN.pattern}"
                )
        given = ENVIRONMENT | ({"SLURM_CONF": self.conf} if self.conf else {})
        return [*shlex.split(self.prefix), "env", *(f"{key}={value}" for key, value in given.items()), *command]


def remedy(message: str) -> str:
    """Remedy for an error message of Slurm, munge or ssh; "" if unknown."""
    return next((helps for pattern, helps in REMEDIES if re.search(pattern, message, re.IGNORECASE)), "")


def _failure(name: str, code: int, err: str) -> CallError:
    if code in (126, 127):
        helps = (
            "apt-get install slurm-client (Debian, Ubuntu), or set the parameter prefix to a command that reaches a "
            "host with it"
        )
        return CallError(f"{name} was not found", helps)
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    message = re.sub(r"[^\x20-\x7e]+", " ", lines[-1])[:200] if lines else "without a message"
    off = re.search(ACCOUNTING_OFF, err, re.IGNORECASE)
    return (AccountingOff if off else CallError)(f"{name} failed with exit code {code}: {message}", remedy(err))


def configuration_file() -> Any:
    """The parameter `conf` of whatever calls these commands."""
    return parameter(
        "", "Path of slurm.conf on the host where the commands run; empty: their default", title="Configuration file"
    )


def call_timeout_ms() -> Any:
    """The parameter `timeout_ms`."""
    return parameter(
        5000, "Time after which a call of a Slurm command fails", low=100, high=120_000, unit="ms", title="Call timeout"
    )
