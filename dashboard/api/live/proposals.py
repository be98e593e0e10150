"""Plans for the waiting jobs of a live cluster: propose, list, approve, undo, discard."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.auth.roles import APPROVER
from dashboard.auth.visible import OfTeams, one
from dashboard.http.body import body
from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import ParametersField
from scheduling.kernel.registry import schedulers
from twin.acting import gates, proposals, rules
from twin.acting.plan import ORDER, PLAN_TYPES
from twin.models import Connection, Proposal
from twin.scenarios import scheduler_titles

MAX_LISTED = 50  # plans of a connection, the newest first


class ProposalSerializer(serializers.ModelSerializer[Proposal]):
    """A plan: status, kind, its changes with their commands, the unchanged jobs, and its outcome.

    rows: {key, submitted_ms, field, before, after, until_ms, start_ms, user, queue, account, priority, command,
    inverse, state, message}. refused: reason why it may not be approved now, or empty.
    """

    connection = serializers.SlugRelatedField[Connection](slug_field="name", read_only=True)
    made_by = serializers.SlugRelatedField[Any](
        slug_field="username", read_only=True, allow_null=True, help_text="Name of the account"
    )
    approved_by = serializers.SlugRelatedField[Any](
        slug_field="username", read_only=True, allow_null=True, help_text="Name of the account"
    )
    rows = serializers.SerializerMethodField()
    left_out = serializers.SerializerMethodField()
    left_out_count = serializers.SerializerMethodField()
    waiting = serializers.SerializerMethodField()
    refused = serializers.SerializerMethodField()
    title = serializers.SerializerMethodField()
    parameter_texts = serializers.SerializerMethodField()

    class Meta:
        model = Proposal
        fields = (
            "id", "connection", "run", "scheduler", "title", "parameters", "parameter_texts", "kind", "status",
            "message", "digest", "rows", "left_out", "left_out_count", "waiting", "refused", "undo_wanted",
            "made_by", "made_at", "planned_at", "approved_by", "approved_at", "ended_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_title(self, proposal: Proposal) -> str:
        """Title of the scheduler; its name if this version does not have the scheduler."""
        known = schedulers().get(proposal.scheduler)
        return proposal.scheduler if known is None else known.title

    def get_parameter_texts(self, proposal: Proposal) -> list[str]:
        """Parameters that are set, as shown: ["Order of the queue Fair share"]."""
        return scheduler_titles.parameter_texts(proposal.scheduler, proposal.parameters)

    @extend_schema_field({"type": "array", "items": answer("PlanChange")})
    def get_rows(self, proposal: Proposal) -> list[dict[str, Any]]:
        """Changes in order, with the outcome of each."""
        entries = {entry.number: entry for entry in proposal.entries.all()}
        found = []
        for number, row in enumerate(proposal.plan.get("rows", ()), start=1):
            entry = entries.get(number)
            found.append(row | {"state": entry.state if entry else "", "message": entry.message if entry else ""})
        return found

    def get_left_out(self, proposal: Proposal) -> list[list[str]]:
        """[job, reason] of the unchanged jobs."""
        return list(proposal.plan.get("left_out", ()))

    def get_left_out_count(self, proposal: Proposal) -> int:
        """Number of unchanged jobs, including those that left_out does not list."""
        return int(proposal.plan.get("left_out_count", 0))

    def get_waiting(self, proposal: Proposal) -> int:
        """Number of jobs that waited when the plan was made."""
        return int(proposal.plan.get("waiting", 0))

    def get_refused(self, proposal: Proposal) -> str:
        """Reason why the plan may not be approved now."""
        if proposal.status != Proposal.PROPOSED:
            return ""
        return gates.why_not(proposal, rules.of(proposal.connection))


class ProposeSerializer(KnownFields):
    """Request for a plan that follows a simulation of the scheduler from now on.

    kind: order (nice) or placement (begin times and required nodes).
    """

    scheduler = serializers.CharField(max_length=60, default="easy")
    parameters = ParametersField(default=dict)
    kind = choice_field(PLAN_TYPES, default=ORDER)


class ApproveSerializer(KnownFields):
    """Approval of the plan with this digest: the one that was shown."""

    digest = serializers.CharField(max_length=64)


class ProposalsView(APIView):
    """GET and POST /api/live/<name>/proposals/"""

    @extend_schema(responses=ProposalSerializer(many=True), operation_id="connections_proposals_list")
    def get(self, request: Request, name: str) -> Response:
        """The newest 50 plans of the cluster."""
        connection = one(Connection.objects.all(), request.user, name=name)
        found = connection.proposals.select_related("connection", "made_by", "approved_by").prefetch_related("entries")
        return Response(ProposalSerializer(found[:MAX_LISTED], many=True).data)

    @extend_schema(request=ProposeSerializer, responses={201: ProposalSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Requests a plan; it is proposed when its run has ended."""
        connection = one(Connection.objects.all(), request.user, name=name)
        given = body(ProposeSerializer, request)
        made = proposals.propose(connection, **given, user=request.user)
        return Response(ProposalSerializer(made).data, status=status.HTTP_201_CREATED)


@extend_schema_view(retrieve=extend_schema(description="One plan with its changes and their outcomes."))
class ProposalViewSet(OfTeams, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Proposal]):
    """Plans for the waiting jobs of live clusters."""

    queryset = Proposal.objects.select_related("connection", "made_by", "approved_by").prefetch_related("entries")
    serializer_class = ProposalSerializer
    needs = {"approve": APPROVER}

    @extend_schema(request=ApproveSerializer, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Approves the plan, which the acting process then carries out."""
        proposal = self.get_object()
        given = body(ApproveSerializer, request)
        return self._changed(proposals.approve(proposal, given["digest"], request.user))

    @extend_schema(request=None, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Undoes the changes of the plan."""
        return self._changed(proposals.undo(self.get_object(), request.user))

    @extend_schema(request=None, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def discard(self, request: Request, pk: str) -> Response:
        """Discards a plan that is not approved."""
        return self._changed(proposals.discard(self.get_object(), request.user))

    def _changed(self, proposal: Proposal) -> Response:
        return Response(self.get_serializer(self.get_queryset().get(pk=proposal.pk)).data)
