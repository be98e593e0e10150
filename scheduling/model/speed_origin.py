"""Origin of a job's speed: the model of a paper, a measurement, or a run time for which it was solved.

Jobs of different origins differ in more than their size: the models count different things (docs/speed.md).
"""

from __future__ import annotations

from scheduling.model.measured_speed import MEASURED
from scheduling.model.provenance import DERIVED, OF_DURATIONS
from scheduling.model.provenance import MEASURED as BY_MEASUREMENT
from scheduling.model.speed import CHUNKS, FIELDS, MACHINES, SAMPLES, TIMES, source_of
from scheduling.model.values import Job

STATED = tuple(dict.fromkeys(part for parts in FIELDS.values() for part in parts))  # fields on which an origin depends
TITLES = {
    CHUNKS: "chunks of OASiS and A_online", SAMPLES: "samples of PD-ORS", MACHINES: "machines of Harmony",
}  # fmt: skip
RUN_TIMES = "run times of a trace"
SOLVED = (DERIVED, *OF_DURATIONS)  # provenance of a time solved for a run time


def origin_of(job: Job) -> str | None:
    """Origin of the speed in words; None if the speed is unknown."""
    source = source_of(job)
    if source is None:
        return None
    provenance = job.provenance.get(TIMES[source])
    if provenance == BY_MEASUREMENT:
        gradient_mb, fixed_ms = (getattr(job, name) or 0.0 for name in MEASURED[1:])
        return f"a measurement (gradient {gradient_mb:g} MB, fixed cost {fixed_ms:.3g} ms)"
    return RUN_TIMES if provenance in SOLVED else TITLES[source]
