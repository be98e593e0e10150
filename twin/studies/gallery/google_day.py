"""A day of many small jobs in slots of five minutes, as in traces of Google clusters; no job of those traces."""

from __future__ import annotations

from scheduling.model.values import Cluster, Job
from scheduling.workloads import generate
from twin.studies.gallery.arrivals import by_hours, rhythm, shortened
from twin.studies.gallery.base import Template

SLOT_MS, SHORTER = 300_000, 40


class GoogleDay(Template):
    """Arrivals never stop, and are most at noon."""

    name, title = "google_day", "Google-like day"
    about = "600 generated short jobs in 24 hours on 100 servers, in slots of five minutes."
    shows = "Shows how the shares of DRF change as jobs arrive and complete."
    scheduler = "drf"

    @classmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        cluster, jobs = generate(
            "oasis", num_jobs=600, num_servers=100, seed=cls.seed, horizon_slots=24 * 24, slot_ms=SLOT_MS
        )
        return cluster, by_hours(shortened(jobs, SHORTER), [rhythm(hour, 0.5, 12) for hour in range(24)], cls.seed)
