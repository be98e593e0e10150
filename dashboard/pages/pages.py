"""The pages of the dashboard."""

from __future__ import annotations

import json
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

import experiments as of_papers
from dashboard.auth.arrangement_api import arrangement_of
from dashboard.auth.roles import ADMIN, is_operator, is_viewer, require
from dashboard.auth.visible import visible, what_was
from dashboard.pages import style_guide
from dashboard.readmodels import downloads
from dashboard.readmodels.left_out import left_out
from dashboard.readmodels.studies import gallery
from scheduling.reporting.quantities import counted
from twin.acting import gates
from twin.analysis.changed_jobs import job_count
from twin.connectors.facts import DRAINING
from twin.eventlog.large_runs import is_large
from twin.mirror import borders
from twin.mirror.connecting.condition import condition
from twin.models import Connection, Run, Scenario, Sweep, Trace
from twin.operation import growth
from twin.runs import readers, scheduler_history
from twin.scenarios import listed
from twin.scenarios import store as scenarios_of
from twin.traces.importers import formats

JOB_ROWS = 25  # on a page of the job table, as in static/js/run/jobs-table.js


def _looked_at(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorator of pages: GET and HEAD only, with the CSRF token for its scripts."""
    return ensure_csrf_cookie(require_safe(view))


@_looked_at
def overview(request: HttpRequest) -> HttpResponse:
    """Overview of the cluster, the runs and current work."""
    runs = visible(Run.objects.filter(scenario__unlisted=False), request.user)
    started = runs.exists()
    return _page(
        request, "overview.html",
        started=started,
        followed=_followed(request),
        templates=() if started else gallery.cards(),
        notice=growth.notice() if is_operator(request.user) else "",
    )  # fmt: skip


@_looked_at
def wall(request: HttpRequest) -> HttpResponse:
    """The present without controls, for a screen on a wall."""
    return _page(request, "wall.html", followed=_followed(request))


def _followed(request: HttpRequest) -> list[str]:
    """Names of the live clusters that the user may see: the page keeps their places before it has loaded them."""
    return list(visible(Connection.objects.order_by("name"), request.user).values_list("name", flat=True))


@_looked_at
def traces(request: HttpRequest) -> HttpResponse:
    """Traces: upload and list."""
    return _page(request, "traces.html")


@_looked_at
def trace(request: HttpRequest, trace_id: int) -> HttpResponse:
    """Trace: selection, preview and report."""
    trace = (
        visible(Trace.objects.select_related("team").only("name", "team__name"), request.user)
        .filter(pk=trace_id)
        .first()
    )
    if trace is None:
        return _gone(request, "trace", trace_id)
    return _page(
        request, "trace.html", trace=trace, formats=[(name, module.TITLE) for name, module in formats().items()]
    )


@_looked_at
def clusters(request: HttpRequest) -> HttpResponse:
    """Clusters: list, form and upload."""
    return _page(request, "clusters.html")


@_looked_at
def scenarios(request: HttpRequest) -> HttpResponse:
    """Scenarios: selection and start."""
    ready = Trace.objects.filter(status=Trace.READY, job_count__gt=0)
    traces = visible(ready, request.user).exists()
    cards = gallery.cards() if is_operator(request.user) else ()
    return _page(request, "scenarios.html", templates=cards, traces=traces)


@_looked_at
def scenario(request: HttpRequest, scenario_id: int) -> HttpResponse:
    """Scenario with its what-if edits."""
    scenario = (
        visible(
            Scenario.objects.select_related("team").only("name", "scheduler", "unlisted", "team__name"), request.user
        )
        .filter(pk=scenario_id)
        .first()
    )
    if scenario is None:
        return _gone(request, "scenario", scenario_id)
    if not listed.is_listed(scenario) and (run := scenario.runs.first()):
        return redirect(f"/runs/{run.pk}/")  # there is nothing to edit
    return _page(request, "scenario.html", scenario=scenario)


@_looked_at
def sweeps(request: HttpRequest) -> HttpResponse:
    """Sweeps: start and list."""
    return _page(request, "sweeps.html")


@_looked_at
def sweep(request: HttpRequest, sweep_id: int) -> HttpResponse:
    """Sweep with its points."""
    sweep = visible(Sweep.objects.only("name"), request.user).filter(pk=sweep_id).first()
    return _gone(request, "sweep", sweep_id) if sweep is None else _page(request, "sweep.html", sweep=sweep)


@_looked_at
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Run page."""
    run = visible(Run.objects.select_related("scenario__team"), request.user).filter(pk=run_id).first()
    if run is None:
        return _gone(request, "run", run_id)
    return _run_page(request, run, run.connections.first())


def _run_page(request: HttpRequest, run: Run, connection: Connection | None) -> HttpResponse:
    """Response of the run page; connection: that of the mirrored cluster, if any."""
    readers.mark(run.pk)
    history = borders.history(run) if run.mode_rules.continued else None
    missing = scheduler_history.missing(run)
    parent = visible(Run.objects.filter(children=run), request.user).values_list("pk", flat=True).first()
    fork = {"parent": parent, "forked_at": "" if run.fork_ms is None else run.moment(run.fork_ms)}
    if is_large(run):
        return _page(
            request, "run_large.html", run=run, events=f"{run.last_seq:,}", limit=f"{settings.LARGE_RUN_EVENTS:,}",
            missing=missing, **fork,
        )  # fmt: skip
    kept, files = arrangement_of(request.user), downloads.titles_of(downloads.model_files(run))
    return _page(
        request, "run.html", run=run, model_files=files, connection=connection, history=history,
        arrangement=json.dumps(kept), missing=missing, condition_message=_message_of(connection),
        job_rows=_job_rows(run), **fork,
    )  # fmt: skip


def _job_rows(run: Run) -> int:
    """Number of rows on the first page of the job table: it has its height before the jobs are there."""
    if run.scenario.trace.job_count >= JOB_ROWS:  # the jobs of edits need not be counted
        return JOB_ROWS
    return min(JOB_ROWS, job_count(run))


def _message_of(connection: Connection | None) -> str:
    """Message on the condition of a live cluster: its lines have their place before scripts write them."""
    return "" if connection is None else condition(connection).message


@_looked_at
def live(request: HttpRequest) -> HttpResponse:
    """List of the live clusters."""
    return _page(request, "live.html")


@_looked_at
def connect(request: HttpRequest) -> HttpResponse:
    """Form that connects a real cluster."""
    if is_viewer(request.user) and not is_operator(request.user):
        raise PermissionDenied("Connecting a cluster is for operators; you are logged in as a viewer.")
    return _page(request, "connect.html")


@_looked_at
def live_cluster(request: HttpRequest, name: str) -> HttpResponse:
    """Current run of a connection; before the first one, a waiting page."""
    connection = (
        visible(Connection.objects.select_related("run__scenario__team"), request.user).filter(name=name).first()
    )
    if connection is None:
        return _no_cluster(request, name)
    if connection.run is None:
        return _page(request, "live_waiting.html", connection=connection, condition_message=_message_of(connection))
    return _run_page(request, connection.run, connection)


@_looked_at
def plans(request: HttpRequest, name: str) -> HttpResponse:
    """Plans for the waiting jobs of a live cluster, and their permissions."""
    connection = visible(Connection.objects.all(), request.user).filter(name=name).first()
    if connection is None:
        return _no_cluster(request, name)
    # plans that were made before the connector was changed are still shown
    unsupported = "" if connection.proposals.exists() else gates.why_no_plans(connection)
    return _page(request, "plans.html", connection=connection, unsupported=unsupported)


@_looked_at
def live_shadows(request: HttpRequest, name: str) -> HttpResponse:
    """Shadows of a live cluster: what every scheduler would have changed."""
    connection = visible(Connection.objects.all(), request.user).filter(name=name).first()
    if connection is None:
        return _no_cluster(request, name)
    return _page(request, "shadows.html", connection=connection)


@_looked_at
def live_fidelity(request: HttpRequest, name: str) -> HttpResponse:
    """Fidelity of a live cluster: how accurate its forecasts are."""
    connection = visible(Connection.objects.all(), request.user).filter(name=name).first()
    return _no_cluster(request, name) if connection is None else _page(request, "fidelity.html", connection=connection)


def _no_cluster(request: HttpRequest, name: str) -> HttpResponse:
    if what_was("connection", name, request.user) is not None:
        return _gone(request, "connection", name)
    message = f"No cluster is connected under the name {name}."
    answer = _page(
        request, "error.html", title="Unknown cluster", message=message, page=("/live/", "Show the live clusters")
    )
    answer.status_code = 404
    return answer


@_looked_at
def server(request: HttpRequest, run_id: int, server: int) -> HttpResponse:
    """Server page of a run."""
    run = visible(Run.objects.select_related("scenario"), request.user).filter(pk=run_id).first()
    if run is None:
        return _gone(request, "run", run_id)
    servers = scenarios_of.of_run(run)[0].servers
    if server >= len(servers):
        raise Http404(f"Run {run_id} has {counted(len(servers), 'server')}; none has the index {server}.")
    readers.mark(run.pk)
    connection = run.connections.first()
    state = "" if connection is None else _node_state(connection, servers[server].name)
    return _page(
        request,
        "server.html",
        run=run,
        server=servers[server],
        index=server,
        connection=connection,
        state=state,
        condition_message=_message_of(connection),
    )


def _node_state(connection: Connection, name: str) -> str:
    """State and reason of a node that is not up at the newest poll; empty for one that is."""
    for node in (connection.health.get("not_up") or {}).get("nodes", ()):
        if node["name"] == name:
            state = "draining, takes no new jobs" if node["state"] == DRAINING else "unavailable"
            return f"{state}: {node['reason']}" if node["reason"] else state
    return ""


@_looked_at
def experiments(request: HttpRequest) -> HttpResponse:
    """Experiments of the papers, with their verdicts."""
    return _page(request, "experiments.html")


@_looked_at
def experiment(request: HttpRequest, experiment: str) -> HttpResponse:
    """Experiment with its charts, checks and table."""
    if experiment not in of_papers.names():
        raise Http404(f"The experiment {experiment} does not exist; the page Experiments lists all experiments.")
    module = of_papers.experiment(experiment)
    return _page(request, "experiment.html", name=experiment, paper=module.PAPER, title=module.TITLE)


@_looked_at
def compare(request: HttpRequest) -> HttpResponse:
    """Comparison of runs; the selection is kept in the URL."""
    return _page(request, "compare.html")


@_looked_at
def alerts(request: HttpRequest) -> HttpResponse:
    """Alerts: open ones, rules, webhook, history."""
    return _page(request, "alerts.html")


@_looked_at
def styleguide(request: HttpRequest) -> HttpResponse:
    """Style guide: the parts of every page in both themes."""
    return _page(request, "styleguide.html", **style_guide.parts())


@_looked_at
def audit(request: HttpRequest) -> HttpResponse:
    """Audit list."""
    return _page(request, "audit.html")


@_looked_at
def tokens(request: HttpRequest) -> HttpResponse:
    """Tokens: list, create, revoke."""
    if is_viewer(request.user) and not is_operator(request.user):
        raise PermissionDenied("Tokens are for operators; you are logged in as a viewer.")
    return _page(request, "tokens.html")


@_looked_at
def accounts(request: HttpRequest) -> HttpResponse:
    """Accounts of people: list, create, change role, disable, reset."""
    require(request.user, ADMIN, "Managing accounts")
    return _page(request, "accounts.html")


@_looked_at
def teams(request: HttpRequest) -> HttpResponse:
    """Teams: list, members, and moves of objects."""
    require(request.user, ADMIN, "Managing teams")
    return _page(request, "teams.html")


@_looked_at
def retention(request: HttpRequest) -> HttpResponse:
    """Retention: what is kept and for how long, and the next clean-up."""
    require(request.user, ADMIN, "Removing old data")
    return _page(request, "retention.html")


def _gone(request: HttpRequest, noun: str, number: int | str) -> HttpResponse:
    """404 with a description of the deleted object."""
    was = what_was(noun, number, request.user)
    if was is None:
        raise Http404(f"{noun.capitalize()} {number} does not exist.")
    answer = _page(request, "gone.html", was=was)
    answer.status_code = 404
    return answer


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    if not is_viewer(request.user):
        raise PermissionDenied("Your account has no role yet; ask an admin to give it one on the page Accounts.")
    return render(request, template, {"left_out": left_out(template), **context})
