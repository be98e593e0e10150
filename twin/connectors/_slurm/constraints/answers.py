"""Partitions, licences, the passes of the scheduler and what jobs ask for, from the answers of Slurm's commands."""

from __future__ import annotations

import re

from twin.connectors._slurm import amounts
from twin.connectors._slurm.hostlist import hosts
from twin.connectors._slurm.queue import KEY, array_tasks
from twin.connectors._slurm.rows import Separators
from twin.connectors.constraints import NOTHING_ASKED, Asked, QueueLimits
from twin.connectors.facts import ConnectorError

COLUMNS = ("JobArrayID", "Licenses", "OverSubscribe", "ReqNodes")
WHOLE_NODE = "NO"  # the job shares its nodes with nobody
PASSES = {  # parameter of the scheduler `slurm`: (setting, its default, factor)
    "main_ms": ("batch_sched_delay", 3, 1_000),
    "backfill_ms": ("bf_interval", 30, 1_000),
    "resolution_ms": ("bf_resolution", 60, 1_000),
    "window_ms": ("bf_window", 1_440, 60_000),
    "depth": ("bf_max_job_test", 500, 1),
}
SCHEDULER = re.compile(r"^SchedulerType\s*=\s*sched/backfill\s*$", re.MULTILINE)
LICENCE = re.compile(r"([^:*@\s]+(?:@[^:*\s]+)?)(?:[:*](\d+))?")


def read_asked(text: str, separators: Separators) -> dict[str, Asked]:
    """{key, of an array its number: what it asks for} from squeue, without jobs that ask for nothing."""
    found = {}
    for row in separators.rows("squeue", text):
        cells = separators.cells("squeue", row, COLUMNS)
        name = cells["JobArrayID"]
        asked = Asked(
            licences=_licences(amounts.known(cells["Licenses"])), exclusive=cells["OverSubscribe"] == WHOLE_NODE,
            only=tuple(hosts(amounts.known(cells["ReqNodes"]))),
        )  # fmt: skip
        if asked != NOTHING_ASKED:
            found[name if KEY.fullmatch(name) else array_tasks(name)[0]] = asked
    return found


def _licences(text: str) -> dict[str, int]:
    """`matlab:2,sw` as {"matlab": 2, "sw": 1}; a choice between licences (`a|b`) is none of them for certain."""
    found: dict[str, int] = {}
    for part in text.split(",") if "|" not in text else ():
        match = LICENCE.fullmatch(part.strip())
        if match is not None:
            found[match[1]] = found.get(match[1], 0) + int(match[2] or 1)
    return found


def read_licences(text: str) -> dict[str, int]:
    """{name: total} from `scontrol show licenses -o`."""
    found = {}
    for line in text.splitlines():
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        if "LicenseName" in fields:
            found[fields["LicenseName"]] = amounts.count(fields.get("Total", ""))
    return found


def read_queues(text: str) -> dict[str, QueueLimits]:
    """{partition: limits} from `scontrol show partition -o`."""
    found = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
        name = fields.get("PartitionName")
        if name is None:
            if line.startswith("No partitions"):
                continue
            raise ConnectorError(
                f"scontrol show partition: the answer has the line {line.strip()[:100]!r} instead of PartitionName="
            )
        most = fields.get("MaxNodes", "")
        found[name] = QueueLimits(
            max_nodes=int(most) if most.isdecimal() else None,
            max_ms=amounts.limit_ms(fields.get("MaxTime", "")),
            default_ms=amounts.limit_ms(fields.get("DefaultTime", "")),
            open=fields.get("State", "UP") == "UP",
            exclusive=fields.get("OverSubscribe") == "EXCLUSIVE",
        )
    return found


def read_passes(text: str) -> dict[str, int]:
    """Settings of the passes of the cluster's scheduler, by `scontrol show config`; empty if it does not backfill."""
    if SCHEDULER.search(text) is None:
        return {}
    return {name: _setting(text, setting, usual) * factor for name, (setting, usual, factor) in PASSES.items()}


def _setting(text: str, name: str, usual: int) -> int:
    """A number of SchedulerParameters, or what is used where it is not set."""
    match = re.search(rf"^SchedulerParameters\s*=.*\b{name}=(\d+)", text, re.MULTILINE)
    return int(match[1]) if match is not None and int(match[1]) else usual
