"""Figures of the forecasts of a cluster over the last days: errors by lead and method, coverage, run times."""

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
TITLES = {TWIN: "Twin", SYSTEM: "The cluster's estimate"}


def figures(connection: int, tournament: Tournament, now_ms: int) -> dict[str, Any]:
    """{calibration, coverage, starts, finishes, run_times, best, at_ms}; times and errors in ms."""
    starts = {method: _columns(connection, Score.START, method, now_ms) for method in _methods()}
    twin = starts[TWIN]
    banded = twin[:, 4] >= 0
    inside = (twin[:, 2] >= twin[:, 4]) & (twin[:, 2] <= twin[:, 5]) & banded
    coverage = scoring.coverage(int(inside.sum()), int(banded.sum()))
    errors = {
        name: (len(rows), float(np.abs(rows[:, 2] - rows[:, 1]).mean()))
        for name, rows in starts.items()
        if name in predictors() and len(rows)
    }
    finishes = _columns(connection, Score.FINISH, TWIN, now_ms)
    return {
        "at_ms": now_ms,
        "days": WINDOW_MS // 86_400_000,
        "calibration": scoring.calibration(coverage),
        "coverage": asdict(coverage),
        "starts": [_method(name, rows, _paired(rows, twin)) for name, rows in starts.items()],
        "finishes": asdict(scoring.figures(finishes[:, 2], finishes[:, 1])),
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
    real, predicted, lead = rows[:, 2], rows[:, 1], rows[:, 3]
    title = TITLES.get(name) or f"{predictors()[name].title}"
    return {
        "method": name,
        "title": title,
        "total": asdict(scoring.figures(real, predicted)),
        "twin_mean_ms": float(np.abs(paired[:, 2] - paired[:, 1]).mean()) if len(paired) else None,
        "leads": [
            {"lead": key, **asdict(scoring.figures(real[lead == place], predicted[lead == place]))}
            for place, key in enumerate(scoring.LEADS)
        ],
    }


def _paired(rows: np.ndarray, twin: np.ndarray) -> np.ndarray:
    """Rows of the twin's that were made and came true at the times of these."""
    keys = {(made, real) for made, real in zip(rows[:, 0].tolist(), rows[:, 2].tolist(), strict=True)}
    there = [key in keys for key in zip(twin[:, 0].tolist(), twin[:, 2].tolist(), strict=True)]
    return twin[np.array(there, dtype=bool)] if len(twin) else twin


def _columns(connection: int, what: str, method: str, now_ms: int) -> np.ndarray:
    """[row, (made, predicted, real, lead, low, high)]; -1 for no band."""
    found = Score.objects.filter(connection=connection, what=what, method=method, real_ms__gte=now_ms - WINDOW_MS)
    rows = found.order_by("-real_ms").values_list("made_ms", "predicted_ms", "real_ms", "lead", "low_ms", "high_ms")
    plain = [[-1 if cell is None else cell for cell in row] for row in rows[:MAX_SCORES]]
    return np.array(plain, dtype=np.int64).reshape(-1, 6)
