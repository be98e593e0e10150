"""The experiment of Harmony, Fig. 10: makespan and completion times."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.base import Template


class HarmonyPaper(Template):
    """All jobs arrive at once."""

    name, title = "harmony_paper", "Harmony: jobs share machines"
    about = "80 jobs of eight models on 100 machines, all at once (Harmony, Fig. 10)."
    shows = "Compares completion times with dedicated machines for each job and with naive co-location."
    scheduler, rivals = "harmony", ("isolated", "naive_colocation")

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        return generate("harmony", num_jobs=80, num_servers=100, seed=cls.seed, slot_ms=60_000)
