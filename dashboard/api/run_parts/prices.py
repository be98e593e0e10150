"""GET /api/runs/<id>/prices/ and prices/<server>/: prices per slot of the sites or a server, now or at a past time."""

from __future__ import annotations

import numpy as np
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import one
from dashboard.openapi.answers import answer
from dashboard.query import moment_of
from scheduling.model.bars import END
from scheduling.model.values import RESOURCES, ModelError
from scheduling.reporting.quantities import counted
from twin.eventlog import event_log, remaining_work
from twin.eventlog.fold import ARRIVED, BORN, RunState, valid_at
from twin.eventlog.state_cache import Newest
from twin.models import Run
from twin.scenarios import beliefs, store
from twin.scenarios.phase_rules import scheduler_of

PRICING = ("run_started", "priced", "edited")  # kinds of events that determine prices
NO_BARS = np.empty((0, BORN), dtype=np.int64)


class PricesView(APIView):
    """Prices by site."""

    @extend_schema(parameters=[OpenApiParameter("at_ms", int)], responses={200: answer("RunPrices")})
    def get(self, request: Request, pk: int) -> Response:
        """{at_ms, default_prices, earlier_prices, prices: [[slot, low, mean, high]]}, as in a snapshot.

        With at_ms, as of that time. After an edit, earlier slots keep the prices that they had before it.
        """
        run = one(Run.objects.all(), request.user, pk=pk)
        at_ms = moment_of(request.query_params, run.sim_ms)
        state = RunState()
        state.feed_raw(event_log.lines_of(run.pk, PRICING, up_to_ms=at_ms), NO_BARS)
        return Response({
            "at_ms": at_ms,
            "default_prices": state.default_prices,
            "earlier_prices": state.earlier_prices,
            "prices": [[slot, *state.prices[slot]] for slot in sorted(state.prices)],
        })  # fmt: skip


class ServerPricesView(APIView):
    """Prices of one server."""

    @extend_schema(
        operation_id="api_runs_server_prices_retrieve",
        parameters=[OpenApiParameter("at_ms", int)],
        responses={200: answer("ServerPrices")},
    )
    def get(self, request: Request, pk: int, server: int) -> Response:
        """{server, slot_ms, prices: {resource: [price per unit in slot 0, 1, ...]}}.

        A price is null in slots without a price and in slots in which the server is unavailable.

        With at_ms, as planned at that time. After an edit, earlier slots keep the prices that they had before it.
        """
        run = one(Run.objects.select_related("scenario"), request.user, pk=pk)
        cluster, _ = store.of_run(run)
        if server >= len(cluster.servers):
            raise NotFound(f"Run {pk} has {counted(len(cluster.servers), 'server')}; none has the index {server}.")
        with Newest(run) as state:
            at_ms = moment_of(request.query_params, state.sim_ms)
            bars, came = state.bars.rows.copy(), state.jobs.rows[:, ARRIVED].copy()
        prices = np.concatenate(_by_phase(run, server, at_ms, bars, came))
        columns = {name: _plain(prices[:, r]) for r, name in enumerate(RESOURCES)}
        return Response({"server": cluster.servers[server].name, "slot_ms": cluster.slot_ms, "prices": columns})


def _by_phase(run: Run, server: int, at_ms: int, bars: np.ndarray, came: np.ndarray) -> list[np.ndarray]:
    """Prices of a server, [slot, resource], in the slots of each phase that has begun.

    Each phase has the prices of the plan at its end; the last phase, those of the plan at at_ms. ModelError if no phase
    has a scheduler with prices. bars: BAR_FIELDS of the whole run; came: arrival of each job, -1 before it.
    """
    stages = [stage for stage in store.stages_of(run.scenario, run.edits) if stage.at_ms <= at_ms]
    schedulers = [scheduler_of(stage.state) for stage in stages]
    if not any(scheduler.quotes for scheduler in schedulers):
        raise ModelError(f"{schedulers[-1].title} has no prices")
    records = remaining_work.of_phases(run.pk, [stage.state.jobs for stage in stages], at_ms)
    found = []
    for i, (stage, scheduler, jobs) in enumerate(zip(stages, schedulers, records, strict=True)):
        slot_ms = stage.state.cluster.slot_ms
        last = i + 1 == len(stages)
        first, past = stage.at_ms // slot_ms, None if last else stages[i + 1].at_ms // slot_ms
        found.append(np.full((0 if past is None else past - first, len(RESOURCES)), np.nan))
        if not scheduler.quotes or server >= len(stage.state.cluster.servers):
            continue
        # plans that an edit ends are those of the phase before it
        until_ms = at_ms if last else stages[i + 1].at_ms - 1
        known = valid_at(bars, until_ms)
        if i:
            known &= bars[:, END] > stage.at_ms
        arrived = int(((came >= 0) & (came <= until_ms)).sum())
        beliefs.start(scheduler, stage.state.cluster, jobs, run.scenario, arrived)
        scheduler.assume(bars[known][:, :BORN], arrived)
        slots = np.arange(first, scheduler.horizon or 0)
        prices = scheduler.prices(slots if past is None else slots[slots < past])
        assert prices is not None
        if past is None:
            found[-1] = prices[:, server]
        else:
            found[-1][: len(prices)] = prices[:, server]
    return found


def _plain(values: np.ndarray) -> list[float | None]:
    return [None if value != value else float(f"{value:.6g}") for value in values.tolist()]
