"""The pages of the dashboard."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from dashboard.roles import is_operator, is_viewer
from twin import scenarios as scenarios_of
from twin.importers import formats
from twin.models import Run, Scenario, Sweep, Trace


def _looked_at(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page: GET and HEAD only, with the token that its scripts write with."""
    return ensure_csrf_cookie(require_safe(view))


@_looked_at
def overview(request: HttpRequest) -> HttpResponse:
    """The cluster, the runs, what is going on."""
    return _page(request, "overview.html")


@_looked_at
def traces(request: HttpRequest) -> HttpResponse:
    """Upload and list."""
    return _page(request, "traces.html")


@_looked_at
def trace(request: HttpRequest, trace_id: int) -> HttpResponse:
    """One trace: the choice of what is imported, preview and report."""
    trace = get_object_or_404(Trace.objects.only("name"), pk=trace_id)
    return _page(request, "trace.html", trace=trace, formats=[(name, module.TITLE) for name, module in formats().items()])


@_looked_at
def clusters(request: HttpRequest) -> HttpResponse:
    """List, form and upload."""
    return _page(request, "clusters.html")


@_looked_at
def scenarios(request: HttpRequest) -> HttpResponse:
    """Choose and start."""
    return _page(request, "scenarios.html")


@_looked_at
def scenario(request: HttpRequest, scenario_id: int) -> HttpResponse:
    """Edit one: what if."""
    return _page(request, "scenario.html", scenario=get_object_or_404(Scenario.objects.only("name"), pk=scenario_id))


@_looked_at
def sweeps(request: HttpRequest) -> HttpResponse:
    """Start one, and all of them."""
    return _page(request, "sweeps.html")


@_looked_at
def sweep(request: HttpRequest, sweep_id: int) -> HttpResponse:
    """Watch one."""
    return _page(request, "sweep.html", sweep=get_object_or_404(Sweep.objects.only("name"), pk=sweep_id))


@_looked_at
def run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Watch a run."""
    return _page(request, "run.html", run=get_object_or_404(Run.objects.select_related("scenario"), pk=run_id))


@_looked_at
def server(request: HttpRequest, run_id: int, server: int) -> HttpResponse:
    """One server during a run."""
    run = get_object_or_404(Run.objects.select_related("scenario"), pk=run_id)
    servers = scenarios_of.of_run(run)[0].servers
    if server >= len(servers):
        raise Http404(f"Run {run_id} has {len(servers)} servers; there is none with the index {server}.")
    return _page(request, "server.html", run=run, server=servers[server], index=server)


@_looked_at
def compare(request: HttpRequest) -> HttpResponse:
    """Runs side by side; chosen on the page, kept in its address."""
    return _page(request, "compare.html")


@_looked_at
def audit(request: HttpRequest) -> HttpResponse:
    """Who changed what."""
    return _page(request, "audit.html")


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    if not is_viewer(request.user):
        raise PermissionDenied("Your account has no role yet; ask an administrator to add you to the group viewer or operator.")
    return render(request, template, {"is_operator": is_operator(request.user), **context})
