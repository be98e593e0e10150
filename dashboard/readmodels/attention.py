"""Points of a situation that an operator should see, the most serious first."""

from __future__ import annotations

from typing import Any

from twin.analysis.situation.load import AWAY

SERIOUS, NOTABLE = "serious", "notable"
MIN_WAITING = 5  # jobs, below which a queue does not count as growing
MAX_NAMED = 3


def points(found: dict[str, Any]) -> list[dict[str, Any]]:
    """[{level, code, values}]; the browser has the sentences (static/js/home/attention.js)."""
    made = [*_away(found["load"]["servers"]), *_queue(found), *_suspended(found["jobs"])]
    if recent := found["rejected"]["recent"]:
        reasons = found["rejected"]["reasons"]
        made.append(_point(NOTABLE, "rejected", jobs=recent, reasons=reasons, window_ms=found["window_ms"]))
    return sorted(made, key=lambda point: point["level"] != SERIOUS)


def _away(servers: dict[str, Any]) -> list[dict[str, Any]]:
    away = [name for name, state in zip(servers["name"], servers["state"], strict=True) if state == AWAY]
    return [_point(SERIOUS, "away", servers=len(away), names=away[:MAX_NAMED])] if away else []


def _queue(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The queue is at its longest, and has at least doubled, in the later half of the window."""
    waiting = found["queue"]["curve"]["waiting"]
    late = waiting[len(waiting) // 2 :]
    if late and late[-1] >= MIN_WAITING and late[-1] >= 2 * max(1, late[0]) and late[-1] == max(late):
        times = found["queue"]["curve"]["at_ms"]
        ago_ms = times[-1] - times[len(times) // 2]
        return [_point(NOTABLE, "queue_grows", before=late[0], now=late[-1], ago_ms=ago_ms)]
    return []


def _suspended(jobs: dict[str, int]) -> list[dict[str, Any]]:
    return [_point(NOTABLE, "suspended", jobs=jobs["suspended"])] if jobs["suspended"] else []


def _point(level: str, code: str, **values: Any) -> dict[str, Any]:
    return {"level": level, "code": code, "values": values}
