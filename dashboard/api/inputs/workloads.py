"""Generated workloads: a trace and its cluster in one request."""

from __future__ import annotations

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from dashboard.api.audit import record
from dashboard.api.serializers.clusters import ClusterSerializer
from dashboard.api.serializers.traces import TraceSerializer
from dashboard.http.body import body
from dashboard.http.field_sentences import choice_field
from dashboard.http.known_fields import KnownFields
from dashboard.http.number_field import MAX_ID
from dashboard.openapi.answers import answer
from scheduling.model.measured_speed import trained_at
from scheduling.reporting.quantities import counted
from scheduling.workloads import ABOUT, HORIZON, VARIANTS, generate
from twin.files.speed_json import parse_speed
from twin.models import home_of
from twin.scenarios.store import store_generated

MAX_JOBS = 20_000  # generated while the request waits; for more use `manage.py generate` and an upload
MAX_SERVERS = 5_000  # likewise; a cluster has more where it is generated alone, imported or edited
MAX_SLOTS = 100_000
MAX_SPEED = 1_000_000  # characters of a file of a measured speed


class WorkloadSerializer(KnownFields):
    """Parameters of a generated workload."""

    profile = choice_field(list(ABOUT))
    variant = choice_field(VARIANTS, default=VARIANTS[0])
    jobs = serializers.IntegerField(min_value=1, max_value=MAX_JOBS)
    servers = serializers.IntegerField(min_value=2, max_value=MAX_SERVERS, default=100)
    seed = serializers.IntegerField(min_value=0, max_value=MAX_ID, default=0)
    horizon_slots = serializers.IntegerField(min_value=1, max_value=MAX_SLOTS, required=False, allow_null=True)
    speed = serializers.CharField(
        max_length=MAX_SPEED, required=False, allow_blank=True, allow_null=True,
        help_text="Content of a file that manage.py measure_speed wrote; jobs get the measured speed; their duration "
        "with one worker stays the same",
    )  # fmt: skip


class WorkloadsView(APIView):
    """/api/workloads/"""

    @extend_schema(responses={200: answer("WorkloadProfiles")})
    def get(self, request: Request) -> Response:
        """Profiles with descriptions, and limits."""
        rows = [{"name": name, "title": _title(name), "about": about} for name, about in ABOUT.items()]
        limits = {"jobs": MAX_JOBS, "servers": MAX_SERVERS, "horizon_slots": MAX_SLOTS}
        return Response({"profiles": rows, "variants": VARIANTS, "limits": limits, "horizon_slots": HORIZON})

    @extend_schema(request=WorkloadSerializer, responses={201: answer("WorkloadGenerated")})
    def post(self, request: Request) -> Response:
        """Generates a workload; equal values give identical jobs, byte for byte."""
        p = body(WorkloadSerializer, request)
        speed = parse_speed(p["speed"], "measured speed") if p.get("speed") else None
        cluster, jobs = generate(
            p["profile"], variant=p["variant"], num_jobs=p["jobs"], num_servers=p["servers"], seed=p["seed"],
            horizon_slots=p.get("horizon_slots"),
        )  # fmt: skip
        if speed is not None:
            jobs = [trained_at(job, speed) for job in jobs]
        size = f"{counted(p['jobs'], 'job')}, seed {p['seed']}{'' if speed is None else ', measured speed'}"
        name = f"{_title(p['profile'])} workload, {p['variant']}, {size}"
        with transaction.atomic():
            spec, trace = store_generated(name, cluster, jobs, p["seed"], home_of(request.user))
            record(request.user, "trace.generate", trace)
        return Response(
            {"trace": TraceSerializer(trace).data, "cluster": ClusterSerializer(spec).data},
            status=status.HTTP_201_CREATED,
        )


def _title(profile: str) -> str:
    """Name of the paper's scheduler: "OASiS"."""
    return ABOUT[profile].partition(":")[0]
