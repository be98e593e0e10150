"""Subtasks of a co-location group, computed for a time window."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import one
from dashboard.openapi.answers import answer
from dashboard.query import number
from scheduling.colocation.subtasks import SUBTASK_TYPES, TRACKS, idle, of_group
from scheduling.model.limits import MAX_INT
from twin.eventlog.fold import NEVER
from twin.eventlog.state_cache import Newest
from twin.models import Run

MAX_BARS = 5_000  # of an answer


class SubtasksView(APIView):
    """GET /api/runs/<id>/groups/<group>/subtasks/?at=&from=&to="""

    @extend_schema(
        parameters=[OpenApiParameter(n, int) for n in ("at", "from", "to")], responses={200: answer("GroupSubtasks")}
    )
    def get(self, request: Request, pk: int, group: int) -> Response:
        """{bars: [[job, kind, iteration, start_ms, end_ms]], idle: [[track, start_ms, end_ms, cause]], whole}.

        The group is shown as at the time `at`. whole: true if nothing was left out.
        """
        run = one(Run.objects.select_related("scenario"), request.user, pk=pk)
        asked = request.query_params
        at_ms = number(asked, "at", 0, 0, MAX_INT)
        with Newest(run) as state:
            end_ms = state.sim_ms if state.finished else MAX_INT
            found = [
                (from_ms, until_ms, data)
                for from_ms, until_ms, data in state.groups
                if data["group"] == group and from_ms <= at_ms and (until_ms == NEVER or at_ms < until_ms)
            ]
        if not found:
            raise NotFound(f"Run {pk} has no group {group} at {run.moment(at_ms)}; groups.csv has its groups.")
        recorded_ms, until_ms, data = found[-1]
        from_ms = max(number(asked, "from", recorded_ms, 0, MAX_INT), recorded_ms)
        to_ms = min(number(asked, "to", at_ms + 1, 0, MAX_INT), until_ms if until_ms != NEVER else end_ms)
        bars = of_group(data, recorded_ms, from_ms, to_ms, most=MAX_BARS) if to_ms > from_ms else []
        whole = len(bars) < MAX_BARS
        reached = to_ms if whole else bars[-1].start_ms
        empty = idle(bars, from_ms, reached, data["bound"] or "") if bars else []
        return Response({
            "kinds": SUBTASK_TYPES, "lanes": TRACKS, "whole": whole,
            "bars": [[data["jobs"][b.job], b.kind, b.iteration, round(b.start_ms, 3), round(b.end_ms, 3)]
                     for b in bars],
            "idle": [[TRACKS.index(i.track), round(i.start_ms, 3), round(i.end_ms, 3), i.cause] for i in empty],
        })  # fmt: skip
