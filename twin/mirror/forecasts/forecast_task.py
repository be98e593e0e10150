"""Forecasts of live clusters: computed again when the mirror has changed, at most every few seconds.

The ticker requests them when the log of a connection has grown, so that following never waits for a forecast. A worker
reads the records of the mirror, takes in what has changed, scores what has come true, and stores the newest forecast.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Any

from django.db import transaction

from scheduling.forecast import values
from scheduling.forecast.forecasting import forecasts_of
from scheduling.run_times.tournament import DEFAULT, usable
from twin.connectors.constraints import from_plain
from twin.connectors.facts import HELD, RUNNING, SUSPENDED, WAITING, JobFact
from twin.mirror import stored
from twin.mirror.forecasts import accuracy, rows, scores
from twin.mirror.forecasts.cluster_state import cluster_state, gang_of, identity
from twin.mirror.forecasts.learning import Learned, key_of, unpack
from twin.models import Connection, Forecast, Forecasting, Run
from twin.processes import bounded_process, exclusive
from twin.processes.dispatch import send

log = logging.getLogger(__name__)
TASK, QUEUE = "forecast_mirror", "io"
EVERY_S = 5.0
QUIET_EVERY_S = 60.0  # where nothing has changed: forecasts age
FAILED_EVERY_S = 600.0  # where the newest one failed
ASKED_S = 20.0  # a request that no worker accepted for this long is repeated
MAX_S = 120.0  # of one forecast
ACCURACY_MS, SCORED_MS = 60_000, 10_000  # between two computations of the accuracy; the second where scores are new
MAX_JOBS = 5_000  # waiting jobs of one forecast, in the order of priority


class Requests:
    """Times of requests, so that no forecast is requested more often than every EVERY_S."""

    def __init__(self) -> None:
        self.asked: dict[int, tuple[float, int]] = {}  # connection -> (when, event of its log)

    def refresh(self) -> list[int]:
        """Connections whose forecasts are due, which are requested."""
        now, due, skipped = time.monotonic(), [], exclusive.not_to_request(TASK)
        followed = Connection.objects.filter(wanted=Connection.FOLLOWING, run__isnull=False).exclude(pk__in=skipped)
        for pk, seq, error in followed.values_list("pk", "run__last_seq", "forecasting__error"):
            when, before = self.asked.get(pk, (float("-inf"), -1))
            every_s = FAILED_EVERY_S if error else EVERY_S if seq != before else QUIET_EVERY_S
            if now - when >= every_s:
                self.asked[pk] = (now, seq)
                send(TASK, pk, queue=QUEUE, expires=ASKED_S)
                due.append(pk)
        return due


def work(pk: int) -> None:
    """Forecast of one connection, in a process of its own, unless another worker computes it.

    Where it fails, the one before stays, with the reason.
    """
    with exclusive.held(TASK, pk) as mine:
        if mine is None or not _exists(pk):
            return
        outcome = mine.run(partial(forecast, pk), limit_s=MAX_S, wanted=partial(_exists, pk))
        if outcome in bounded_process.FAILURES:
            error = bounded_process.why(outcome, MAX_S)
            log.error("connection %s: no new forecast: %s", pk, error)
            Forecasting.objects.update_or_create(connection_id=pk, defaults={"error": error})


def _exists(pk: int) -> bool:
    return Connection.objects.filter(pk=pk, run__isnull=False).exists()


def forecast(pk: int) -> None:
    """Newest forecast with the accuracy of the last ones, stored after the changed jobs have been taken in."""
    began = time.monotonic()
    Forecasting.objects.get_or_create(connection_id=pk)
    kept = Forecasting.objects.select_related("connection__run").get(pk=pk)
    connection, run = kept.connection, kept.connection.run
    if run is None or run.epoch_ms is None:
        return
    learned = unpack(bytes(kept.learned))
    seq = run.last_seq
    scored = _take_in(connection, run, learned)
    now_ms = max(connection.health.get("seen_ms") or 0, run.epoch_ms + run.sim_ms)
    jobs = stored.open_jobs(run)
    found, ends, fresh = _forecast(kept, learned, jobs, now_ms, run.epoch_ms)
    summary = kept.figures
    if not summary or now_ms - summary["at_ms"] >= (SCORED_MS if scored else ACCURACY_MS):
        summary = accuracy.accuracy(pk, learned.tournament, now_ms)
        scores.forget(pk, now_ms)
    with transaction.atomic():
        Forecast.objects.bulk_create(fresh, batch_size=500)
        Forecasting.objects.filter(pk=pk).update(
            made_ms=now_ms, run=run, seq=seq, rows=found, ends=ends, learned=learned.pack(), figures=summary, error="",
            seconds=time.monotonic() - began,
        )  # fmt: skip


def _take_in(connection: Connection, run: Run, learned: Learned) -> int:
    """Number of forecasts scored by the changed jobs, also by those at the end of the run before; all are learned."""
    changed: list[JobFact] = []
    if learned.run not in (0, run.pk):
        changed += [fact for _, _, fact in stored.changed_jobs(learned.run, learned.seq)]
        learned.run, learned.seq = run.pk, -1
    learned.run = run.pk
    for seq, _, fact in stored.changed_jobs(run.pk, learned.seq):
        learned.seq = max(learned.seq, seq)
        changed.append(fact)
    scored = scores.settle(connection.pk, changed)
    for fact in sorted(changed, key=_happened):
        learned.see(fact)
    return scored


def _happened(fact: JobFact) -> tuple[int, str]:
    """Time of the newest event of a job, so that ends and starts are read in their order."""
    last = fact.attempts[-1] if fact.attempts else None
    if last is None:
        return fact.ended_ms or fact.submitted_ms, fact.key
    return last.ended_ms or last.started_ms, fact.key


def _forecast(
    kept: Forecasting, learned: Learned, jobs: list[tuple[int, JobFact]], now_ms: int, epoch_ms: int
) -> tuple[list[dict[str, Any]], list[dict[str, int]], list[Forecast]]:
    """(rows to show of the waiting jobs, ends of the running ones, forecasts to score)."""
    run = kept.connection.run
    assert run is not None
    nodes, reservations = stored.nodes_of(kept.connection), stored.reservations_of(kept.connection)
    constraints = from_plain(kept.constraints)
    waiting = [(index, fact) for index, fact in jobs if fact.state in (WAITING, HELD)]
    waiting.sort(key=lambda each: -(each[1].priority or 0))
    waiting = waiting[:MAX_JOBS]
    facts = [fact for _, fact in jobs if fact.state in (RUNNING, SUSPENDED)] + [fact for _, fact in waiting]
    chosen = usable(kept.figures.get("best", DEFAULT))
    bands = scores.newest_bands(kept.pk)

    def seen_by(name: str) -> values.ClusterState:
        predict = learned.tournament.predictors[name].predict
        return cluster_state(
            now_ms, facts, nodes, lambda fact: predict(key_of(fact)), constraints, kept.estimates, learned.cycle_ms,
            reservations,
        )  # fmt: skip

    of = seen_by(chosen)
    found = forecasts_of(of)
    starts = {row.id: row.start_ms for row in found}
    due = {}
    for _, fact in waiting:
        occasion = learned.due(identity(fact), now_ms, starts.get(gang_of(fact)))
        if occasion:
            due[identity(fact)] = (fact, occasion)
    fresh: list[Forecast] = []
    if due:
        plans = {
            name: {row.id: row for row in (found if name == chosen else forecasts_of(seen_by(name)))}
            for name in learned.tournament.names
        }
        for job, (fact, occasion) in due.items():
            predicted = {
                name: (plan[gang_of(fact)].start_ms, plan[gang_of(fact)].finish_ms) for name, plan in plans.items()
            }
            predicted[scores.TWIN] = predicted[chosen]
            predicted[scores.SYSTEM] = (kept.estimates.get(fact.key), None)
            known = {name: (start, finish) for name, (start, finish) in predicted.items() if start is not None}
            earliest_ms = plans[chosen][gang_of(fact)].earliest_ms
            fresh += scores.keep(kept.pk, job, occasion, now_ms, known, bands, earliest_ms)
    shown = rows.rows(
        found, rows.by_gang(waiting), {identity(fact): fact.key for _, fact in jobs},
        bands, now_ms, epoch_ms, kept.estimates,
    )  # fmt: skip
    ends = rows.ends(of.running, {identity(fact): index for index, fact in jobs}, epoch_ms)
    return shown, ends, fresh
