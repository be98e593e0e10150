"""GET /api/runs/<id>/prices/ and prices/<server>/: the prices in every slot, of the sites or of one server, now or at a moment."""

from __future__ import annotations

import numpy as np
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.jobs import number
from dashboard.states import Newest
from scheduling.model import RESOURCES, ModelError
from scheduling.registry import build
from twin import eventlog, scenarios
from twin.models import Run
from twin.state import BORN, DIED, NEVER, RunState

NO_BARS = np.empty((0, BORN), dtype=np.int64)


class PricesView(APIView):
    """What the sites cost."""

    @extend_schema(parameters=[OpenApiParameter("at_ms", int)], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int) -> Response:
        """{at_ms, default_prices, prices: [[slot, low, mean, high]]}, as a snapshot has them; with at_ms as they were then."""
        run = get_object_or_404(Run, pk=pk)
        at_ms = number(request.query_params, "at_ms", run.sim_ms, 0, 2**62)
        state = RunState()
        for lines, _ in eventlog.lines_and_bars(run.pk, up_to_ms=at_ms):
            state.feed_raw([line for line in lines if line[2] == "priced"], NO_BARS, up_to_ms=at_ms)
        prices = [[slot, *state.prices[slot]] for slot in sorted(state.prices)]
        return Response({"at_ms": at_ms, "default_prices": state.default_prices, "prices": prices})


class ServerPricesView(APIView):
    """What one server costs."""

    @extend_schema(parameters=[OpenApiParameter("at_ms", int)], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int, server: int) -> Response:
        """{server, slot_ms, prices: {resource: [price per whole unit in slot 0, 1, ...]}}; null where it has none or is away.

        With at_ms as they were then: what was planned at that moment.
        """
        run = get_object_or_404(Run.objects.select_related("scenario"), pk=pk)
        cluster, jobs = scenarios.of_run(run)
        if server >= len(cluster.servers):
            raise NotFound(f"Run {pk} has {len(cluster.servers)} servers; there is none with the index {server}.")
        scheduler = build(run.scenario.scheduler, run.scenario.parameters)
        if not scheduler.quotes:
            raise ModelError(f"{scheduler.title} sets no prices")
        with Newest(run) as state:
            bars = state.bars.rows
            at_ms = number(request.query_params, "at_ms", state.sim_ms, 0, 2**62)
            known = (bars[:, BORN] <= at_ms) & ((bars[:, DIED] == NEVER) | (bars[:, DIED] > at_ms))
            bars = bars[known][:, :BORN].copy()
        scheduler.start(cluster, jobs, np.random.default_rng(run.scenario.seed))
        scheduler.assume(bars)
        prices = scheduler.prices(np.arange(scheduler.horizon or 0))
        assert prices is not None
        columns = {name: _plain(prices[:, server, r]) for r, name in enumerate(RESOURCES)}
        return Response({"server": cluster.servers[server].name, "slot_ms": cluster.slot_ms, "prices": columns})


def _plain(values: np.ndarray) -> list[float | None]:
    return [None if value != value else float(f"{value:.6g}") for value in values.tolist()]
