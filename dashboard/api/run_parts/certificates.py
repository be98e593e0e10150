"""The certificate of a run, with the prices that prove it."""

from __future__ import annotations

from typing import Any

import numpy as np
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import one
from dashboard.openapi.answers import answer
from twin.eventlog import frames
from twin.infra.columns import unpack
from twin.models import Run
from twin.runs import commands

MAX_POINTS = 2_000  # of a curve; slots beyond are taken together, by their mean


class CertificateView(APIView):
    """GET, POST and DELETE /api/runs/<id>/certificate/"""

    @extend_schema(responses={200: answer("RunCertificate")})
    def get(self, request: Request, pk: int) -> Response:
        """{certificate, certifying, certificate_queued, prices}

        prices: of the pooled relaxation, per unit and slot, by pool of servers and resource. certifying: whether
        another certificate is being computed; certificate_queued: whether that of an ended run waits for its turn.
        """
        run = one(Run.objects.all(), request.user, pk=pk)
        prices = _curves(bytes(run.certificate_prices))
        return Response(
            {
                "certificate": run.certificate or None,
                "certifying": frames.certifying(run),
                "certificate_queued": frames.certificate_queued(run),
                "prices": prices,
            }
        )

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, pk: int) -> Response:
        """Requests a certificate of the run's current log, also after a cancel."""
        one(Run.objects.only("pk"), request.user, pk=pk)
        commands.request_certificate(pk, request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Cancels the computation in progress or in the queue; the current certificate is kept."""
        one(Run.objects.only("pk"), request.user, pk=pk)
        commands.cancel_certificate(pk, request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _curves(packed: bytes) -> dict[str, Any] | None:
    """{slots_a_point, curves: [{pool, resource, price: [...]}]} without curves of zero prices."""
    if not packed:
        return None
    meta, columns = unpack(packed)
    prices = columns["prices"].astype(float)
    group = -(-len(prices) // MAX_POINTS)
    starts = np.arange(0, len(prices), group)
    counts = np.minimum(starts + group, len(prices)) - starts
    means = np.add.reduceat(prices, starts, axis=0) / counts[:, None, None]
    curves = [
        {"pool": pool, "resource": resource, "price": [float(f"{value:.6g}") for value in means[:, k, r]]}
        for k, pool in enumerate(meta["pools"])
        for r, resource in enumerate(meta["resources"])
        if prices[:, k, r].any()
    ]
    return {"slots_a_point": group, "curves": curves}
