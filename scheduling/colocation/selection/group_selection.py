"""Algorithm 1 of Harmony (Section IV-B3): which jobs run, in which groups, on how many machines.

Differs from the paper:
- Prefixes of 1 to all jobs, both included; the grouping with the highest score is returned, not the last one evaluated.
- The search continues for PATIENCE x as many prefixes without an improvement as the best grouping has groups: one job
  more touches one group only, so an improvement shows when every group could have got one. Literally (patience 0) it
  stops at 5 to 8 jobs of 80; with 1 it is up to 25 % worse than a search without an end, with 3 at most 0.1 % (12
  workloads of 80 jobs on 100 machines, before SLACK).
- Of the prefixes seen the shortest one counts whose score is within SLACK of the best: the paper wants few jobs to
  run together and has no measure for it.
- Beside the number of groups that balances best its neighbours are tried, `window` to either side.
- Above MAX_SCANNED jobs the prefixes are not scanned: a geometric grid of sizes, then refinement around the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduling.colocation.selection.grouping import RISES, Groups, Work, grouping, numbers_of_groups, scores
from scheduling.colocation.selection.performance import WEIGHT

MAX_SCANNED = 256  # jobs
PATIENCE = 3.0
SLACK = 0.004  # of a score, relative, that is given up for fewer jobs
NO_SCORE = -0.5  # below that of jobs that use nothing, above that of groups without memory
AT_ONCE = 16  # prefixes evaluated together
GRID = 18  # sizes evaluated first
REFINEMENTS = (0.06, 0.03, 0.015)  # steps of the number of groups, relative


class Choice(NamedTuple):
    """Number of first jobs, number of groups, and their score."""

    jobs: int
    groups: int
    score: float


def schedule(work: Work, weight: float = WEIGHT, window: int = 1, patience: float = PATIENCE) -> Groups | None:
    """The best grouping found; None without jobs or machines, or when not even one job fits into memory.

    patience: prefixes without an improvement before the search ends, in multiples of the groups of the best so far; 0 =
    literal.
    """
    best = choose(work, weight, window, patience)
    return grouping(work, best.jobs, best.groups, weight) if best is not None else None


def choose(work: Work, weight: float = WEIGHT, window: int = 1, patience: float = PATIENCE) -> Choice | None:
    """The choice that `schedule` makes into groups."""
    if not len(work.comp) or work.machines < 1:
        return None
    search = _Search(work, weight, window)
    best = search.scan(patience) if len(work.comp) <= MAX_SCANNED else search.grid()
    return Choice(*best, search.known[best]) if best is not None else None


class _Search:
    """Scores of the choices evaluated so far."""

    def __init__(self, work: Work, weight: float, window: int) -> None:
        self.work, self.weight, self.window = work, weight, window
        self.known: dict[tuple[int, int], float] = {}  # (jobs, groups) -> score

    def scan(self, patience: float) -> tuple[int, int] | None:
        """Best choice of growing prefixes of the jobs [Harmony, Algorithm 1].

        Several are evaluated at once; those beyond the end of the search do not count.
        """
        jobs = len(self.work.comp)
        best: tuple[int, int] | None = None
        best_score, since = NO_SCORE, 0
        for first in range(1, jobs + 1, AT_ONCE):
            counts = np.arange(first, min(first + AT_ONCE, jobs + 1))
            centres = numbers_of_groups(self.work.comp, self.work.comm, self.work.machines, counts)
            choices = [
                (n, k)
                for n, centre in zip(counts.tolist(), centres.tolist(), strict=True)
                for k in self._near(n, centre)
            ]
            self._evaluate(choices)
            for n in counts.tolist():
                found = max((c for c in choices if c[0] == n), key=lambda c: self.known[c])
                if self.known[found] > best_score + RISES:
                    best, best_score, since = found, self.known[found], 0
                else:
                    since += 1
                if best is not None and since > patience * best[1]:
                    return self._fewest(best)
        return self._fewest(best)

    def _fewest(self, best: tuple[int, int] | None) -> tuple[int, int] | None:
        """The fewest jobs that score nearly as much as the best."""
        if best is None:
            return None
        good = [c for c, score in self.known.items() if c[0] <= best[0] and score >= self.known[best] * (1 - SLACK)]
        return min(good, key=lambda c: (c[0], -self.known[c]))

    def grid(self) -> tuple[int, int] | None:
        """Sizes in geometric steps, then finer around the best, with ever smaller steps in the number of groups."""
        jobs = len(self.work.comp)
        sizes = np.unique(np.rint(np.geomspace(1, jobs, GRID)).astype(np.int64))
        centres = numbers_of_groups(self.work.comp, self.work.comm, self.work.machines, sizes)
        for n, centre in zip(sizes.tolist(), centres.tolist(), strict=True):
            self._evaluate([(n, centre)])
        for step in REFINEMENTS:
            best = self._best()
            if best is None:
                return None
            n, k = best
            move = max(1, round(k * step))
            self._evaluate([(n, other) for other in (k - move, k + move) if 1 <= other <= min(n, self.work.machines)])
            seen = sorted({count for count, _ in self.known})
            place = seen.index(n)
            ratio = (self._best() or best)[1] / n  # groups per job
            for other in seen[max(0, place - 1) : place + 2]:
                between = round((n * other) ** 0.5) if other != n else n
                if between != n:
                    self._evaluate([(between, min(max(1, round(between * ratio)), between, self.work.machines))])
        return self._best()

    def _near(self, jobs: int, centre: int) -> list[int]:
        """The numbers of groups around `centre`."""
        most = min(jobs, self.work.machines)
        return sorted({min(max(1, centre + step), most) for step in range(-self.window, self.window + 1)})

    def _evaluate(self, choices: list[tuple[int, int]]) -> None:
        new = [choice for choice in choices if choice not in self.known]
        if new:
            counts, groups = np.array(new).T
            found = scores(self.work, counts, groups, self.weight)
            self.known.update(zip(new, found.tolist(), strict=True))

    def _best(self) -> tuple[int, int] | None:
        """The best choice seen; of equal ones that with fewer jobs."""
        choice = max(self.known, key=lambda c: (self.known[c], -c[0], c[1]))
        return choice if self.known[choice] > NO_SCORE else None
