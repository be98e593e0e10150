"""Edits of future jobs: add, drop, change, delay, scale the arrival rate, change utility."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.limits import MAX_INT
from scheduling.model.speed import restated
from scheduling.model.values import Job, ModelError, shorten
from scheduling.reporting import job_fields
from scheduling.reporting.quantities import duration
from twin.scenarios.edits.base import (
    MAX_SHOWN,
    Edit,
    ScenarioState,
    a_few,
    arriving,
    change_jobs,
    earliest,
    jobs_field,
    listed,
    to_come,
)

MAX_ADDED = 100_000  # by all edits of a scenario together
CHANGEABLE = (
    "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb", "num_samples", "global_batch",
    "sample_ms", "workers_per_ps", "requested_workers", "comp_machine_ms", "comm_ms", "iterations", "input_gb",
    "model_gb", "chunk_mb", "limit_ms",
)  # fmt: skip
_WHOLE = {f.name for f in fields(Job) if "int" in str(f.type) and "float" not in str(f.type)}


@dataclass(frozen=True, slots=True)
class _Add(Parameters):
    like: str = parameter("", "Id of the job to copy", title="Job to copy")
    count: int = parameter(1, "Number of copies", low=1, high=MAX_ADDED, title="Number of jobs")
    arrival_ms: int | None = parameter(
        None,
        "Arrival of the first job, later than the edit (an edit at 0 also allows 0); empty: as soon as possible",
        type=int,
        low=0,
        high=MAX_INT,
        unit="ms",
        title="Arrival",
    )
    every_ms: int = parameter(0, "Time between two arrivals", low=0, high=MAX_INT, unit="ms", title="Interval")


class AddJobs(Edit):
    """Additional copies of a job of the trace."""

    name, title, about = "add_jobs", "Add jobs", "Adds copies of a job of the trace."
    Parameters, of_jobs = _Add, True

    def apply(self, state: ScenarioState) -> ScenarioState:
        p = self.parameters
        model = next((job for job in state.jobs if job.id == p.like), None)
        if model is None:
            empty = "parameter like (Job to copy) is empty; give the id of a job"
            missing = f"no job has the id {shorten(p.like)!r}" if p.like else empty
            raise ModelError(f"{missing}; jobs: {a_few([job.id for job in state.jobs[:MAX_SHOWN]], len(state.jobs))}")
        first_ms = self._first_ms
        if first_ms < self.at_ms:
            raise ModelError(
                f"a job cannot arrive at {self.time(first_ms)}, before the edit takes effect; choose a later arrival"
            )
        if first_ms + p.every_ms * (p.count - 1) > MAX_INT:
            raise ModelError(
                f"the last of {p.count:,} jobs would arrive after 2^53 ms; reduce the time between arrivals"
            )
        added = state.added + p.count
        if added > MAX_ADDED:
            raise ModelError(
                f"the edits of a scenario can add at most {MAX_ADDED:,} jobs, got {added:,} with this one; add fewer"
            )
        taken = {job.id for job in state.jobs}
        names = (name for n in range(1, 2 * MAX_ADDED + len(taken)) if (name := f"{model.id[:180]}+{n}") not in taken)
        new = [
            replace(arriving(model, first_ms + p.every_ms * n, self.at_ms), id=name)
            for n, name in zip(range(p.count), names, strict=False)
        ]
        return replace(state, jobs=sorted([*state.jobs, *new], key=lambda job: job.arrival_ms), added=added)

    def _words(self) -> str:
        p = self.parameters
        what = f"a job like {p.like}" if p.count == 1 else f"{p.count:,} jobs like {p.like}"
        every = f", one every {duration(p.every_ms)}" if p.count > 1 and p.every_ms else ""
        return f"Add {what}, arriving at {self.time(earliest(self._first_ms, self.at_ms))}{every}"

    @property
    def _first_ms(self) -> int:
        given: int | None = self.parameters.arrival_ms
        return self.at_ms if given is None else given


@dataclass(frozen=True, slots=True)
class _Which(Parameters):
    jobs: str = jobs_field()


class DropJobs(Edit):
    """Removal of future jobs."""

    name, title, about = "drop_jobs", "Remove jobs", "Removes future jobs."
    Parameters, of_jobs = _Which, True

    def apply(self, state: ScenarioState) -> ScenarioState:
        chosen = self.chosen_jobs(state, self.parameters.jobs)
        if len(chosen) == len(state.jobs):
            raise ModelError(
                f"at least one job must remain, and {shorten(self.parameters.jobs)!r} selects all "
                f"{len(chosen):,}; select fewer"
            )
        return change_jobs(state, chosen, lambda job: None)

    def _words(self) -> str:
        return f"Remove jobs {listed(self.parameters.jobs)}"


@dataclass(frozen=True, slots=True)
class _Change(Parameters):
    jobs: str = jobs_field()
    field: str = parameter(
        "epochs", "Field to change; one that the scheduler does not use changes nothing", choices=CHANGEABLE
    )
    factor: float = parameter(1.0, "Factor; integers are rounded and at least 1", low=1e-6, high=1e6)


class ChangeJobs(Edit):
    """Scaling of a field of future jobs."""

    name, title, about = "change_jobs", "Change jobs", "Scales work, data, workers or communication of future jobs."
    Parameters, of_jobs = _Change, True
    begins = {"factor": 2.0}
    choice_titles = {name: job_fields.TITLES[name] for name in CHANGEABLE}

    def apply(self, state: ScenarioState) -> ScenarioState:
        p = self.parameters
        named = self.chosen_jobs(state, p.jobs)
        chosen = [i for i in named if getattr(state.jobs[i], p.field) is not None]
        if not chosen:
            there = [name for name in CHANGEABLE if any(getattr(state.jobs[i], name) is not None for i in named)]
            raise ModelError(
                f"none of the jobs {shorten(p.jobs)!r} has the field {p.field}; fields that they have: "
                f"{', '.join(there) or 'none'}"
            )
        return change_jobs(state, chosen, self._changed)

    def _changed(self, job: Job) -> Job:
        p = self.parameters
        value = getattr(job, p.field) * p.factor
        return restated(job, **{p.field: max(1, round(value)) if p.field in _WHOLE else value})

    def _words(self) -> str:
        p = self.parameters
        return f"Multiply the {job_fields.TITLES[p.field].lower()} of jobs {listed(p.jobs)} by {p.factor:g}"


@dataclass(frozen=True, slots=True)
class _Delay(Parameters):
    jobs: str = jobs_field()
    by_ms: int = parameter(3_600_000, "Delay of the arrival", low=1, high=MAX_INT, unit="ms", title="Delay")


class DelayJobs(Edit):
    """Later arrival of future jobs."""

    name, title, about = "delay_jobs", "Delay jobs", "Delays the arrival of future jobs."
    Parameters, of_jobs = _Delay, True

    def apply(self, state: ScenarioState) -> ScenarioState:
        by_ms = self.parameters.by_ms
        return change_jobs(
            state,
            self.chosen_jobs(state, self.parameters.jobs),
            lambda job: replace(job, arrival_ms=job.arrival_ms + by_ms),
        )

    def _words(self) -> str:
        return f"Delay jobs {listed(self.parameters.jobs)} by {duration(self.parameters.by_ms)}"


@dataclass(frozen=True, slots=True)
class _Rate(Parameters):
    factor: float = parameter(1.0, "Factor of the arrival rate", low=1e-3, high=1e3)


class ScaleArrivals(Edit):
    """Scaling of the times between future arrivals."""

    name, title, about = (
        "scale_arrivals",
        "Scale the arrival rate",
        "Scales the times between the arrivals of future jobs.",
    )
    Parameters, of_jobs = _Rate, True
    begins = {"factor": 2.0}

    def apply(self, state: ScenarioState) -> ScenarioState:
        factor, at_ms = self.parameters.factor, self.at_ms
        later = [i for i, job in enumerate(state.jobs) if to_come(job, at_ms)]
        return change_jobs(
            state, later, lambda job: arriving(job, at_ms + round((job.arrival_ms - at_ms) / factor), at_ms)
        )

    def _words(self) -> str:
        return f"Scale the arrival rate by {self.parameters.factor:g}"


@dataclass(frozen=True, slots=True)
class _Worth(Parameters):
    jobs: str = jobs_field()
    priority: float = parameter(1.0, "Factor of the priority", low=1e-6, high=1e6)
    sensitivity: float = parameter(1.0, "Factor of the time sensitivity", low=0.0, high=1e6)
    target_slots: float = parameter(1.0, "Factor of the target", low=0.0, high=1e6, title="Target")


class ChangeUtility(Edit):
    """Scaling of the utility of future jobs."""

    name, title, about = (
        "change_utility",
        "Change utility",
        "Scales priority, time sensitivity and target of future jobs.",
    )
    Parameters, of_jobs = _Worth, True
    begins = {"priority": 2.0}

    def apply(self, state: ScenarioState) -> ScenarioState:
        chosen = [i for i in self.chosen_jobs(state, self.parameters.jobs) if state.jobs[i].utility is not None]
        if not chosen:
            raise ModelError(f"none of the jobs {self.parameters.jobs!r} has a utility; select other jobs")
        return change_jobs(state, chosen, self._changed)

    def _changed(self, job: Job) -> Job:
        p, u = self.parameters, job.utility
        assert u is not None
        utility = replace(
            u,
            priority=u.priority * p.priority,
            sensitivity=u.sensitivity * p.sensitivity,
            target_slots=u.target_slots * p.target_slots,
        )
        return replace(job, utility=utility)

    def _words(self) -> str:
        p = self.parameters
        changed = [
            f"{name.replace('_slots', '')} by {value:g}"
            for name in ("priority", "sensitivity", "target_slots")
            if (value := getattr(p, name)) != 1
        ]
        return f"Multiply {', '.join(changed) or 'nothing'} for jobs {listed(p.jobs)}"
