"""Check of the storage of servers [A_online, Eq. 7]."""

from __future__ import annotations

from collections import defaultdict

from scheduling.model.bars import CHUNK, END, ROLE, SERVER
from scheduling.typed_workers.verification.checks import Checks
from scheduling.verification.replay import CLOUD
from scheduling.verification.rules import WORKER


def check_storage(check: Checks) -> None:
    """Check of the storage of servers, from the dispatch of a chunk to the end of its job, or to its own end."""
    dispatched = {
        event["data"]["job"]: event["at_ms"] for event in check.outcome.decisions if event["data"]["kind"] == "admitted"
    }
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for job, bars in check.outcome.bars.items():
        size = round((check.jobs[job].get("chunk_mb") or 0) * 1000)
        ends: dict[tuple[int, int], int] = {}
        for bar in bars:
            if bar[ROLE] == WORKER and bar[SERVER] != CLOUD:
                ends[bar[CHUNK], bar[SERVER]] = max(bar[END], ends.get((bar[CHUNK], bar[SERVER]), 0))
        completed = check.outcome.completed.get(job)
        for (_, server), end_ms in ends.items():
            until = (
                end_ms if check.storage == "chunk" else (completed[0] if completed else max(bar[END] for bar in bars))
            )
            changes[server] += [(dispatched.get(job, 0), size), (until, -size)]
    for server, own in changes.items():
        capacity = round((check.cluster["servers"][server]["capacity"].get("storage") or 0) * 1_000_000)
        held = 0
        for at_ms, by in sorted(own):  # at one time, releases go first
            held += by
            if held > capacity:
                check.problem(
                    "storage",
                    None,
                    f"server {check.name_of(server)} stores {held / 1000:g} of {capacity / 1000:g} MB from {at_ms} ms",
                )
                break
