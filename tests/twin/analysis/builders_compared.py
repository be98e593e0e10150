"""Two runs that are compared, by hand: two servers and three jobs."""

from tests.twin.analysis.builders_comparing import bar, decided, events_of, job, planned
from twin.analysis.comparison import Compared, side_of
from twin.analysis.comparison.decision_text import decision_of
from twin.analysis.comparison.outcomes import FOREVER
from twin.eventlog.stored_states import at
from twin.models import Run

PRICED = {"slots": "all", "low": [], "mean": [], "high": []}


JOBS = [job("x", 0), job("y", 0), job("z", 100, "m2", workers=3)]


START = [
    (0, "run_started", {}), (0, "job_arrived", {"job": 0}), (0, "job_arrived", {"job": 1}),
    decided(0, 0, "started"), planned(0, 0, 400, bar(0, 0, 0, 400)), decided(0, 1, "started"),
    planned(0, 1, 200, bar(1, 1, 0, 200)), (100, "job_arrived", {"job": 2}),
]  # fmt: skip


BASE = events_of(
    *START, decided(100, 2, "rejected", "gang_too_large", {"role": "worker", "count": 3, "most": 2}),
    (200, "job_completed", {"job": 1, "utility": 2.0}), (400, "job_completed", {"job": 0, "utility": 4.0}),
    (400, "run_finished", {}),
)  # fmt: skip


OTHER = events_of(
    *START, decided(100, 2, "started"), planned(100, 2, 300, bar(2, 1, 200, 300)),
    (200, "job_completed", {"job": 1, "utility": 2.0}), decided(250, 0, "preempted", "server_gone", {}),
    planned(250, 0, None), (300, "job_completed", {"job": 2, "utility": 1.0}), decided(350, 0, "resumed"),
    planned(350, 0, 500, bar(0, 1, 350, 500)), (500, "job_completed", {"job": 0, "utility": 3.0}),
    (500, "run_finished", {}),
)  # fmt: skip


def decision(side, job, at_ms, until_ms=FOREVER):
    return decision_of(Run.objects.get(pk=side.run_id), side, job, at_ms, until_ms)


def compared(*runs, until_ms=FOREVER):
    return Compared([side_of(run, at(run.pk), until_ms) for run in runs], until_ms)
