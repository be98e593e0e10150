"""A_online-E: A_online on servers only (Section V), to show the value of the unlimited cloud."""

from __future__ import annotations

from scheduling.algorithms.a_online import AOnline
from scheduling.typed_workers.execution import TypedWorkers


class AOnlineEdge(AOnline):
    """A_online without the unlimited cloud."""

    name = "a_online_edge"
    title = "A_online-E"
    summary = "A_online on servers only: no chunk goes to the unlimited cloud, so jobs wait when all servers are full."
    model = TypedWorkers(chunks=True)
