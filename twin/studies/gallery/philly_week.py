"""A week of a training cluster with the rhythm of days, as the Philly trace has it; no job of that trace."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.arrivals import by_hours, rhythm, shortened
from twin.studies.gallery.base import Template

DAYS, WORKDAYS, WEEKEND, SHORTER = 7, 5, 0.35, 10


class PhillyWeek(Template):
    """Busy afternoons and a quiet weekend."""

    name, title = "philly_week", "Philly-like week"
    about = "400 generated jobs in seven days: busy afternoons, quiet nights and a quiet weekend."
    shows = "EASY backfilling on 100 servers: the queue grows by day and shrinks at the weekend."
    scheduler = "easy"

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        cluster, jobs = generate("oasis", num_jobs=400, num_servers=100, seed=cls.seed, horizon_slots=24 * 14)
        weights = [rhythm(h % 24, 0.15, 15) * (1 if h // 24 < WORKDAYS else WEEKEND) for h in range(24 * DAYS)]
        return cluster, by_hours(shortened(jobs, SHORTER), weights, cls.seed)
