"""Shape and speed of the gangs of jobs by a training model (OASiS or PD-ORS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.kernel.resource_vector import fields, pack
from scheduling.model.training_models import LIMITS, MAX_GANG, TRAINING_TITLES, oasis_worker_slots, pd_ors_sample_ms
from scheduling.model.values import BANDWIDTH, RESOURCES, Demand, Job


@dataclass(frozen=True, slots=True)
class GangParameters(Parameters):
    model: str | None = parameter(
        None,
        "Either oasis (chunks, separate servers) or pd-ors (samples, shared servers); default: by the cluster",
        type=str, choices=TRAINING_TITLES, title="Training model",
    )  # fmt: skip


class Shape(NamedTuple):
    """Shape of a job for placement."""

    worker: int  # packed demand of one worker, of the resources that count
    ps: int
    most: int  # workers at a time
    need: int  # w workers have ceil(w need / give) parameter servers
    give: int

    def ps_of(self, workers: int) -> int:
        return -(-workers * self.need // self.give)


class JobRates:
    """Rates of jobs by a training model: maximum workers, number of parameter servers, and speed."""

    def __init__(self, name: str, slot_ms: int) -> None:
        self.name, self.slot_ms = name, slot_ms
        self.limits = LIMITS[name]
        self.fields = fields([resource in self.limits for resource in RESOURCES])

    def shape(self, job: Job) -> Shape:
        assert job.worker is not None
        assert job.ps is not None
        if self.name == "oasis":
            most = min(job.num_chunks or MAX_GANG, MAX_GANG)
            need, give = (job.worker[BANDWIDTH], job.ps[BANDWIDTH]) if job.worker[BANDWIDTH] else (1, most)
        else:
            most = min(job.global_batch or MAX_GANG, MAX_GANG)
            need, give = 1, job.workers_per_ps or 1
        return Shape(self.pack(job.worker), self.pack(job.ps), most, need, give)

    def pack(self, demand: Demand) -> int:
        return pack(demand) & self.fields

    def work(self, job: Job) -> float:
        """Worker-slots, or samples."""
        if self.name == "oasis":
            return oasis_worker_slots(job, self.slot_ms)
        assert job.epochs is not None
        assert job.num_samples is not None
        return job.epochs * job.num_samples

    def work_as(self, record: Job, rest: Job) -> float:
        """Work of `rest`, the same job with other times of its work, at the rate of `record`."""
        return self.work(rest) * self.per_slot(record, 1, False) / self.per_slot(rest, 1, False)

    def per_slot(self, job: Job, workers: int, internal: bool) -> float:
        """Work of `workers` in a slot; internal: the whole gang is on one server."""
        return workers if self.name == "oasis" else workers * self.slot_ms / pd_ors_sample_ms(job, internal)
