"""Templates of runs: their list, and their start."""

from __future__ import annotations

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.api.audit import record
from dashboard.openapi.answers import answer
from dashboard.readmodels.studies import gallery
from twin.studies.gallery import starting

SHOWN = ("name", "title", "about", "shows", "jobs", "servers", "schedulers", "unavailable")


@extend_schema(responses={200: answer("Templates")})
@api_view(["GET"])
def template_list(request: Request) -> Response:
    """Templates of runs: generated workloads with their schedulers. With several schedulers, a start is a race.

    unavailable: why a template cannot be started, if one of its schedulers is missing.
    """
    return Response([{key: card[key] for key in SHOWN} for card in gallery.cards()])


class StartTemplateView(APIView):
    """/api/templates/<name>/start/"""

    @extend_schema(request=None, responses={201: answer("TemplateStarted")})
    def post(self, request: Request, name: str) -> Response:
        """Starts a template; the answer is {scenario, runs, page}. Its scenario is reused unless it was edited."""
        if name not in starting.MENU.names():
            raise NotFound(
                f"There is no template {name!r}; known: {', '.join(starting.MENU.names())}{starting.MENU.notice()}."
            )
        with transaction.atomic():
            scenario, runs = starting.start(name, request.user)
            record(request.user, "scenario.template", scenario)
        numbers = [run.pk for run in runs]
        page = f"/runs/{numbers[0]}/"
        if len(numbers) > 1:
            page = f"/compare/?runs={','.join(map(str, numbers))}"
        return Response({"scenario": scenario.pk, "runs": numbers, "page": page}, status=status.HTTP_201_CREATED)
