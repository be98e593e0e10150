"""Resources that one unit of a bar holds, by its role, for whole columns of jobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduling.model.bars import Role
from scheduling.model.values import CPU


def held_by_role(worker: NDArray[np.int64], ps: NDArray[np.int64]) -> NDArray[np.int64]:
    """[role, job, resource] from the demands [job, resource] of a worker and of a parameter server.

    A transfer holds nothing; a suspended worker keeps everything but its CPUs.
    """
    suspended = worker.copy()
    suspended[:, CPU] = 0
    by_role = {Role.WORKER: worker, Role.PS: ps, Role.TRANSFER: np.zeros_like(worker), Role.SUSPENDED: suspended}
    return np.stack([by_role[role] for role in Role])
