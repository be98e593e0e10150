"""The relaxation of placing y workers and z parameter servers on any machines (PD-ORS, Problem 23), many at once.

Only two row bounds change from one (y, z) to the next, so the solver, which keeps its basis, needs few steps.
"""

from __future__ import annotations

import highspy
import numpy as np
from scipy.sparse import csr_matrix, vstack

from scheduling.slotted.solvers.multi_machine_exact import Machines

STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kTimeLimit: "limit",
}


class Relaxation:
    """The program of one slot. Columns: workers on each host, then parameter servers; amounts in whole units."""

    def __init__(self, machines: Machines, seconds: float) -> None:
        """seconds: time limit of one solution."""
        self.seconds = seconds
        self.hosts = np.flatnonzero((machines.worker_room > 0) | (machines.ps_room > 0))
        self.cost = np.concatenate((machines.worker_cost[self.hosts], machines.ps_cost[self.hosts]))
        # the row of the workers; then that of the parameter servers
        self.cover = len(self.hosts) * machines.free.shape[1]
        self.solver = self._build(machines) if len(self.hosts) else None

    def solve(self, workers: int, ps: int) -> tuple[str, np.ndarray | None]:
        """(optimal | infeasible | limit | error, fractions of units on the hosts, the workers first, when optimal)."""
        if self.solver is None:
            return "infeasible", None
        self.solver.setOptionValue("time_limit", self.solver.getRunTime() + self.seconds)
        self.solver.changeRowBounds(self.cover, float(workers), highspy.kHighsInf)
        self.solver.changeRowBounds(self.cover + 1, float(ps), highspy.kHighsInf)
        self.solver.run()
        status = STATUS.get(self.solver.getModelStatus(), "error")
        if status != "optimal":
            return status, None
        return status, np.maximum(np.array(self.solver.getSolution().col_value), 0.0)

    def _build(self, machines: Machines) -> highspy.Highs:
        n, resources = len(self.hosts), machines.free.shape[1]
        row, column = np.arange(self.cover), np.repeat(np.arange(n), resources)
        data = np.concatenate((np.tile(machines.worker, n), np.tile(machines.ps, n))) / 1000
        used = data != 0
        places = np.tile(row, 2)[used], np.concatenate((column, column + n))[used]
        capacity = csr_matrix((data[used], places), shape=(self.cover, 2 * n))
        covers = csr_matrix((np.ones(2 * n), (np.repeat([0, 1], n), np.arange(2 * n))), shape=(2, 2 * n))
        matrix = vstack([capacity, covers], format="csc")
        can = np.concatenate((machines.worker_room[self.hosts] > 0, machines.ps_room[self.hosts] > 0))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * n, self.cover + 2
        lp.col_cost_, lp.col_lower_ = self.cost / (float(self.cost.max()) or 1.0), np.zeros(2 * n)
        lp.col_upper_ = np.where(can, highspy.kHighsInf, 0.0)
        lp.row_lower_ = np.append(np.full(self.cover, -highspy.kHighsInf), (0.0, 0.0))
        lp.row_upper_ = np.append(machines.free[self.hosts].ravel() / 1000, (highspy.kHighsInf, highspy.kHighsInf))
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
        solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            solver.setOptionValue(option, value)
        solver.passModel(lp)
        return solver
