"""An integer program put together in pieces: maximize gain x subject to least <= A x <= most, low <= x <= high."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.sparse import coo_array


class Program:
    """Columns and rows of an integer program, collected piece by piece."""

    def __init__(self) -> None:
        self.low: list[np.ndarray] = []
        self.high: list[np.ndarray] = []
        self.gain: list[np.ndarray] = []
        self.whole: list[np.ndarray] = []
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # rows, columns, values
        self.least: list[np.ndarray] = []
        self.most: list[np.ndarray] = []
        self.num_columns = self.num_rows = 0

    def columns(
        self, low: np.ndarray, high: np.ndarray | float, gain: np.ndarray | float = 0.0, integer: bool = False
    ) -> np.ndarray:
        """New variables, one for each element of `low`; their numbers."""
        size = len(low)
        for book, value in ((self.low, low), (self.high, high), (self.gain, gain), (self.whole, int(integer))):
            book.append(np.broadcast_to(np.asarray(value, dtype=float), size))
        self.num_columns += size
        return np.arange(self.num_columns - size, self.num_columns)

    def rows(
        self,
        terms: Sequence[tuple[np.ndarray, np.ndarray | float]],
        least: np.ndarray | float,
        most: np.ndarray | float,
    ) -> None:
        """Rows, one for each position: least <= sum of its terms <= most."""
        size = len(terms[0][0])
        self._add(np.arange(size), terms, size, least, most)

    def row(self, terms: Sequence[tuple[np.ndarray, np.ndarray | float]], least: float, most: float) -> None:
        """Row over all positions."""
        self._add(np.zeros(1, dtype=np.int64), terms, 1, least, most)

    def fix(self, columns: np.ndarray, value: float) -> None:
        """Fixed value of these columns from now on."""
        for book in (self.low, self.high):
            everything = np.concatenate(book)
            everything[columns] = value
            book[:] = [everything]

    def relaxation(self) -> OptimizeResult:
        """The optimum without whole numbers."""
        return self._run(np.zeros(self.num_columns), {})

    def solve(self, **options: float) -> OptimizeResult:
        """options: of scipy.optimize.milp. `fun` is the negated optimum."""
        return self._run(np.concatenate(self.whole), options)

    def _run(self, whole: np.ndarray, options: dict[str, float]) -> OptimizeResult:
        rows, columns, values = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        matrix = coo_array((values, (rows, columns)), shape=(self.num_rows, self.num_columns)).tocsc()
        return milp(
            -np.concatenate(self.gain),
            integrality=whole,
            bounds=Bounds(np.concatenate(self.low), np.concatenate(self.high)),
            constraints=LinearConstraint(matrix, np.concatenate(self.least), np.concatenate(self.most)),
            options=options,
        )

    def _add(
        self, rows: np.ndarray, terms: Sequence[tuple[np.ndarray, np.ndarray | float]], size: int,
        least: np.ndarray | float, most: np.ndarray | float,
    ) -> None:  # fmt: skip
        for columns, values in terms:
            place, factors = (
                np.broadcast_to(part, len(columns)) for part in (rows + self.num_rows, np.asarray(values, dtype=float))
            )
            self.entries.append((place, columns, factors))
        self.least.append(np.broadcast_to(np.asarray(least, dtype=float), size))
        self.most.append(np.broadcast_to(np.asarray(most, dtype=float), size))
        self.num_rows += size
