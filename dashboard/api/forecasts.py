"""Forecasts of a live cluster, and their accuracy."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import one
from dashboard.openapi.answers import answer
from dashboard.readmodels import replays
from scheduling.forecast.scoring import LEARNING, MIN_SCORED
from twin.mirror.background_work import audit_of, forecast_of
from twin.models import Connection, Forecasting


class ForecastView(APIView):
    """GET /api/live/<name>/forecast/"""

    @extend_schema(responses={200: answer("LiveForecast")})
    def get(self, request: Request, name: str) -> Response:
        """{run, made_ms, seconds, error, calibration, rows}: the newest forecast of every waiting job.

        rows: {job, start_ms, finish_ms, low_ms, high_ms, servers, why, waits_for, more, ahead, system_ms, never}, in
        the order of priority; times in ms of the log of the run. low_ms to high_ms: the 80 % band. system_ms: the
        cluster's own expected start. never: why the job has no start, in one sentence. error: why there is no newer
        forecast; empty otherwise.
        """
        connection = one(Connection.objects.only("pk", "run"), request.user, name=name)
        kept = Forecasting.objects.filter(pk=connection.pk).defer("ends", "learned", "estimates", "constraints").first()
        if kept is None or kept.made_ms is None or kept.run_id != connection.run_id:
            error = kept.error if kept is not None else ""
            nothing = {"run": connection.run_id, "made_ms": None, "seconds": None, "error": error}
            return Response({**nothing, "rows": [], "calibration": _calibration({})})
        newest = {"run": kept.run_id, "made_ms": kept.made_ms, "seconds": kept.seconds, "error": kept.error}
        return Response({**newest, "rows": kept.rows, "calibration": _calibration(kept.figures)})


class FidelityView(APIView):
    """GET /api/live/<name>/fidelity/"""

    @extend_schema(responses={200: answer("LiveFidelity")})
    def get(self, request: Request, name: str) -> Response:
        """{calibration, figures, drift, work, replay}: errors of the forecasts of 7 days, by method and by lead.

        figures: {at_ms, days, coverage, starts, finishes, best, run_times}; times and errors in ms, shares from 0 to 1,
        {} before the first forecast. drift: newest drift audit. best: the run-time predictor in use. work: state of the
        audit and the forecast that are computed now, as {audit, forecast}: computing, cancelled, or empty.

        replay: {newest, progress, failed, before}: metrics of the model of the cluster's own policy on a past window:
        jobs, makespan_ms and makespan_real_ms with their relative difference makespan_error, wait_ms and wait_real_ms
        (means), within: share of the starts that differ by at most within_ms, order: Kendall's tau of the starts,
        first: {job, real_ms, simulated_ms} of the first larger difference, run and replay: runs to compare, in_step:
        share of the starts that the model decides alike from the real state (null where not computed), model: its name.
        """
        connection = one(Connection.objects.all(), request.user, name=name)
        kept = Forecasting.objects.filter(pk=connection.pk).only("figures").first()
        errors = kept.figures if kept is not None else {}
        drift = {key: connection.drift.get(key) for key in ("checked_at", "compared", "count", "error")}
        drift["accounted"] = connection.drift.get("accounted", True)
        work = {"audit": audit_of(connection).state(), "forecast": forecast_of(connection).state()}
        own = {"calibration": _calibration(errors), "figures": errors, "drift": drift, "work": work}
        return Response({**own, "replay": replays.payload(connection)})


def _calibration(errors: dict[str, Any]) -> dict[str, Any]:
    """{state, count, least, share, low, high}: calibrated | learning | off, with the coverage of the 80 % band."""
    coverage = errors.get("coverage") or {"count": 0, "share": None, "low": None, "high": None}
    return {"state": errors.get("calibration", LEARNING), "least": MIN_SCORED, **coverage}
