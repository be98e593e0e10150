"""Shadows and replays of a live cluster: read, start, cancel."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import visible
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import NumberField
from dashboard.openapi.answers import answer
from dashboard.readmodels import replays, shadows
from scheduling.model.limits import MAX_INT
from twin.models import Connection, ShadowSet
from twin.studies.shadows import sets

MAX_WINDOW_H = 24.0  # of a replay


class WindowSerializer(KnownFields):
    """Window of a set of shadows: its length, and its end in ms of the run's log; without one it ends now."""

    hours = NumberField(default=sets.DEFAULT_MS / sets.HOUR_MS)
    until_ms = serializers.IntegerField(required=False, min_value=0, max_value=MAX_INT)

    def validate_hours(self, value: float) -> float:
        """A number from a second to a week."""
        if not 1 / 3_600 <= value <= sets.MAX_MS / sets.HOUR_MS:
            raise serializers.ValidationError(
                f"must be from 1 s (1/3600) to {sets.MAX_MS // sets.HOUR_MS} h, got {value:g} h"
            )
        return value


class ShadowsView(APIView):
    """Shadows of a live cluster."""

    @extend_schema(operation_id="live_shadows", responses={200: answer("LiveShadows")})
    def get(self, request: Request, name: str) -> Response:
        """Newest finished set of shadows: metrics beside those of the real cluster, differences, verdicts, progress."""
        return Response(shadows.payload(connection_of(name, request.user)))

    @extend_schema(operation_id="live_shadows_start", request=WindowSerializer, responses={201: answer("LiveShadows")})
    def post(self, request: Request, name: str) -> Response:
        """Starts a set of shadows now; it is computed in the background."""
        given = body(WindowSerializer, request)
        connection = connection_of(name, request.user)
        sets.request(connection, round(given["hours"] * sets.HOUR_MS), given.get("until_ms"), request.user)
        return Response(shadows.payload(connection), status=status.HTTP_201_CREATED)


class CancelShadowsView(APIView):
    """The set in progress."""

    @extend_schema(operation_id="live_shadows_cancel", request=None, responses={200: answer("LiveShadows")})
    def post(self, request: Request, name: str) -> Response:
        """Cancels the set of shadows in progress; the newest finished one is kept."""
        connection = connection_of(name, request.user)
        sets.cancel(connection, request.user)
        return Response(shadows.payload(connection))


class LengthSerializer(KnownFields):
    """Length of the window, which ends now."""

    hours = NumberField(default=MAX_WINDOW_H)

    def validate_hours(self, value: float) -> float:
        """A number from a second to a day."""
        if not 1 / 3_600 <= value <= MAX_WINDOW_H:
            raise serializers.ValidationError(f"must be from 1 s (1/3600) to {MAX_WINDOW_H:g} h, got {value:g} h")
        return value


class ReplayView(APIView):
    """The window up to now, replayed by the model of the cluster's own policy."""

    @extend_schema(operation_id="live_replay_start", request=LengthSerializer, responses={201: answer("LiveReplay")})
    def post(self, request: Request, name: str) -> Response:
        """Starts a replay now; it is computed in the background."""
        given = body(LengthSerializer, request)
        connection = connection_of(name, request.user)
        sets.request(connection, round(given["hours"] * sets.HOUR_MS), user=request.user, purpose=ShadowSet.REPLAY)
        return Response(replays.payload(connection), status=status.HTTP_201_CREATED)


class CancelReplayView(APIView):
    """The replay in progress."""

    @extend_schema(operation_id="live_replay_cancel", request=None, responses={200: answer("LiveReplay")})
    def post(self, request: Request, name: str) -> Response:
        """Cancels the replay in progress; finished replays are kept."""
        connection = connection_of(name, request.user)
        sets.cancel(connection, request.user, purpose=ShadowSet.REPLAY)
        return Response(replays.payload(connection))


def connection_of(name: str, user: Any) -> Connection:
    """The connection with this name; 404 if there is none that the user sees."""
    found = visible(Connection.objects.select_related("run__scenario__cluster"), user).filter(name=name).first()
    if found is None:
        raise Http404(f"No cluster is connected under the name {name}; it may have been removed.")
    return found
