"""GET /api/search/: what has a page, by a part of its name."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.visible import visible
from dashboard.openapi.answers import answer
from dashboard.query import number
from dashboard.readmodels.search import MAX_TEXT, search
from scheduling.model.values import ModelError
from twin.models import Run


class SearchView(APIView):
    """Runs, live clusters, scenarios, traces and sweeps; jobs and servers of one run."""

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "q", str, description="Part of the name of an object or scheduler, or the number of a run"
            ),
            OpenApiParameter("run", int, description="Number of a run whose jobs and servers are searched too"),
        ],
        responses={200: answer("SearchHits")},
    )
    def get(self, request: Request) -> Response:
        """[{kind, title, count, hits: [{title, detail, href}]}]; without q, the newest runs and the live clusters."""
        asked = request.query_params
        text = asked.get("q", "").strip()
        if len(text) > MAX_TEXT:
            raise ModelError(f"q must have at most {MAX_TEXT:,} characters, got {len(text):,}")
        pk = number(asked, "run", 0, 0, 2**53)
        run = visible(Run.objects.all(), request.user).filter(pk=pk).first()
        if pk and run is None:
            raise NotFound(f"Run {pk} does not exist.")
        return Response(search(text, run, lambda rows: visible(rows, request.user)))
