"""The controller's own counts, from `sdiag`: clock, jobs, last backfill pass, and the cost of each user's calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

from twin.connectors.facts import ConnectorError

BY_USER = re.compile(r"^\s+\S+\s+\(\s*(\d+)\) count:(\d+)\s+ave_time:\d+\s+total_time:(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """One answer of sdiag; counts of jobs are those of counted_ms, as slurmctld counts every 30 s.

    spent  {uid: (calls, ms)} since since_ms
    backfilled_ms  when the last backfill pass ran, in whole seconds; None before the first one
    """

    at_ms: int
    since_ms: int
    counted_ms: int
    pending: int
    running: int
    spent: dict[int, tuple[int, float]]
    backfilled_ms: int | None = None


def read_diagnostics(text: str) -> Diagnostics:
    """The values in an answer of sdiag."""
    users = text.partition("Remote Procedure Call statistics by user")[2]
    last = re.search(r"^\s*Last cycle when: .*\((\d+)\)", text, re.MULTILINE)
    return Diagnostics(
        at_ms=_number(text, r"sdiag output at .*\((\d+)\)") * 1000,
        since_ms=_number(text, r"Data since .*\((\d+)\)") * 1000,
        counted_ms=_number(text, r"Job states ts: .*\((\d+)\)") * 1000,
        pending=_number(text, r"Jobs pending:\s*(\d+)"),
        running=_number(text, r"Jobs running:\s*(\d+)"),
        spent={int(uid): (int(calls), int(micros) / 1000) for uid, calls, micros in BY_USER.findall(users)},
        backfilled_ms=int(last[1]) * 1000 if last and int(last[1]) else None,
    )


def _number(text: str, pattern: str) -> int:
    found = re.search(pattern, text)
    if found is None:
        raise ConnectorError(f"sdiag: no line like {pattern!r} in its answer, which begins with {text.strip()[:100]!r}")
    return int(found[1])
