"""The experiment of A_online, Fig. 7, at its smallest number of jobs."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.base import Template


class AOnlinePaper(Template):
    """The simulator preset."""

    name, title = "a_online_paper", "A_online: edge or cloud"
    about = "100 jobs in data chunks on 100 edge servers and the cloud, 137 days (A_online, Fig. 7)."
    shows = "Compares completion times with SRTF, Tiresias-L, BatchSche and the edge alone."
    scheduler, rivals = "a_online", ("a_online_edge", "srtf", "tiresias_l", "batch_sche")

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        return generate("a-online", num_jobs=100, num_servers=100, seed=cls.seed)
