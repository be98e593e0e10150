"""Policies of Gavel as linear programs over the shares of time of each job on each type of machine.

A share x of a job on a type is the fraction of time in which it runs there: the shares of a job add up to at most 1,
and machines x share over all jobs to at most the machines of the type (Section 3.1). The throughput of a job is the
sum of rate x share over the types.
"""

from __future__ import annotations

import highspy
import numpy as np

MAX_MIN, MAX_SUM, MAKESPAN = "max_min", "max_sum", "makespan"
DIGITS = 6  # of a share
EXACT = 1e-9  # relative, by which the second program may stay below the optimum of the first


def shares(
    policy: str, rates: np.ndarray, machines: np.ndarray, counts: np.ndarray, weights: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """Shares [job, type] of a policy.

    rates     [job, type] iterations per ms; 0 where the job cannot run
    machines  [job, type] that the job takes there; 0 where it cannot run
    counts    [type] machines
    weights   [job] above 0; of the max-min policy
    left      [job] iterations that are left, above 0; of the makespan policy
    """
    found = np.zeros(rates.shape)
    able = rates.any(axis=1)
    if not able.any():
        return found
    value = _values(policy, rates[able], machines[able], counts, weights[able], left[able])
    program = _Program(rates[able], machines[able], counts, value)
    # Ours: of all optima the one with the greatest sum; the paper leaves open who gets the time that is left
    found[able] = program.most(0.0 if policy == MAX_SUM else program.most_of_least())
    return found


def _values(
    policy: str, rates: np.ndarray, machines: np.ndarray, counts: np.ndarray, weights: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """[job, type]: what a whole share is worth to the job; the programs add these up or maximize the least."""
    if policy == MAX_SUM:
        return rates / rates.max(axis=1, keepdims=True)
    if policy == MAKESPAN:  # Section 4.2: throughput over the steps that are left
        value = rates / left[:, None]
    else:  # Section 4.1: throughput over that of equal shares, times the machines, over the weight
        equal = rates @ counts / counts.sum()
        # Ours: the number of machines may differ by type; their mean over the machines on which the job can run
        size = (machines * counts).sum(axis=1) / ((rates > 0) * counts).sum(axis=1)
        value = rates * (size / equal / weights)[:, None]
    return value / value.max()


class _Program:
    """The constraints of all policies.

    Columns are the pairs of a job and a type on which it can run, and last a level. Rows are the time of each job, the
    machines of each type, and the value of each job, which is at least the level.
    """

    def __init__(self, rates: np.ndarray, machines: np.ndarray, counts: np.ndarray, value: np.ndarray) -> None:
        jobs, types = self.shape = rates.shape
        self.job, self.type = np.nonzero(rates)
        self.gain = value[self.job, self.type]
        pairs = self.pairs = len(self.job)
        first = jobs + types  # of the rows of values
        rows = np.stack([self.job, jobs + self.type, first + self.job], axis=1)
        held = machines[self.job, self.type]
        entries = np.stack([np.ones(pairs), held, self.gain], axis=1)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = pairs + 1, first + jobs
        program.sense_ = highspy.ObjSense.kMaximize
        program.col_cost_ = np.append(np.zeros(pairs), 1.0)
        program.col_lower_, program.col_upper_ = np.zeros(pairs + 1), np.full(pairs + 1, highspy.kHighsInf)
        program.row_lower_ = np.append(np.full(first, -highspy.kHighsInf), np.zeros(jobs))
        program.row_upper_ = np.concatenate([np.ones(jobs), counts, np.full(jobs, highspy.kHighsInf)])
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = np.append(np.arange(pairs + 1) * 3, 3 * pairs + jobs)
        program.a_matrix_.index_ = np.append(rows.ravel(), first + np.arange(jobs))
        program.a_matrix_.value_ = np.append(entries.ravel(), np.full(jobs, -1.0))
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.solver.passModel(program)

    def most_of_least(self) -> float:
        """The greatest value that every job can have at once."""
        return float(self._solved()[-1])

    def most(self, least: float = 0.0) -> np.ndarray:
        """Shares [job, type] with the greatest sum of values, of those that give each job at least this much."""
        level = max(0.0, least * (1 - EXACT))
        self.solver.changeColBounds(self.pairs, level, level)
        columns = np.arange(self.pairs + 1, dtype=np.int32)
        self.solver.changeColsCost(self.pairs + 1, columns, np.append(self.gain, 0.0))
        share = self._solved()[:-1]
        found = np.zeros(self.shape)
        found[self.job, self.type] = np.round(np.clip(share, 0.0, 1.0), DIGITS)
        return found

    def _solved(self) -> np.ndarray:
        self.solver.run()
        status = self.solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"the program of the shares has no optimum: {self.solver.modelStatusToString(status)}")
        return np.asarray(self.solver.getSolution().col_value)
