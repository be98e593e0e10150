"""GET /api/runs/<id>/prices/<server>/: the prices of one server in every slot, as they are now."""

from __future__ import annotations

import numpy as np
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.states import Newest
from scheduling.model import RESOURCES, ModelError
from scheduling.registry import build
from twin import scenarios
from twin.models import Run
from twin.state import BORN, DIED, NEVER


class ServerPricesView(APIView):
    """What one server costs."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, pk: int, server: int) -> Response:
        """{server, slot_ms, prices: {resource: [price per whole unit in slot 0, 1, ...]}}; null where it has none or is away."""
        run = get_object_or_404(Run.objects.select_related("scenario"), pk=pk)
        cluster, jobs = scenarios.of_run(run)
        if server >= len(cluster.servers):
            raise NotFound(f"Run {pk} has {len(cluster.servers)} servers; there is none with the index {server}.")
        scheduler = build(run.scenario.scheduler, run.scenario.parameters)
        if not scheduler.quotes:
            raise ModelError(f"{scheduler.title} sets no prices")
        with Newest(run) as state:
            bars = state.bars.rows
            bars = bars[bars[:, DIED] == NEVER][:, :BORN].copy()
        scheduler.start(cluster, jobs, np.random.default_rng(run.scenario.seed))
        scheduler.assume(bars)
        prices = scheduler.prices(np.arange(scheduler.horizon or 0))
        assert prices is not None
        columns = {name: _plain(prices[:, server, r]) for r, name in enumerate(RESOURCES)}
        return Response({"server": cluster.servers[server].name, "slot_ms": cluster.slot_ms, "prices": columns})


def _plain(values: np.ndarray) -> list[float | None]:
    return [None if value != value else float(f"{value:.6g}") for value in values.tolist()]
