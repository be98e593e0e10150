"""Edits of jobs that are still to come: add, drop, change, delay, arrive faster, be worth more."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from scheduling.model import LARGEST, Job, ModelError, shorten
from scheduling.registry import Parameters, parameter
from twin.edits.base import SHOWN, Edit, World, a_few, arriving, change_jobs, chosen_jobs, jobs_field, to_come
from twin.edits.moments import moment

MOST_ADDED = 100_000  # by all edits of a scenario together
CHANGEABLE = (
    "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb", "num_samples", "global_batch", "sample_ms",
    "workers_per_ps", "requested_workers", "comp_machine_ms", "comm_ms", "iterations", "input_gb", "model_gb", "chunk_mb",
)  # fmt: skip
_WHOLE = {f.name for f in fields(Job) if "int" in str(f.type) and "float" not in str(f.type)}


@dataclass(frozen=True, slots=True)
class _Add(Parameters):
    like: str = parameter("", "the id of a job that they are copies of")
    count: int = parameter(1, "how many", low=1, high=MOST_ADDED)
    arrival_ms: int = parameter(0, "when the first arrives", low=0, high=LARGEST, unit="ms")
    every_ms: int = parameter(0, "time between two of them", low=0, high=LARGEST, unit="ms")


class AddJobs(Edit):
    """More jobs like one of the trace."""

    name, title, about = "add_jobs", "Add jobs", "More jobs like one of the trace."
    Parameters = _Add

    def apply(self, world: World) -> World:
        p = self.parameters
        model = next((job for job in world.jobs if job.id == p.like), None)
        if model is None:
            raise ModelError(
                f"no job is called {shorten(p.like)!r}; there are {a_few([job.id for job in world.jobs[:SHOWN]], len(world.jobs))}"
            )
        if p.arrival_ms < self.at_ms:
            raise ModelError(
                f"a job cannot arrive at {moment(p.arrival_ms)}, before the edit takes effect; let it arrive then or later"
            )
        if p.arrival_ms + p.every_ms * (p.count - 1) > LARGEST:
            raise ModelError(f"the last of {p.count} jobs would arrive behind 2^53 ms; let them come closer to each other")
        added = world.added + p.count
        if added > MOST_ADDED:
            raise ModelError(
                f"the edits of a scenario add at most {MOST_ADDED:,} jobs, with this one they add {added:,}; add fewer"
            )
        taken = {job.id for job in world.jobs}
        names = (name for n in range(1, 2 * MOST_ADDED + len(taken)) if (name := f"{model.id[:180]}+{n}") not in taken)
        new = [
            replace(arriving(model, p.arrival_ms + p.every_ms * n, self.at_ms), id=name)
            for n, name in zip(range(p.count), names, strict=False)
        ]
        return replace(world, jobs=sorted([*world.jobs, *new], key=lambda job: job.arrival_ms), added=added)

    def _words(self) -> str:
        p = self.parameters
        what = f"a job like {p.like}" if p.count == 1 else f"{p.count:,} jobs like {p.like}"
        every = f", one every {moment(p.every_ms)}" if p.count > 1 and p.every_ms else ""
        return f"Add {what}, arriving at {moment(p.arrival_ms)}{every}"


@dataclass(frozen=True, slots=True)
class _Which(Parameters):
    jobs: str = jobs_field()


class DropJobs(Edit):
    """Jobs that never arrive."""

    name, title, about = "drop_jobs", "Drop jobs", "They never arrive."
    Parameters = _Which

    def apply(self, world: World) -> World:
        chosen = chosen_jobs(world, self.parameters.jobs, self.at_ms)
        if len(chosen) == len(world.jobs):
            raise ModelError("no job would be left; leave at least one")
        return change_jobs(world, chosen, lambda job: None)

    def _words(self) -> str:
        return f"Drop the jobs {self.parameters.jobs}"


@dataclass(frozen=True, slots=True)
class _Change(Parameters):
    jobs: str = jobs_field()
    field: str = parameter("epochs", "what is changed", choices=CHANGEABLE)
    factor: float = parameter(1.0, "times what it is now; whole numbers are rounded, and stay at least 1", low=1e-6, high=1e6)


class ChangeJobs(Edit):
    """Jobs with more or less of something."""

    name, title, about = "change_jobs", "Change jobs", "More or less work, data, workers or communication."
    Parameters = _Change

    def apply(self, world: World) -> World:
        p = self.parameters
        chosen = [i for i in chosen_jobs(world, p.jobs, self.at_ms) if getattr(world.jobs[i], p.field) is not None]
        if not chosen:
            raise ModelError(f"none of the jobs {p.jobs!r} has {p.field}")
        return change_jobs(world, chosen, self._changed)

    def _changed(self, job: Job) -> Job:
        p = self.parameters
        value = getattr(job, p.field) * p.factor
        return replace(job, **{p.field: max(1, round(value)) if p.field in _WHOLE else value})

    def _words(self) -> str:
        p = self.parameters
        return f"Multiply {p.field.replace('_', ' ')} of the jobs {p.jobs} by {p.factor:g}"


@dataclass(frozen=True, slots=True)
class _Delay(Parameters):
    jobs: str = jobs_field()
    by_ms: int = parameter(3_600_000, "how much later they arrive", low=1, high=LARGEST, unit="ms")


class DelayJobs(Edit):
    """Jobs that arrive later."""

    name, title, about = "delay_jobs", "Delay jobs", "They arrive later."
    Parameters = _Delay

    def apply(self, world: World) -> World:
        by_ms = self.parameters.by_ms
        return change_jobs(
            world,
            chosen_jobs(world, self.parameters.jobs, self.at_ms),
            lambda job: replace(job, arrival_ms=job.arrival_ms + by_ms),
        )

    def _words(self) -> str:
        return f"Delay the jobs {self.parameters.jobs} by {moment(self.parameters.by_ms)}"


@dataclass(frozen=True, slots=True)
class _Rate(Parameters):
    factor: float = parameter(1.0, "times as many jobs in the same time", low=1e-3, high=1e3)


class ScaleArrivals(Edit):
    """The same jobs, closer together or farther apart."""

    name, title, about = "scale_arrivals", "Scale the arrival rate", "The same jobs come closer together or farther apart."
    Parameters = _Rate

    def apply(self, world: World) -> World:
        factor, at_ms = self.parameters.factor, self.at_ms
        later = [i for i, job in enumerate(world.jobs) if to_come(job, at_ms)]
        return change_jobs(world, later, lambda job: arriving(job, at_ms + round((job.arrival_ms - at_ms) / factor), at_ms))

    def _words(self) -> str:
        return f"Jobs arrive at {self.parameters.factor:g} times the rate"


@dataclass(frozen=True, slots=True)
class _Worth(Parameters):
    jobs: str = jobs_field()
    priority: float = parameter(1.0, "times their priority", low=1e-6, high=1e6)
    sensitivity: float = parameter(1.0, "times their sensitivity to time", low=0.0, high=1e6)
    target_slots: float = parameter(1.0, "times their target", low=0.0, high=1e6)


class ChangeUtility(Edit):
    """Jobs that are worth more or less, or are more or less urgent."""

    name, title, about = "change_utility", "Change utility", "A class of jobs is worth more or less, or is more or less urgent."
    Parameters = _Worth

    def apply(self, world: World) -> World:
        chosen = [i for i in chosen_jobs(world, self.parameters.jobs, self.at_ms) if world.jobs[i].utility is not None]
        if not chosen:
            raise ModelError(f"none of the jobs {self.parameters.jobs!r} has a utility")
        return change_jobs(world, chosen, self._changed)

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
        return f"Multiply, for the jobs {p.jobs}, {', '.join(changed) or 'nothing'}"
