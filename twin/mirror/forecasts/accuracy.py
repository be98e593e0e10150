"""Accuracy of the forecasts of a cluster over the last days: errors by lead and method, coverage, run times."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from scheduling.forecast import scoring
from scheduling.run_times import predictors
from scheduling.run_times.tournament import WINDOW_MS, Tournament, best
from twin.mirror.forecasts.scores import SYSTEM, TWIN
from twin.models import Score

MAX_SCORES = 20_000  # of one kind and method
FIELDS = ("made_ms", "predicted_ms", "real_ms", "lead", "low_ms", "high_ms")  # of a score
MADE, PREDICTED, REAL, LEAD, LOW, HIGH = range(len(FIELDS))
TITLES = {TWIN: "Twin", SYSTEM: "The cluster's estimate"}


def accuracy(connection: int, tournament: Tournament, now_ms: int) -> dict[str, Any]:
    """{calibration, coverage, starts, finishes, run_times, best, at_ms}; times and errors in ms."""
    starts = {method: _columns(connection, Score.START, method, now_ms) for method in _methods()}
    twin = starts[TWIN]
    banded = twin[:, LOW] >= 0
    inside = (twin[:, REAL] >= twin[:, LOW]) & (twin[:, REAL] <= twin[:, HIGH]) & banded
    coverage = scoring.coverage(int(inside.sum()), int(banded.sum()))
    errors = {
        name: (len(rows), _mean_error_ms(rows)) for name, rows in starts.items() if name in predictors() and len(rows)
    }
    finishes = _columns(connection, Score.FINISH, TWIN, now_ms)
    return {
        "at_ms": now_ms,
        "days": WINDOW_MS // 86_400_000,
        "calibration": scoring.calibration(coverage),
        "coverage": asdict(coverage),
        "starts": [_method(name, rows, _paired(rows, twin)) for name, rows in starts.items()],
        "finishes": asdict(scoring.errors(finishes[:, REAL], finishes[:, PREDICTED])),
        "best": best(errors),
        "run_times": [
            {**row._asdict(), "title": predictors()[row.name].title, "about": predictors()[row.name].about}
            for row in tournament.accuracies(now_ms)
        ],
    }


def _methods() -> list[str]:
    return [TWIN, SYSTEM, *predictors()]


def _method(name: str, rows: np.ndarray, paired: np.ndarray) -> dict[str, Any]:
    """Errors of one method, in total and by lead. twin: those of the twin's forecasts of the same occasions."""
    real, predicted, lead = rows[:, REAL], rows[:, PREDICTED], rows[:, LEAD]
    title = TITLES.get(name) or f"{predictors()[name].title}"
    return {
        "method": name,
        "title": title,
        "total": asdict(scoring.errors(real, predicted)),
        "twin_mean_ms": _mean_error_ms(paired) if len(paired) else None,
        "leads": [
            {"lead": key, **asdict(scoring.errors(real[lead == place], predicted[lead == place]))}
            for place, key in enumerate(scoring.LEADS)
        ],
    }


def _mean_error_ms(rows: np.ndarray) -> float:
    return float(np.abs(rows[:, REAL] - rows[:, PREDICTED]).mean())


def _paired(rows: np.ndarray, twin: np.ndarray) -> np.ndarray:
    """Rows of the twin's that were made and came true at the times of these."""
    keys = {(made, real) for made, real in zip(rows[:, MADE].tolist(), rows[:, REAL].tolist(), strict=True)}
    there = [key in keys for key in zip(twin[:, MADE].tolist(), twin[:, REAL].tolist(), strict=True)]
    return twin[np.array(there, dtype=bool)] if len(twin) else twin


def _columns(connection: int, what: str, method: str, now_ms: int) -> np.ndarray:
    """[row, FIELDS]; -1 for no band."""
    found = Score.objects.filter(connection=connection, what=what, method=method, real_ms__gte=now_ms - WINDOW_MS)
    rows = found.order_by("-real_ms").values_list(*FIELDS)
    plain = [[-1 if cell is None else cell for cell in row] for row in rows[:MAX_SCORES]]
    return np.array(plain, dtype=np.int64).reshape(-1, len(FIELDS))
