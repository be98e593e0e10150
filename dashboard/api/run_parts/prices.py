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
from dashboard.readmodels.query import moment_of
from scheduling.kernel.registry import build
from scheduling.model.values import RESOURCES, ModelError
from twin.eventlog import event_log
from twin.eventlog.fold import ARRIVED, BORN, DIED, NEVER, RunState
from twin.eventlog.state_cache import Newest
from twin.infra.counts import counted
from twin.models import Run
from twin.scenarios import beliefs, store

PRICING = ("priced", "edited")  # kinds of events that determine prices; an edit replaces all earlier prices
NO_BARS = np.empty((0, BORN), dtype=np.int64)


class PricesView(APIView):
    """Prices by site."""

    @extend_schema(parameters=[OpenApiParameter("at_ms", int)], responses={200: answer("RunPrices")})
    def get(self, request: Request, pk: int) -> Response:
        """{at_ms, default_prices, prices: [[slot, low, mean, high]]}, as in a snapshot; with at_ms, as of that time."""
        run = one(Run.objects.all(), request.user, pk=pk)
        at_ms = moment_of(request.query_params, run.sim_ms)
        state = RunState()
        state.feed_raw(event_log.lines_of(run.pk, PRICING, up_to_ms=at_ms), NO_BARS)
        prices = [[slot, *state.prices[slot]] for slot in sorted(state.prices)]
        return Response({"at_ms": at_ms, "default_prices": state.default_prices, "prices": prices})


class ServerPricesView(APIView):
    """Prices of one server."""

    @extend_schema(
        operation_id="api_runs_server_prices_retrieve",
        parameters=[OpenApiParameter("at_ms", int)],
        responses={200: answer("ServerPrices")},
    )
    def get(self, request: Request, pk: int, server: int) -> Response:
        """{server, slot_ms, prices: {resource: [price per unit in slot 0, 1, ...]}}.

        A price is null in slots without one, or in which the server is unavailable.

        With at_ms, as planned at that time.
        """
        run = one(Run.objects.select_related("scenario"), request.user, pk=pk)
        cluster, jobs = store.of_run(run)
        if server >= len(cluster.servers):
            raise NotFound(f"Run {pk} has {counted(len(cluster.servers), 'server')}; none has the index {server}.")
        with Newest(run) as state:
            bars = state.bars.rows
            at_ms = moment_of(request.query_params, state.sim_ms)
            phase = next(
                stage.state for stage in reversed(store.stages_of(run.scenario, run.edits)) if stage.at_ms <= at_ms
            )
            scheduler = build(phase.scheduler, phase.parameters)
            if not scheduler.quotes:
                raise ModelError(f"{scheduler.title} has no prices")
            known = (bars[:, BORN] <= at_ms) & ((bars[:, DIED] == NEVER) | (bars[:, DIED] > at_ms))
            bars = bars[known][:, :BORN].copy()
            came = state.jobs.rows[:, ARRIVED]
            arrived = int(((came >= 0) & (came <= at_ms)).sum())
        beliefs.start(scheduler, cluster, jobs, run.scenario, arrived)
        scheduler.assume(bars, arrived)
        prices = scheduler.prices(np.arange(scheduler.horizon or 0))
        assert prices is not None
        columns = {name: _plain(prices[:, server, r]) for r, name in enumerate(RESOURCES)}
        return Response({"server": cluster.servers[server].name, "slot_ms": cluster.slot_ms, "prices": columns})


def _plain(values: np.ndarray) -> list[float | None]:
    return [None if value != value else float(f"{value:.6g}") for value in values.tolist()]
