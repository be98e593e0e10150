"""Search over what has a page: runs, scenarios, traces, experiments, sweeps, live clusters; parts of one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db.models import Case, Q, QuerySet, When

import experiments
from dashboard.readmodels import job_table
from scheduling.reporting.quantities import counted
from twin.connectors.base import title_of
from twin.models import Connection, Run, Scenario, Sweep, Trace
from twin.runs import scheduler_history
from twin.scenarios import listed, store

MAX_SHOWN = 6  # of each kind
MAX_TEXT = 200  # characters, as of the longest names


class Hit(NamedTuple):
    """One thing that was found: its name, what it is in a few words, and its page."""

    title: str
    detail: str
    href: str


class Found(NamedTuple):
    """The things of one kind: how many there are, and the first of them."""

    total: int
    hits: list[Hit]


def search(text: str, run: Run | None, seen: Callable[[QuerySet[Any]], QuerySet[Any]]) -> list[dict[str, Any]]:
    """[{kind, title, count, hits: [{title, detail, href}]}] of the kinds that have a match, at most MAX_SHOWN of each.

    text: part of a name, of a scheduler or of a trace, or the number of a run; "" finds the newest runs and the
    live clusters. run: the one whose jobs and servers are searched too. seen: leaves the rows that the reader sees.
    """
    kinds: dict[str, tuple[str, Callable[[], Found]]] = {"run": ("Runs", lambda: _runs(text, seen))}
    kinds["live"] = ("Live clusters", lambda: _named(seen(Connection.objects.all()), text, _live))
    if text:
        if run is not None:
            of_run = {"job": (f"Jobs of run {run.pk}", lambda: _jobs(text, run))}
            of_run["server"] = (f"Servers of run {run.pk}", lambda: _servers(text, run))
            kinds = of_run | kinds
        shown = seen(listed.scenarios(Scenario.objects.defer("beliefs")))
        kinds["scenario"] = ("Scenarios", lambda: _named(shown, text, _scenario))
        traces = seen(listed.inputs(Trace.objects.only("name", "status", "job_count"), "trace"))
        kinds["trace"] = ("Traces", lambda: _named(traces, text, _trace))
        kinds["experiment"] = ("Experiments", lambda: _experiments(text))
        kinds["sweep"] = ("Sweeps", lambda: _named(seen(Sweep.objects.only("name")), text, _sweep))
    groups = []
    for kind, (title, find) in kinds.items():
        total, hits = find()
        if total:
            groups.append({"kind": kind, "title": title, "count": total, "hits": [hit._asdict() for hit in hits]})
    return groups


def _runs(text: str, seen: Callable[[QuerySet[Any]], QuerySet[Any]]) -> Found:
    found = seen(Run.objects.filter(scenario__unlisted=False).select_related("scenario").defer("scenario__beliefs"))
    if text:
        named = Q(scenario__name__icontains=text) | Q(scenario__trace__name__icontains=text)
        numbered = Q(pk=int(text)) if text.isdecimal() and len(text) < 19 else Q()
        found = found.filter(named | scheduler_history.found_by(text) | numbered)
        if numbered:  # first, whatever else has these digits in its name
            found = found.order_by(Case(When(numbered, then=0), default=1), "-pk")
    hits = []
    for run in found[:MAX_SHOWN]:
        title = scheduler_history.current(run).title
        hits.append(Hit(f"{run.pk} · {run.scenario.name}", f"{title}, {run.status}", f"/runs/{run.pk}/"))
    return Found(found.count(), hits)


def _named(rows: QuerySet[Any], text: str, hit: Callable[[Any], Hit]) -> Found:
    found = rows.filter(name__icontains=text)
    return Found(found.count(), [hit(row) for row in found[:MAX_SHOWN]])


def _live(connection: Connection) -> Hit:
    return Hit(connection.name, title_of(connection.connector), f"/live/{connection.name}/")


def _scenario(scenario: Scenario) -> Hit:
    schedulers = scheduler_history.words(scheduler_history.in_order(scenario.scheduler, scenario.edits))
    return Hit(scenario.name, schedulers, f"/scenarios/{scenario.pk}/")


def _trace(trace: Trace) -> Hit:
    jobs = counted(trace.job_count, "job")
    return Hit(trace.name, jobs if trace.status == Trace.READY else trace.status, f"/traces/{trace.pk}/")


def _sweep(sweep: Sweep) -> Hit:
    return Hit(sweep.name, f"sweep {sweep.pk}", f"/sweeps/{sweep.pk}/")


def _experiments(text: str) -> Found:
    """Experiments by part of the id, the paper and figure, or the title."""
    found = []
    for name in experiments.names():
        module = experiments.experiment(name)
        if any(text.lower() in words.lower() for words in (name, module.PAPER, module.TITLE)):
            found.append(Hit(f"{module.PAPER}: {module.TITLE}", "experiment", f"/experiments/{name}/"))
    return Found(len(found), found[:MAX_SHOWN])


def _jobs(text: str, run: Run) -> Found:
    """Jobs by part of the id or model, as in the table of jobs."""
    found = job_table.page(run, {"q": text, "size": str(MAX_SHOWN)})
    hits = [
        Hit(row["id"], ", ".join(filter(None, (row["model"], row["state"]))), f"/runs/{run.pk}/?job={row['index']}")
        for row in found["rows"]
    ]
    return Found(found["count"], hits)


def _servers(text: str, run: Run) -> Found:
    cluster, _ = store.of_run(run)
    asked = text.lower()
    found = [place for place, server in enumerate(cluster.servers) if asked in server.name.lower()]
    servers = [(place, cluster.servers[place]) for place in found[:MAX_SHOWN]]
    hits = [Hit(server.name, server.site, f"/runs/{run.pk}/servers/{place}/") for place, server in servers]
    return Found(len(found), hits)
