"""What can be claimed about a schedule, by the kind of its scheduler: utility in slots, completion times on lanes, makespan of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling import certificates, certificates_jct, certificates_makespan
from scheduling.model import Certificate, Cluster, Job
from scheduling.registry import BaseScheduler

CHUNK = 7  # column of a bar
UTILITY, COMPLETION, MAKESPAN = "utility", "completion", "makespan"


@dataclass(frozen=True)
class Schedule:
    """What is known of it: the jobs (by index) that have arrived, when those that will be done are, the utility earned and promised."""

    arrived: Sequence[int]
    completions: Mapping[int, int]
    utility: float
    bars: np.ndarray  # int64 [bar, 9], as they are true now
    horizon: int  # slots to look at where the cluster has no end


def claimed(scheduler: BaseScheduler, cluster: Cluster) -> str | None:
    """What the certificate of such a run is about; None where nothing is proved."""
    if scheduler.groups:
        return MAKESPAN
    if scheduler.lanes:
        return None if getattr(scheduler.parameters, "speed_augmentation", 0) else COMPLETION
    return None if scheduler.model_on(cluster) is None else UTILITY


def certify(
    scheduler: BaseScheduler, cluster: Cluster, jobs: Sequence[Job], schedule: Schedule, prices: np.ndarray | None = None
) -> tuple[Certificate, dict[str, Any]] | None:
    """(the best certificate, {kind, achieved, bound, ratio} and what it is about), rechecked; None where nothing is claimed.

    prices: [slot, server, resource] of the scheduler. ModelError when a certificate does not prove what it says.
    """
    about = claimed(scheduler, cluster)
    if about is None:
        return None
    if about == UTILITY:
        world = scheduler.model_on(cluster)
        assert world is not None
        task = certificates.problem(cluster, jobs, schedule.arrived, world, horizon=schedule.horizon)
        found = certificates.certify(task, schedule.utility, None if prices is None else prices[: task.slots])
        certificates.recheck(task, found, prices)
        return found, {**certificates.plain(found), "about": about, "jobs": len(schedule.arrived), "slots": task.slots}
    if about == MAKESPAN:
        found = certificates_makespan.certify(cluster, jobs, schedule.completions)
    else:
        gangs = not (schedule.bars[:, CHUNK] >= 0).any()
        found = certificates_jct.certify(cluster, jobs, schedule.completions, schedule.bars, gangs=gangs)
    plain = {"kind": found.kind, "achieved": found.achieved, "bound": found.bound, "ratio": certificates_jct.ratio(found)}
    return found, {
        **plain,
        "about": about,
        "jobs": len(schedule.completions),
        "left_out": len(schedule.arrived) - len(schedule.completions),
    }
