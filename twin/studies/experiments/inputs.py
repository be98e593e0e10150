"""Inputs of experiments from the database: seeds, and the arrivals of an imported trace."""

from __future__ import annotations

from itertools import islice

import experiments
from experiments import Arrivals, Options
from twin.files.packed_jobs import unpack_jobs
from twin.infra.errors import Refused
from twin.models import Reproduction, Trace
from twin.traces.replay import MAX_ARRIVALS, scheduling_class

REQUIRED, OPTIONAL, NONE = "required", "optional", ""  # whether an experiment replays the arrivals of a trace


def arrivals_use(name: str) -> str:
    """REQUIRED, OPTIONAL or NONE."""
    return str(getattr(experiments.experiment(name), "ARRIVALS", NONE))


def options_of(of: Reproduction) -> Options:
    """Options of its parts. Refused if its trace was deleted."""
    if of.trace_name and of.trace is None:
        raise Refused(f"the trace {of.trace_name} was deleted; start the experiment again with another one")
    return Options(of.seeds, None if of.trace is None else arrivals_of(of.trace))


def arrivals_of(trace: Trace) -> Arrivals:
    """Arrivals and scheduling classes of the first jobs of an imported trace."""
    rows = (
        (int(at_ms), utility.sensitivity if utility else 0.0)
        for table in unpack_jobs(bytes(trace.jobs))
        for at_ms, utility in ((job.arrival_ms, job.utility) for job in table.jobs())
    )
    first = list(islice(rows, MAX_ARRIVALS))
    return Arrivals(trace.name, [at for at, _ in first], [scheduling_class(sensitivity) for _, sensitivity in first])
