"""A crowd of jobs within two hours of an otherwise even load."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.arrivals import by_hours, shortened
from twin.studies.gallery.base import Template

HOURS, CROWD, TIMES, SHORTER = 48, (20, 21), 30.0, 10


class FlashCrowd(Template):
    """Workload with a flash crowd, whose hours have 30 times the arrivals of other hours."""

    name, title = "flash_crowd", "Flash crowd"
    about = "150 jobs in two days on 80 servers; more than half of them arrive within two hours."
    shows = "Compares OASiS, FIFO and DRF during and after the crowd."
    scheduler, rivals = "oasis", ("fifo", "drf")

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        cluster, jobs = generate("oasis", num_jobs=150, num_servers=80, seed=cls.seed)
        weights = [TIMES if hour in CROWD else 1.0 for hour in range(HOURS)]
        return cluster, by_hours(shortened(jobs, SHORTER), weights, cls.seed)
