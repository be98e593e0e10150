"""URLs of pages and of the API."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from dashboard.api.alerts.alerts import AlertViewSet
from dashboard.api.alerts.rules import AlertRuleViewSet
from dashboard.api.audit import AuditViewSet
from dashboard.api.background_work import AuditWorkView, ForecastWorkView, MetricsWorkView
from dashboard.api.client_errors import ClientErrorView
from dashboard.api.compare import CompareViewSet
from dashboard.api.connections import ConnectionViewSet
from dashboard.api.experiments import ExperimentViewSet
from dashboard.api.forecasts import FidelityView, ForecastView
from dashboard.api.inputs.clusters import ClusterViewSet
from dashboard.api.inputs.connectors import connector_list
from dashboard.api.inputs.scenarios import ScenarioViewSet
from dashboard.api.inputs.schedulers import scheduler_list
from dashboard.api.inputs.templates import StartTemplateView, template_list
from dashboard.api.inputs.traces import TraceFileView, TraceViewSet
from dashboard.api.inputs.workloads import WorkloadsView
from dashboard.api.live.acting import ActingView
from dashboard.api.live.proposals import ProposalsView, ProposalViewSet
from dashboard.api.metrics import metric_list
from dashboard.api.retention import RetentionView
from dashboard.api.run_parts.certificates import CertificateView
from dashboard.api.run_parts.counterfactuals import CounterfactualsView
from dashboard.api.run_parts.groups import SubtasksView
from dashboard.api.run_parts.prices import PricesView, ServerPricesView
from dashboard.api.runs import RunViewSet
from dashboard.api.search import SearchView
from dashboard.api.shadows import CancelReplayView, CancelShadowsView, ReplayView, ShadowsView
from dashboard.api.sweeps import SweepViewSet
from dashboard.api.whatif import AskView, DiscardView, ForkView, PromoteView, ScenarioEditsView, verb_list
from dashboard.auth import login
from dashboard.auth.account_api import AccountViewSet
from dashboard.auth.arrangement_api import ArrangementView
from dashboard.auth.oidc.views import ProviderCallback, ProviderLogin
from dashboard.auth.team_api import TeamViewSet
from dashboard.auth.token_api import TokenViewSet
from dashboard.ingest.views import CursorView, EventsView, SnapshotView
from dashboard.openapi import tokens  # noqa: F401 (drf-spectacular finds what is defined there)
from dashboard.pages import health, pages, readiness
from dashboard.pages.prometheus import MetricsView
from dashboard.readmodels.downloads import MEDIA_TYPES

router = SimpleRouter()
router.register("traces", TraceViewSet)
router.register("clusters", ClusterViewSet)
router.register("scenarios", ScenarioViewSet)
router.register("runs", RunViewSet)
router.register("sweeps", SweepViewSet)
router.register("experiments", ExperimentViewSet, basename="experiment")
router.register("audit", AuditViewSet)
router.register("tokens", TokenViewSet)
router.register("accounts", AccountViewSet, basename="account")
router.register("teams", TeamViewSet)
router.register("connections", ConnectionViewSet)
router.register("proposals", ProposalViewSet)
router.register("alerts", AlertViewSet)
router.register("alert-rules", AlertRuleViewSet)

urlpatterns = [
    path("", pages.overview, name="overview"),
    path("wall/", pages.wall, name="wall"),
    path("live/", pages.live, name="live"),
    path("live/connect/", pages.connect, name="connect"),
    path("live/<slug:name>/", pages.live_cluster, name="live-cluster"),
    path("live/<slug:name>/plans/", pages.plans, name="live-plans"),
    path("live/<slug:name>/shadows/", pages.live_shadows, name="live-shadows"),
    path("live/<slug:name>/fidelity/", pages.live_fidelity, name="live-fidelity"),
    path("traces/", pages.traces, name="traces"),
    path("traces/<int:trace_id>/", pages.trace, name="trace"),
    path("clusters/", pages.clusters, name="clusters"),
    path("scenarios/", pages.scenarios, name="scenarios"),
    path("scenarios/<int:scenario_id>/", pages.scenario, name="scenario"),
    path("sweeps/", pages.sweeps, name="sweeps"),
    path("sweeps/<int:sweep_id>/", pages.sweep, name="sweep"),
    path("runs/<int:run_id>/", pages.run, name="run"),
    path("runs/<int:run_id>/servers/<int:server>/", pages.server, name="server"),
    path("experiments/", pages.experiments, name="experiments"),
    path("experiments/<slug:experiment>/", pages.experiment, name="experiment"),
    path("compare/", pages.compare, name="compare"),
    path("alerts/", pages.alerts, name="alerts"),
    path("audit/", pages.audit, name="audit"),
    path("styleguide/", pages.styleguide, name="styleguide"),
    path("settings/tokens/", pages.tokens, name="tokens"),
    path("settings/account/", login.OwnAccount.as_view(), name="account"),
    path("settings/accounts/", pages.accounts, name="accounts"),
    path("settings/teams/", pages.teams, name="teams"),
    path("settings/retention/", pages.retention, name="retention"),
    path("login/", login.PasswordLogin.as_view(), name="login"),
    path("login/<str:token>/", login.link, name="login-link"),
    path("login/provider/begin/", ProviderLogin.as_view(), name="oidc-login"),
    path("login/provider/callback/", ProviderCallback.as_view(), name="oidc-callback"),
    path("login/password/<uidb64>/<token>/", login.PasswordSet.as_view(), name="password-set"),
    path("logout/", login.leave, name="logout"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", readiness.readyz, name="readyz"),
    path("metrics", MetricsView.as_view(), name="prometheus"),
    path("healthz/shared", health.shared, name="healthz-shared"),
    path("api/ingest/<str:source>/events", EventsView.as_view(), name="ingest-events"),
    path("api/ingest/<str:source>/snapshot", SnapshotView.as_view(), name="ingest-snapshot"),
    path("api/ingest/<str:source>/cursor", CursorView.as_view(), name="ingest-cursor"),
    path("api/client-errors/", ClientErrorView.as_view(), name="client-errors"),
    path("api/arrangement/", ArrangementView.as_view(), name="arrangement"),
    path("api/workloads/", WorkloadsView.as_view(), name="workloads"),
    path("api/templates/", template_list, name="template-list"),
    path("api/templates/<slug:name>/start/", StartTemplateView.as_view(), name="template-start"),
    path("api/edits/", verb_list, name="verb-list"),
    path("api/scenarios/<int:pk>/edits/", ScenarioEditsView.as_view(), name="scenario-edits"),
    path("api/runs/<int:pk>/forks/", ForkView.as_view(), name="run-forks"),
    path("api/runs/<int:pk>/ask/", AskView.as_view(), name="run-ask"),
    path("api/runs/<int:pk>/promote/", PromoteView.as_view(), name="run-promote"),
    path("api/runs/<int:pk>/discard/", DiscardView.as_view(), name="run-discard"),
    path("api/live/<slug:name>/shadows/", ShadowsView.as_view(), name="shadows"),
    path("api/live/<slug:name>/shadows/cancel/", CancelShadowsView.as_view(), name="shadows-cancel"),
    path("api/live/<slug:name>/forecast/", ForecastView.as_view(), name="live-forecast"),
    path("api/live/<slug:name>/forecast/work/", ForecastWorkView.as_view(), name="live-forecast-work"),
    path("api/live/<slug:name>/audit/", AuditWorkView.as_view(), name="live-audit"),
    path("api/live/<slug:name>/fidelity/", FidelityView.as_view(), name="live-forecast-errors"),
    path("api/live/<slug:name>/replay/", ReplayView.as_view(), name="replay"),
    path("api/live/<slug:name>/replay/cancel/", CancelReplayView.as_view(), name="replay-cancel"),
    path("api/retention/", RetentionView.as_view(), name="retention-summary"),
    path("api/search/", SearchView.as_view(), name="search"),
    path("api/metrics/", metric_list, name="metric-list"),
    path("api/live/<slug:name>/acting/", ActingView.as_view(), name="connection-acting"),
    path("api/live/<slug:name>/proposals/", ProposalsView.as_view(), name="connection-proposals"),
    path("api/connectors/", connector_list, name="connector-list"),
    path("api/schedulers/", scheduler_list, name="scheduler-list"),
    path("api/traces/<int:trace_id>/files/<int:number>/", TraceFileView.as_view(), name="trace-file"),
    *[
        path(
            f"api/traces/<int:pk>/jobs.{kind}",
            TraceViewSet.as_view({"get": "jobs"}),
            {"kind": kind},
            name=f"trace-jobs-{kind}",
        )
        for kind in MEDIA_TYPES
    ],
    path("api/traces/<int:pk>/report.csv", TraceViewSet.as_view({"get": "report"}), name="trace-report"),
    path(
        "api/runs/<int:pk>/jobs/<int:index>/counterfactuals/", CounterfactualsView.as_view(), name="run-counterfactuals"
    ),
    path("api/runs/<int:pk>/prices/", PricesView.as_view(), name="run-prices"),
    path("api/runs/<int:pk>/prices/<int:server>/", ServerPricesView.as_view(), name="run-server-prices"),
    path("api/runs/<int:pk>/groups/<int:group>/subtasks/", SubtasksView.as_view(), name="run-subtasks"),
    path("api/runs/<int:pk>/metrics/", MetricsWorkView.as_view(), name="run-metrics"),
    path("api/runs/<int:pk>/certificate/", CertificateView.as_view(), name="run-certificate"),
    path("api/runs/<int:pk>/events.jsonl", RunViewSet.as_view({"get": "log"}), name="run-log"),
    path("api/runs/<int:pk>/jobs.jsonl", RunViewSet.as_view({"get": "job_lines"}), name="run-job-lines"),
    path("api/runs/<int:pk>/cluster.json", RunViewSet.as_view({"get": "cluster"}), name="run-cluster"),
    path("api/runs/<int:pk>/schedule.csv", RunViewSet.as_view({"get": "schedule"}), name="run-schedule"),
    path("api/runs/<int:pk>/groups.csv", RunViewSet.as_view({"get": "groups"}), name="run-groups"),
    path("api/runs/<int:pk>/perfetto.json", RunViewSet.as_view({"get": "perfetto"}), name="run-perfetto"),
    path("api/runs/<int:pk>/summary.json", RunViewSet.as_view({"get": "summary"}), name="run-summary"),
    path("api/sweeps/<int:pk>/results.csv", SweepViewSet.as_view({"get": "results"}), name="sweep-results"),
    path("api/experiments/", ExperimentViewSet.as_view({"get": "overview"}), name="experiments-all"),
    path("api/compare/", CompareViewSet.as_view({"get": "comparison"}), name="compare-runs"),
    path("api/compare/open/", CompareViewSet.as_view({"get": "open"}), name="compare-open"),
    path("api/compare/jobs/", CompareViewSet.as_view({"get": "jobs"}), name="compare-jobs"),
    path("api/compare/kinds/", CompareViewSet.as_view({"get": "kinds"}), name="compare-kinds"),
    path("api/compare/metrics.csv", CompareViewSet.as_view({"get": "metrics"}), name="compare-metrics"),
    path("api/compare/differences.csv", CompareViewSet.as_view({"get": "differences"}), name="compare-differences"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/", include(router.urls)),
]
