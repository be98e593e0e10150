"""Forecasts that are to be scored, and their scores once jobs start and end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduling.forecast import bands, scoring
from scheduling.forecast.bands import Bands
from scheduling.run_times.tournament import WINDOW_MS
from twin.connectors.facts import ENDED, JobFact
from twin.mirror.forecasts.cluster_state import identity
from twin.models import Forecast, Score

TWIN, SYSTEM = "twin", "system"
SLACK_MS = 2_000  # clusters report whole seconds


def keep(
    connection: int,
    job: str,
    occasion: str,
    now_ms: int,
    predicted: Mapping[str, tuple[int, int | None]],
    newest: Bands,
    earliest_ms: int = 0,
) -> list[Forecast]:
    """Rows of one occasion. predicted: {method: (start, finish)}; newest: the bands then.

    earliest_ms: time before which the job cannot start.
    """
    made = []
    for method, (start_ms, finish_ms) in predicted.items():
        row = Forecast(connection_id=connection, job=job[:300], occasion=occasion, method=method, made_ms=now_ms,
                       start_ms=start_ms, finish_ms=finish_ms)  # fmt: skip
        if method == TWIN and (band := newest.around(start_ms - now_ms, earliest_ms - now_ms)):
            row.low_ms, row.high_ms = (now_ms + edge for edge in band)
        made.append(row)
    return made


def settle(connection: int, facts: Iterable[JobFact]) -> int:
    """Number of forecasts scored now: those of jobs that have started or ended."""
    known = {identity(fact)[:300]: fact for fact in facts if fact.attempts or fact.state == ENDED}
    made: list[Score] = []
    gone: list[int] = []
    started: list[int] = []
    names = list(known)
    for some in (names[at : at + 500] for at in range(0, len(names), 500)):
        for row in Forecast.objects.filter(connection=connection, job__in=some).order_by("id"):
            fact = known[row.job]
            attempt = next((a for a in fact.attempts if a.started_ms >= row.made_ms - SLACK_MS), None)
            if attempt is not None and not row.scored:
                made.append(_score(connection, row, Score.START, row.start_ms, max(attempt.started_ms, row.made_ms)))
                started.append(row.pk)
            if fact.state == ENDED:
                gone.append(row.pk)
                if attempt is not None and attempt.ended_ms is not None and row.finish_ms is not None:
                    made.append(_score(connection, row, Score.FINISH, row.finish_ms, attempt.ended_ms))
    Score.objects.bulk_create(made, batch_size=500)
    _each(started, lambda some: Forecast.objects.filter(pk__in=some).update(scored=True))
    _each(gone, lambda some: Forecast.objects.filter(pk__in=some).delete())
    return len(made)


def newest_bands(connection: int) -> Bands:
    """The bands by the last scored starts."""
    last = Score.objects.filter(connection=connection, what=Score.START, method=TWIN).order_by("-real_ms", "-id")
    rows = list(last.values_list("made_ms", "predicted_ms", "real_ms")[: bands.LAST])
    return Bands([(predicted - made, real - made) for made, predicted, real in reversed(rows)])


def forget(connection: int, now_ms: int) -> None:
    """Deletion of what is older than the window."""
    Score.objects.filter(connection=connection, real_ms__lt=now_ms - WINDOW_MS).delete()
    Forecast.objects.filter(connection=connection, made_ms__lt=now_ms - 4 * WINDOW_MS).delete()


def _score(connection: int, row: Forecast, what: str, predicted_ms: int, real_ms: int) -> Score:
    start = what == Score.START
    return Score(
        connection_id=connection, what=what, method=row.method, lead=scoring.lead(real_ms - row.made_ms),
        made_ms=row.made_ms, predicted_ms=predicted_ms, real_ms=real_ms, low_ms=row.low_ms if start else None,
        high_ms=row.high_ms if start else None,
    )  # fmt: skip


def _each(keys: Sequence[int], do: object) -> None:
    assert callable(do)
    for at in range(0, len(keys), 500):
        do(list(keys[at : at + 500]))
