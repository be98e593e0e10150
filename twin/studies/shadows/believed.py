"""Run times of the jobs of a window as they were believed when they arrived in it, by the jobs that had ended by then.

The predictor is the one whose forecasts of the cluster's starts have the least error (mirror/forecasts). A job that ran
when the window began is believed to run for what its prediction leaves then.
"""

from __future__ import annotations

from typing import Any

from scheduling.run_times import MENU
from scheduling.run_times.beliefs import ASSUMED_MS
from scheduling.run_times.overrun import expected_run_ms
from scheduling.run_times.predictor import Predictor
from scheduling.run_times.tournament import DEFAULT, usable
from twin.mirror.forecasts.learning import NO_LESSON
from twin.mirror.whatif.cut import RUNNING, Part, end_ms
from twin.models import Connection, Forecasting
from twin.studies.shadows.window import Window, run_time_ms, similar


def predictor_of(connection: Connection) -> str:
    """Name of the predictor with which the cluster is forecast."""
    known = Forecasting.objects.filter(connection=connection).values_list("figures", flat=True).first() or {}
    return usable(known.get("best", DEFAULT))


def believed(window: Window, name: str) -> dict[str, Any]:
    """{name, believed_ms} of the jobs of the window, in their order, for `Scenario.beliefs`."""
    mirror, parts = window.made.moment.mirror, window.made.cut.parts
    predictor = MENU.named(name)()
    ended = sorted((end, known.index, known) for known in mirror.jobs if (end := end_ms(known, mirror)) is not None)
    found, place = [0] * len(parts), 0
    for number in sorted(range(len(parts)), key=lambda each: parts[each].arrival_ms):
        while place < len(ended):
            end, _, known = ended[place]
            if end > parts[number].arrival_ms:
                break
            if known.fact.outcome not in NO_LESSON and (run_ms := run_time_ms(known)):
                predictor.observe(similar(known), run_ms)
            place += 1
        found[number] = _left_ms(parts[number], predictor)
    return {"name": name, "believed_ms": found}


def _left_ms(part: Part, predictor: Predictor) -> int:
    """Believed run time from the job's arrival in the window on."""
    limit_ms = part.known.fact.limit_ms or None
    predicted_ms = predictor.predict(similar(part.known)) or limit_ms or ASSUMED_MS
    ran_ms = max(0, part.arrival_ms - part.since_ms) if part.state == RUNNING else 0
    return expected_run_ms(predicted_ms, ran_ms, limit_ms) - ran_ms if ran_ms else predicted_ms
