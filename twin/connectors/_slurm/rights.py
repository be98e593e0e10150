"""Rights of the account: with PrivateData=jobs, squeue shows only its own jobs and no error."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

from twin.connectors._slurm.commands import Commands
from twin.connectors.facts import ConnectorError, JobFact

AGAIN_S = 60.0  # between two readings of the account's rights
SETTING = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.MULTILINE)
ALL = ("operator", "administrator")  # admin levels that see everything


class Rights:
    """Owners of the jobs in a snapshot, by the snapshot, the configuration of slurmctld and the account's level."""

    def __init__(self, commands: Commands) -> None:
        self.commands = commands
        self._account, self._hidden, self._read_at = "", False, float("-inf")

    @property
    def account(self) -> str:
        """Name of the account by which the commands run."""
        self._account = self._account or self.commands.run("id", "-un").strip()
        return self._account

    def only_own(self, jobs: Iterable[JobFact]) -> str:
        """The account's name where it sees no jobs of others; else empty.

        A snapshot with jobs of others answers by itself. After it the rights are read at once, as they may be gone.
        """
        users = {job.user for job in jobs}
        if len(users) > 1 or not users <= {self.account}:
            self._read_at = float("-inf")
            return ""
        if time.monotonic() - self._read_at >= AGAIN_S:
            self._hidden = bool({"jobs", "all"} & self.hidden_kinds(configuration(self.commands)))
            self._read_at = time.monotonic()
        return self.account if self._hidden else ""

    def hidden_kinds(self, found: dict[str, str]) -> set[str]:
        """Kinds of data that others own and this account does not see: jobs, nodes, all ..."""
        private = set(found.get("PrivateData", "none").split(",")) - {"none", "(null)", ""}
        return private if private and not self._sees_all(found) else set()

    def _sees_all(self, found: dict[str, str]) -> bool:
        if self.account == "root" or found.get("SlurmUser", "").partition("(")[0] == self.account:
            return True
        try:
            level = self.commands.run("sacctmgr", "-n", "-P", "show", "user", self.account, "format=AdminLevel")
        except ConnectorError:  # without accounting nobody has a level
            return False
        return level.strip().lower() in ALL


def configuration(commands: Commands) -> dict[str, str]:
    """Settings of slurm.conf as the controller has them."""
    return dict(SETTING.findall(commands.run("scontrol", "show", "config")))


def sees_own(account: str) -> str:
    """Sentence for an account that sees no jobs of others."""
    return f"this account ({account}) sees only its own jobs, because PrivateData in slurm.conf names jobs"


def grants(account: str) -> str:
    """Commands that let the account see everything."""
    return (
        f"`sacctmgr modify user {account} set adminlevel=operator` lets it see all; for a user that accounting does "
        f"not know: `sacctmgr add user {account} account=root adminlevel=operator`; without accounting, leave jobs out "
        "of PrivateData"
    )
