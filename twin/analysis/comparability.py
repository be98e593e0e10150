"""Rule for ranking the metrics of two runs: same trace, and jobs that train by the same models.

Races, comparisons and sweeps share it. Edits may change jobs and servers: their effect is what is compared. Metrics of
utility also need slots of the same length (changed_jobs.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from scheduling.kernel.scheduler import BaseScheduler
from scheduling.model.values import Cluster
from twin.files.stored_jobs import same_jobs
from twin.mirror.whatif.inputs import FORMAT
from twin.models import Run, Trace
from twin.scenarios import phase_rules, store

# metrics that a live cluster does not have: it admits nothing, it reports no preemptions, and it has queued again a job
# that stopped
NOT_RECORDED = ("admitted", "suspensions", "preemptions")
BY_TRAINING = {training: model for model in phase_rules.MODELS for training in model.trainings}
Models = tuple[str, ...]
REAL: Models = tuple(training for training, model in BY_TRAINING.items() if model.records)  # of a real cluster


class Basis(NamedTuple):
    """Basis of a run's metrics: trace, training models and length of the slots in which utilities count time."""

    models: Models  # by which its jobs train
    trace_id: int
    kin_id: int  # the trace by whose ids its jobs are known: of a cut that of the mirrored run, else its own
    slot_ms: int
    from_ms: int = 0  # a cut begins then


def model_of(scheduler: BaseScheduler, cluster: Cluster) -> str:
    """Training model of jobs (TRAINING_MODELS) or the execution model, otherwise the scheduler's name."""
    return scheduler.model.training(scheduler, cluster)


def models_of(run: Run) -> Models:
    """Training models of the schedulers of the run, in order, without repetitions."""
    found: list[str] = []
    for own in phase_rules.of_stages(run, store.stages_of(run.scenario, run.edits)):
        if not found or found[-1] != own.training:
            found.append(own.training)
    return tuple(found)


def basis_of(run: Run) -> Basis:
    """Basis of a run after its edits."""
    trace, slot_ms = run.scenario.trace, store.of_run(run)[0].slot_ms
    if trace.format != FORMAT:
        return Basis(models_of(run), trace.pk, trace.pk, slot_ms)
    cut = trace.report["cut"]
    return Basis(models_of(run), trace.pk, cut["trace"], slot_ms, cut["at_ms"])


def kin(basis: Basis, other: Basis) -> bool:
    """True if jobs with the same id are the same job: of one trace, or of one real cluster and cuts of it."""
    return same_trace(basis.kin_id, other.kin_id)


def rankable(basis: Basis, other: Basis) -> bool:
    """True if the metrics of two runs can be ranked."""
    return comparable(basis.models, other.models) and same_trace(basis.trace_id, other.trace_id)


def same_trace(trace_id: int, other_id: int) -> bool:
    """True if two traces hold equal jobs, as when one was uploaded twice."""
    if trace_id == other_id:
        return True
    counts = set(Trace.objects.filter(pk__in=(trace_id, other_id)).values_list("job_count", flat=True))
    return len(counts) == 1 and 0 not in counts and same_jobs(store.jobs_of(trace_id), store.jobs_of(other_id))


def recorded(models: Sequence[str]) -> bool:
    """True for the run of a real cluster, which is not simulated."""
    return bool(models) and all(model in BY_TRAINING and BY_TRAINING[model].records for model in models)


def named(models: Sequence[str]) -> str:
    """'typed workers, then co-location groups'"""
    known = {model: BY_TRAINING[model].trainings[model] for model in models if model in BY_TRAINING}
    return ", then ".join(known.get(model, f"that of {model}") for model in models)


def comparable(models: Sequence[str], others: Sequence[str]) -> bool:
    """True if the metrics of jobs that train by these models can be ranked."""
    return tuple(models) == tuple(others)
