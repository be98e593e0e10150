"""An outage of edge servers in the middle of the arrivals."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.arrivals import HOUR_MS
from twin.studies.gallery.base import Template

EDGE = "w?[02468] p?[02468]"  # every second server


class EdgeFailure(Template):
    """Outage of the edge that the schedulers do not know before it begins."""

    name, title = "edge_failure", "Edge failure"
    about = "80 jobs on 40 edge and 40 cloud servers; all of the edge fails at hour 24, for six hours."
    shows = "Shows which jobs are moved, delayed or rejected by OASiS, which plans ahead."
    scheduler = "oasis"
    edits = ({"verb": "fail_servers", "at_ms": 24 * HOUR_MS, "servers": EDGE, "for_ms": 6 * HOUR_MS},)

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        return generate("oasis", num_jobs=80, num_servers=80, seed=cls.seed)
