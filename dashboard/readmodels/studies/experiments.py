"""Experiments of the papers as their pages show them: what is claimed, what came out, and what is under way."""

from __future__ import annotations

import math
from dataclasses import asdict
from types import ModuleType
from typing import Any

from django.db.models import Count, Max, Q, Sum

import experiments
from experiments import Table
from twin.models import Reproduction, ReproductionPart, Trace
from twin.studies.experiments import tables
from twin.studies.experiments.inputs import arrivals_use

HOLDS, FAILS, NOT_RUN = "holds", "does not hold", "not run"
INFINITE = "infinite"


def overview() -> list[dict[str, Any]]:
    """Every experiment with its verdict and its progress, in the order of papers and figures."""
    finished, newest = _newest(Reproduction.FINISHED), _newest()
    return [_row(name, finished.get(name), newest.get(name)) for name in experiments.names()]


def detail(name: str) -> dict[str, Any]:
    """One experiment with its table, its checks and its charts."""
    module = experiments.experiment(name)
    finished = Reproduction.objects.filter(experiment=name, status=Reproduction.FINISHED).first()
    newest = _counted().filter(experiment=name).first()
    found = _row(name, finished, newest)
    found |= {
        "setting": module.SETTING,
        "charts": [asdict(chart) for chart in module.CHARTS],
        "result": None if finished is None else _result(finished),
        "parts": [] if newest is None or newest.status == Reproduction.FINISHED else _parts(newest),
        "traces": _traces() if found["arrivals"] else [],
    }
    return found


def _row(name: str, finished: Reproduction | None, newest: Reproduction | None) -> dict[str, Any]:
    module = experiments.experiment(name)
    table = None if finished is None else tables.read(finished.table)
    paper, _, figure = module.PAPER.partition(", ")
    return {
        "name": name, "paper": paper, "figure": figure, "title": module.TITLE, "claim": module.CLAIM,
        "command": f"manage.py reproduce --only {name}", "default_seeds": _default_seeds(module),
        "arrivals": arrivals_use(name), "unavailable": experiments.unavailable(name),
        "verdict": _verdict(table), "checks": _judged(table),
        "finished_at": finished and finished.finished_at, "seconds": finished and _seconds(finished),
        "outdated": finished is not None and finished.code != experiments.code_digest(name),
        "progress": _progress(newest),
    }  # fmt: skip


def _default_seeds(module: ModuleType) -> int:
    """Number of seeds that it takes by itself."""
    return int(getattr(module, "SEEDS", 1))


def _verdict(table: Table | None) -> str:
    if table is None:
        return NOT_RUN
    return HOLDS if table.holds else FAILS


def _judged(table: Table | None) -> dict[str, int]:
    """{held, judged}: checks with a band."""
    judged = [] if table is None else [check.holds for check in table.checks if check.holds is not None]
    return {"held": sum(judged), "judged": len(judged)}


def _progress(newest: Reproduction | None) -> dict[str, Any] | None:
    """Progress of the newest reproduction, unless it is finished."""
    if newest is None or newest.status == Reproduction.FINISHED:
        return None
    counts: Any = newest
    return {
        "status": newest.status, "message": newest.message, "done": counts.done, "total": counts.total,
        "active": newest.status in Reproduction.ACTIVE, "seeds": newest.seeds, "trace": newest.trace_id,
        "by": getattr(newest.created_by, "username", ""),
    }  # fmt: skip


def _counted() -> Any:
    done = Count("parts", filter=Q(parts__status=ReproductionPart.DONE))
    counted = Reproduction.objects.select_related("created_by").annotate(done=done, total=Count("parts"))
    return counted.order_by("-id")  # counts drop the order of the model


def _newest(status: str | None = None) -> dict[str, Reproduction]:
    """{experiment: its newest reproduction, of this status}."""
    every = Reproduction.objects.order_by() if status is None else Reproduction.objects.order_by().filter(status=status)
    numbers = [row["newest"] for row in every.values("experiment").annotate(newest=Max("pk"))]
    rows = _counted().annotate(spent=Sum("parts__seconds")).filter(pk__in=numbers)
    return {of.experiment: of for of in rows}


def _seconds(of: Reproduction) -> float:
    """Computing time of all parts."""
    spent = getattr(of, "spent", None)
    return float(of.parts.aggregate(spent=Sum("seconds"))["spent"] or 0) if spent is None else float(spent)


def _result(of: Reproduction) -> dict[str, Any]:
    table = tables.read(of.table)
    return {
        "id": of.pk, "columns": table.columns, "rows": [[_plain(cell) for cell in row] for row in table.rows],
        "spread": [[cell and list(map(_plain, cell)) for cell in row] for row in table.spread],
        "checks": [
            {
                "what": check.what, "value": _plain(check.value), "unit": check.unit, "bound": _plain(check.bound),
                "at_least": check.at_least, "holds": check.holds,
            }
            for check in table.checks
        ],
        "seeds": of.seeds or _default_seeds(experiments.experiment(of.experiment)), "trace": of.trace_name,
        "code": of.code[:12], "parts": of.parts.count(),
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """Value that JSON can hold: None for a number that is none."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else INFINITE


def _parts(of: Reproduction) -> list[dict[str, Any]]:
    return [
        {"title": part.title, "status": "computing" if part.owner else part.status, "seconds": part.seconds}
        for part in of.parts.defer("value")
    ]


def _traces() -> list[dict[str, Any]]:
    """Traces whose arrivals can be replayed: those of everybody, as everybody sees the tables."""
    rows = Trace.objects.filter(team=None, status=Trace.READY, job_count__gt=0).values_list("id", "name", "job_count")
    return [{"id": number, "name": name, "job_count": jobs} for number, name, jobs in rows]
