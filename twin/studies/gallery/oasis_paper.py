"""The experiment of OASiS, Fig. 3, at its smallest number of jobs."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.base import Template


class OasisPaper(Template):
    """Dorm takes minutes and is left out."""

    name, title = "oasis_paper", "OASiS: utility on separate servers"
    about = "100 jobs on 50 worker and 50 parameter servers, 300 slots (OASiS, Fig. 3)."
    shows = "Compares the total utility of OASiS with that of FIFO, DRF and RRH."
    scheduler, rivals = "oasis", ("fifo", "drf", "rrh")

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        return generate("oasis", num_jobs=100, num_servers=100, seed=cls.seed, horizon_slots=300)
