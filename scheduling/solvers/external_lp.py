"""The linear relaxation of placing y workers and z parameter servers on any machines (PD-ORS, 000 Problem 23), for many (y, z).

Only two row bounds change from one (y, z) to the next, so a solver that keeps its basis needs few steps: highspy, an optional
extra, does that; without it every point is solved anew by scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from scheduling.solvers.external_exact import Machines

try:
    highspy: Any = import_module("highspy")
except ImportError:  # an optional extra
    highspy = None


class Relaxation:
    """The program of one slot. Columns: workers on each host, then parameter servers; amounts in whole units."""

    def __init__(self, machines: Machines, warm: bool = True) -> None:
        self.hosts = np.flatnonzero((machines.worker_room > 0) | (machines.ps_room > 0))
        n, resources = len(self.hosts), machines.free.shape[1]
        rows = np.arange(n * resources)
        columns = np.repeat(np.arange(n), resources)
        data = np.concatenate((np.tile(machines.worker, n), np.tile(machines.ps, n))) / 1000
        used = data != 0
        row, column = np.tile(rows, 2)[used], np.concatenate((columns, columns + n))[used]
        self.capacity = csr_matrix((data[used], (row, column)), shape=(n * resources, 2 * n))
        self.room = machines.free[self.hosts].ravel() / 1000
        self.cost = np.concatenate((machines.worker_cost[self.hosts], machines.ps_cost[self.hosts]))
        self.scale = float(self.cost.max(initial=0.0)) or 1.0
        can = np.concatenate((machines.worker_room[self.hosts] > 0, machines.ps_room[self.hosts] > 0))
        self.most = np.where(can, np.inf, 0.0)
        self.solver = self._warm() if warm and highspy is not None and n else None

    def solve(self, workers: int, ps: int) -> np.ndarray | None:
        """Fractions of units on the hosts, the workers first; None when not even fractions fit, or the solver failed."""
        n = len(self.hosts)
        if not n:
            return None
        if self.solver is not None:
            cover = len(self.room)
            self.solver.changeRowBounds(cover, float(workers), highspy.kHighsInf)
            self.solver.changeRowBounds(cover + 1, float(ps), highspy.kHighsInf)
            self.solver.run()
            if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return None
            return np.maximum(np.array(self.solver.getSolution().col_value), 0.0)
        cover_rows = csr_matrix((-np.ones(2 * n), (np.repeat([0, 1], n), np.arange(2 * n))), shape=(2, 2 * n))
        result = linprog(
            self.cost / self.scale, vstack([self.capacity, cover_rows], format="csr"), np.append(self.room, (-workers, -ps)),
            bounds=np.column_stack((np.zeros(2 * n), self.most)), method="highs",
        )  # fmt: skip
        return np.maximum(result.x, 0.0) if result.status == 0 else None

    def _warm(self) -> Any:
        n, cover = len(self.hosts), len(self.room)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * n, cover + 2
        lp.col_cost_, lp.col_lower_ = self.cost / self.scale, np.zeros(2 * n)
        lp.col_upper_ = np.where(np.isinf(self.most), highspy.kHighsInf, self.most)
        lp.row_lower_ = np.append(np.full(cover, -highspy.kHighsInf), (0.0, 0.0))
        lp.row_upper_ = np.append(self.room, (highspy.kHighsInf, highspy.kHighsInf))
        covers = csr_matrix((np.ones(2 * n), (np.repeat([0, 1], n), np.arange(2 * n))), shape=(2, 2 * n))
        matrix = vstack([self.capacity, covers], format="csc")
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("presolve", "off")
        solver.passModel(lp)
        return solver
