"""Events and run states as the JSON messages that browsers receive (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import orjson
from django.utils import timezone

from scheduling.model import Event
from twin.models import Run, Trace


def frame(events: Sequence[Event]) -> bytes:
    """Consecutive events as one message; the bars of a plan become one flat list of numbers."""
    lines = [[e.seq, e.at_ms, e.kind, _flat(e.kind, e.data)] for e in events]
    return orjson.dumps(
        {"type": "frame", "first": events[0].seq, "last": events[-1].seq, "sim_ms": events[-1].at_ms, "events": lines}
    )


def status(run: Run) -> dict[str, Any]:
    """Where the run stands: what tiles, toolbars and badges show."""
    return {
        "type": "status",
        "id": run.pk,
        "status": run.status,
        "wanted": run.wanted,
        "message": run.message,
        "mode": run.mode,
        "last_seq": run.last_seq,
        "sim_ms": run.sim_ms,
        "end_ms": run.end_ms,
        "next_event_ms": run.next_event_ms,
        "clock": {
            "sim_ms": run.clock_sim_ms,
            "wall_ms": int(run.clock_wall.timestamp() * 1000) if run.clock_wall else None,
            "speed": run.clock_speed,
        },
        "server_wall_ms": int(timezone.now().timestamp() * 1000),
        "metrics": run.metrics,
        "decision_ms": run.decision_ms,
        "certificate": run.certificate,
    }


def trace_row(trace: Trace) -> dict[str, Any]:
    """Where an import stands."""
    return {
        "id": trace.pk,
        "name": trace.name,
        "format": trace.format,
        "status": trace.status,
        "progress": trace.progress,
        "message": trace.message,
        "job_count": trace.job_count,
        "server_count": trace.server_count,
    }


def _flat(kind: str, data: Any) -> Any:
    if kind == "planned":
        return {**data, "bars": list(chain.from_iterable(data["bars"]))}
    if kind == "lanes_planned":
        return {name: matrix.ravel().tolist() for name, matrix in data.items()}
    return data
