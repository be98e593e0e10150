"""The experiment of PD-ORS, Fig. 7, at its largest number of jobs."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.base import Template


class PdOrsPaper(Template):
    """Dorm takes minutes and is left out."""

    name, title = "pd_ors_paper", "PD-ORS: workers share servers"
    about = "50 jobs on 100 shared servers, 20 slots (PD-ORS, Fig. 7)."
    shows = "Compares the total utility of PD-ORS with that of FIFO and DRF."
    scheduler, rivals = "pd_ors", ("fifo", "drf")

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        return generate("pd-ors", num_jobs=50, num_servers=100, seed=cls.seed, horizon_slots=20)
