"""Search for placements on several machines [PD-ORS], including the integer programs for the cheapest ones."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.kernel.quotes import Deadline
from scheduling.slotted.solvers.multi_machine_exact import Exact, Machines, cheapest

Known = dict[tuple[object, ...], Exact]


@dataclass(frozen=True, slots=True)
class PlacementSearch:
    """Settings of the search for all jobs of a run."""

    refine: bool  # the greedy ones by integer programs
    solver_seconds: float  # for one program; beyond it the known placement stays
    # the paper's gain, delta, tries, first feasible: instead of refining
    rounding: tuple[float, float | None, int, int] | None
    deadline: Deadline  # OutOfTime where a decision takes longer
    known: Known | None = None  # cache of solved programs

    def cheapest(self, machines: Machines, workers: int, ps: int, known: float) -> Exact:
        """Placement cheaper than `known`: see solvers/multi_machine_exact.py."""
        if self.known is None:
            return self._solve(machines, workers, ps, known)
        rooms = machines.worker_room.clip(max=workers), machines.ps_room.clip(max=ps)
        key = (*(array.tobytes() for array in (*machines[:5], *rooms)), workers, ps, known)
        if key not in self.known:
            self.known[key] = self._solve(machines, workers, ps, known)
        return self.known[key]

    def _solve(self, machines: Machines, workers: int, ps: int, known: float) -> Exact:
        found = cheapest(machines, workers, ps, known, min(self.solver_seconds, self.deadline.left()))
        self.deadline.left()  # a result after it is no answer
        return found
