"""A_online-E: A_online that schedules on edge servers only (Section V), to show what the cloud is worth."""

from __future__ import annotations

from scheduling.algorithms.a_online import AOnline
from scheduling.typed_workers.execution import TypedWorkers


class AOnlineEdge(AOnline):
    """The same without a cloud."""

    name = "a_online_edge"
    title = "A_online-E"
    summary = "A_online on edge servers only: no chunk goes to the cloud, so jobs wait when the edge is full."
    model = TypedWorkers(chunks=True)
