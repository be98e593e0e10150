"""A_online-E: A_online on edge servers only (Section V), to show the value of the cloud."""

from __future__ import annotations

from scheduling.algorithms.a_online import AOnline
from scheduling.typed_workers.execution import TypedWorkers


class AOnlineEdge(AOnline):
    """A_online without a cloud."""

    name = "a_online_edge"
    title = "A_online-E"
    summary = "A_online on edge servers only: no chunk goes to the cloud, so jobs wait when the edge is full."
    model = TypedWorkers(chunks=True)
