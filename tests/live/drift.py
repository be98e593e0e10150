"""The drift audit of a live cluster in a running stack, repeated until what differed once is settled."""

from __future__ import annotations

from typing import Any

import orjson

from tests.twin.runtime.stack import Stack, wait_until

AUDIT = """
import json, time
from twin.mirror import drift_task
from twin.models import Connection
connection = Connection.objects.select_related("run").get(name="lab")
if not connection.drift.get("suspected") or drift_task.due(connection, time.time()):
    drift_task.audit(connection.pk)
    connection.refresh_from_db()
print(json.dumps(connection.drift))
"""


def settled(stack: Stack, compared: int = 0, max_wait_s: float = 90.0) -> tuple[str, list[dict[str, Any]]]:
    """Error and differences of the first final audit that compared at least `compared` subjects.

    A difference that one audit finds is suspected: log and cluster are not read at the same moment. It is reported
    when the next audit finds it again.
    """
    drift: dict[str, Any] = {}

    def final() -> bool:
        drift.update(orjson.loads(stack.manage(AUDIT)))
        return bool(drift["error"]) or (not drift["suspected"] and drift["compared"] >= compared)

    wait_until(final, "the audit is final", max_wait_s)
    assert drift["error"] or drift["count"] == len(drift["differences"])
    return drift["error"], drift["differences"]
