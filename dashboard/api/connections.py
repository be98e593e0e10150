"""Connections to real clusters: list, connect, test, change, pause, follow, remove."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.serializers.team import TeamField
from dashboard.auth.visible import OfTeams, source_refused
from dashboard.http.body import body
from dashboard.http.known_fields import KnownFields
from dashboard.ingest.first_event import with_token
from dashboard.openapi.answer_fields import NodesField
from dashboard.openapi.answers import answer
from dashboard.openapi.fields import ParametersField, SitesField
from twin.connectors.base import title_of
from twin.connectors.facts import NodeFact
from twin.mirror import stored
from twin.mirror.connecting import connections, trial
from twin.mirror.connecting.condition import condition
from twin.mirror.connecting.errors import FieldError
from twin.mirror.connecting.samplers import checked_sampler
from twin.mirror.sampling import STARTING
from twin.models import Connection
from twin.processes import heartbeat
from twin.samplers.base import Sampler
from twin.studies.shadows import sets as shadow_sets

MAX_PARAMETERS = 40
MAX_PREVIEW = 5_000  # nodes of one preview of sites


class ConnectionSerializer(serializers.ModelSerializer[Connection]):
    """A connection and its condition: state, since (Unix s), message, age_ms of the data, metrics of the follower."""

    title = serializers.SerializerMethodField()
    condition = serializers.SerializerMethodField()
    team = TeamField()

    class Meta:
        model = Connection
        fields = (
            "name",
            "connector",
            "title",
            "parameters",
            "sites",
            "interval_ms",
            "sampler",
            "sampler_parameters",
            "wanted",
            "run",
            "condition",
            "team",
            "created_at",
        )
        read_only_fields = fields

    def get_title(self, connection: Connection) -> str:
        return title_of(connection.connector)

    @extend_schema_field(answer("ConnectionCondition"))
    def get_condition(self, connection: Connection) -> dict[str, Any]:
        """{state, since, message, age_ms, stale_after_ms, event_ms, polled_ago_ms, seen_ms, clock_offset_ms, lag, cost,
        counts, not_up, audit, samples}.

        samples: {sampler, state, message, age_ms, nodes}, {} without a sampler.
        """
        now, health = time.time(), connection.health
        found = condition(connection, now)
        message = found.message
        if found.state == "starting" and "no_follower" not in self.context:
            processes = heartbeat.processes()
            self.context["no_follower"] = processes is not None and all(
                one.kind != heartbeat.FOLLOWER for one in processes
            )
        if found.state == "starting" and self.context["no_follower"]:
            message = "No follower is running; manage.py up starts one."
        return {
            "state": found.state,
            "since": found.since,
            "message": message,
            "age_ms": _age_ms(found.seen_at, now),
            "stale_after_ms": found.stale_after_ms,
            "event_ms": found.event_ms,
            "polled_ago_ms": _age_ms(health.get("last_look_at"), now),
            "seen_ms": health.get("seen_ms"),
            "clock_offset_ms": health.get("clock_offset_ms"),
            "lag": health.get("lag", {}),
            "cost": health.get("cost", {}),
            "counts": health.get("counts", {}),
            "not_up": health.get("not_up") or {"total": 0, "nodes": []},
            "audit": _audit(connection),
            "samples": _samples(connection, now),
        }


def _age_ms(at: float | None, now: float) -> int | None:
    """Time from a Unix time in s until now, at least 0; None without one."""
    return None if at is None else max(0, round((now - at) * 1_000))


def _samples(connection: Connection, now: float) -> dict[str, Any]:
    """State of sampling: starting, sampling or failing; age_ms: of the newest answer, None before it."""
    if not connection.sampler:
        return {}
    found = connection.health.get("samples") or {}
    if found.get("sampler") != connection.sampler:
        found = {}
    return {
        "sampler": connection.sampler,
        "state": found.get("state", STARTING),
        "message": found.get("message", ""),
        "age_ms": _age_ms(found.get("at"), now),
        "nodes": found.get("nodes", 0),
    }


def _audit(connection: Connection) -> dict[str, Any]:
    """Newest drift audit of the current run; {} before the first.

    {checked_at, compared, count, differences, error, accounted}: accounted is false if the cluster keeps no accounting.
    """
    drift = connection.drift
    if not drift or drift["run"] != connection.run_id or not (drift["checked_at"] or drift["error"]):
        return {}
    newest = {name: drift[name] for name in ("checked_at", "compared", "count", "differences", "error")}
    return {**newest, "accounted": drift.get("accounted", True)}


class SettingsSerializer(serializers.Serializer[Any]):
    """Settings of a connection to test."""

    connector = serializers.CharField(max_length=60)
    parameters = ParametersField(default=dict)
    sites = SitesField(default=dict)
    sampler = serializers.CharField(max_length=60, default="", allow_blank=True)
    sampler_parameters = ParametersField(default=dict)

    def validate_parameters(self, value: dict[str, Any]) -> dict[str, Any]:
        """Few and short: none of them is a secret or a document."""
        if len(value) > MAX_PARAMETERS or any(len(str(one)) > 2_000 for one in value.values()):
            raise serializers.ValidationError(f"at most {MAX_PARAMETERS:,} parameters of at most 2,000 characters each")
        return value

    validate_sites = validate_sampler_parameters = validate_parameters


class NewConnectionSerializer(KnownFields, SettingsSerializer):
    """Request for a connection."""

    name = serializers.CharField(max_length=200)
    interval_ms = serializers.IntegerField(default=1_000)


class ChangeSerializer(KnownFields):
    """Change of a connection; omitted fields keep their values. An empty sampler ends sampling."""

    parameters = ParametersField(required=False)
    sites = SitesField(required=False)
    interval_ms = serializers.IntegerField(required=False)
    sampler = serializers.CharField(max_length=60, required=False, allow_blank=True)
    sampler_parameters = ParametersField(required=False)


class PreviewNodeSerializer(serializers.Serializer[Any]):
    """A node as a test shows it."""

    name = serializers.CharField(max_length=300)
    queues = serializers.ListField(child=serializers.CharField(max_length=300), default=list, max_length=200)
    labels = serializers.DictField(child=serializers.CharField(max_length=300, allow_blank=True), default=dict)


class PreviewSerializer(KnownFields):
    """Nodes, and a rule that puts each of them on a site."""

    sites = SitesField(default=dict)
    nodes = PreviewNodeSerializer(many=True, max_length=MAX_PREVIEW)


class FindingSerializer(serializers.Serializer[Any]):
    """One finding of a test. needed: whether following requires it."""

    subject = serializers.CharField()
    well = serializers.BooleanField()
    message = serializers.CharField()
    remedy = serializers.CharField()
    needed = serializers.BooleanField()


class TrialSerializer(serializers.Serializer[Any]):
    """Result of a test; nodes have the site that the rule gives them, and are at most 5,000 of total_nodes."""

    well = serializers.BooleanField()
    error = serializers.CharField()
    version = serializers.CharField()
    clock_offset_ms = serializers.IntegerField(allow_null=True)
    findings = FindingSerializer(many=True)
    nodes = NodesField(child=serializers.DictField())
    total_nodes = serializers.IntegerField()
    jobs = serializers.DictField(child=serializers.IntegerField())
    seconds = serializers.FloatField()


@extend_schema_view(retrieve=extend_schema(description="One connection with its condition."))
class ConnectionViewSet(OfTeams, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Connection]):
    """Real clusters that are followed."""

    queryset = Connection.objects.select_related("run", "team")
    serializer_class = ConnectionSerializer
    lookup_field = "name"
    lookup_value_regex = r"[\w-]+"

    @extend_schema(request=NewConnectionSerializer, responses={201: ConnectionSerializer})
    def create(self, request: Request) -> Response:
        """Stores a connection; the follower begins within seconds. Secrets are given as names of files or variables."""
        given = body(NewConnectionSerializer, request)
        name = connections.checked_name(given["name"])
        interval_ms = connections.checked_interval(given["interval_ms"])
        sites = connections.checked_sites(given["sites"])
        _check_source(given["connector"], given["parameters"], request.user)
        connector = connections.checked_connector(given["connector"], given["parameters"])
        connector.close()
        sampler = checked_sampler(given["sampler"], given["sampler_parameters"])
        made = connections.create(name, connector, sites, interval_ms, request.user, sampler)
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ChangeSerializer, responses=ConnectionSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        """Changes parameters, site rule, interval or sampler; name and connector cannot be changed."""
        connection, given = self.get_object(), body(ChangeSerializer, request)
        before = connection.parameters
        wanted = {**before, **given.get("parameters", {})}
        rule = connections.checked_sites({**connection.sites, **given.get("sites", {})})
        _check_source(connection.connector, wanted, request.user)
        connector = connections.checked_connector(connection.connector, wanted, before)
        connector.close()
        interval_ms = given.get("interval_ms", connection.interval_ms)
        sampler = _changed_sampler(connection, given)
        connections.change(connection, connector, rule, interval_ms, request.user, sampler)
        return Response(self.get_serializer(connection).data)

    def destroy(self, request: Request, name: str) -> Response:
        """Removes the connection; its run ends and is kept."""
        connection = self.get_object()
        shadow_sets.remove(list(connection.shadow_sets.all()))
        connections.remove(connection, request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses={200: answer("ClusterNodes")})
    @action(detail=True)
    def nodes(self, request: Request, name: str) -> Response:
        """{nodes, total_nodes}: nodes of the current run with the site of each, as a test shows them."""
        connection = self.get_object()
        found = stored.nodes_of(connection)
        rule = stored.sites_of(connection)
        nodes = [asdict(fact) | {"site": rule.site(fact)} for fact in found[:MAX_PREVIEW]]
        return Response({"nodes": nodes, "total_nodes": len(found)})

    @extend_schema(request=None, responses=ConnectionSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, name: str) -> Response:
        """Pauses following; the pause is recorded as a gap."""
        return Response(self.get_serializer(connections.pause(self.get_object(), request.user)).data)

    @extend_schema(request=None, responses=ConnectionSerializer)
    @action(detail=True, methods=["post"])
    def follow(self, request: Request, name: str) -> Response:
        """Resumes following."""
        return Response(self.get_serializer(connections.follow(self.get_object(), request.user)).data)

    @extend_schema(request=None, responses=TrialSerializer, operation_id="connections_test_stored")
    @action(detail=True, methods=["post"], url_path="test")
    def test_stored(self, request: Request, name: str) -> Response:
        """Tests a stored connection."""
        connection = self.get_object()
        connections.record_test(connection.name, connection.connector, request.user)
        found = trial.run(
            connection.connector, connection.parameters, connection.sites,
            sampler=connection.sampler, sampler_parameters=connection.sampler_parameters,
        )  # fmt: skip
        return Response(with_token(connection.connector, connection.parameters, found))

    @extend_schema(request=SettingsSerializer, responses=TrialSerializer, operation_id="connections_test")
    @action(detail=False, methods=["post"], url_path="test")
    def test_settings(self, request: Request) -> Response:
        """Tests settings without storing them: findings with remedies, and the site of each node."""
        given = body(SettingsSerializer, request)
        connections.checked_sites(given["sites"])
        _check_source(given["connector"], given["parameters"], request.user)
        connections.checked_connector(given["connector"], given["parameters"]).close()
        checked_sampler(given["sampler"], given["sampler_parameters"])
        connections.record_test("", given["connector"], request.user)
        found = trial.run(
            given["connector"], given["parameters"], given["sites"],
            sampler=given["sampler"], sampler_parameters=given["sampler_parameters"],
        )  # fmt: skip
        return Response(with_token(given["connector"], given["parameters"], found))

    @extend_schema(request=PreviewSerializer, responses={200: answer("NodeSites")})
    @action(detail=False, methods=["post"], url_path="sites")
    def sites(self, request: Request) -> Response:
        """{sites: [edge | cloud]}: the site of each node by the given rule, in the order of the nodes."""
        given = body(PreviewSerializer, request)
        rule = connections.checked_sites(given["sites"])
        facts = (NodeFact(node["name"], queues=tuple(node["queues"]), labels=node["labels"]) for node in given["nodes"])
        return Response({"sites": [rule.site(fact) for fact in facts]})


def _check_source(connector: str, parameters: dict[str, Any], user: Any) -> None:
    """FieldError if the settings read the events of a source of another team."""
    if connector == "push" and (refused := source_refused(str(parameters.get("source", "")), user)):
        raise FieldError("parameters.source", refused)


def _changed_sampler(connection: Connection, given: dict[str, Any]) -> Sampler | None:
    """The sampler after a change; parameters of the same one that are left out keep their values."""
    name = given.get("sampler", connection.sampler)
    before = connection.sampler_parameters if name == connection.sampler else {}
    return checked_sampler(name, {**before, **given.get("sampler_parameters", {})}, before)
