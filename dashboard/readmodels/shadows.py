"""The newest set of shadows of a live cluster, as its page shows it, and how the differences went in a week."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from scheduling.kernel.parameters import UnknownName
from scheduling.kernel.registry import build, scheduler_class
from scheduling.model.training_models import training_model_of
from scheduling.model.values import ModelError
from scheduling.reporting.metric_table import BY_KEY
from scheduling.run_times import predictors
from twin.analysis.comparability import BY_TRAINING, REAL, comparable, model_of, named
from twin.analysis.comparison.metrics import against
from twin.models import Connection, Shadow, ShadowSet
from twin.scenarios import store
from twin.studies.races import trained_by
from twin.studies.shadows import sets
from twin.studies.shadows.metrics import PAIRED, SHOWN

WEEK = timedelta(days=7)
TITLES = {
    sets.BELIEVED: "Durations predicted at submission",
    sets.ACTUAL: "Actual durations",
}


def payload(connection: Connection) -> dict[str, Any]:
    """{metrics, set: the newest one with rows or None, progress: of the one under way or None, failed, week}."""
    of_shadows = connection.shadow_sets.filter(purpose=ShadowSet.SHADOWS)
    all_sets = list(of_shadows.filter(created_at__gte=timezone.now() - WEEK).defer("history"))
    newest = of_shadows.filter(status=ShadowSet.FINISHED).defer("history").first()
    active = of_shadows.filter(status__in=ShadowSet.ACTIVE).defer("history").first()
    last = of_shadows.defer("history").first()
    failed = last if last is not None and last.status == ShadowSet.FAILED else None
    return {
        "name": connection.name, "run": connection.run_id, "metrics": list(SHOWN),
        "set": None if newest is None else _plain(newest),
        "progress": None if active is None else _progress(active),
        "failed": None if failed is None else failed.message,
        "week": _week([of for of in reversed(all_sets) if of.status == ShadowSet.FINISHED]),
    }  # fmt: skip


def _progress(of: ShadowSet) -> dict[str, Any]:
    total = of.shadows.count()
    done = of.shadows.exclude(status=Shadow.WAITING).count()
    return {"set": of.pk, "status": of.status, "done": done, "total": total, "since": of.created_at}


def _plain(of: ShadowSet) -> dict[str, Any]:
    shadows = list(of.shadows.select_related("run"))
    facts = {key: value for key, value in of.facts.items() if key not in ("unplaced", "beliefs", "cannot_believe")}
    predictor = predictors().get(of.facts.get("beliefs", {}).get("name"))
    unplaced = of.facts.get("unplaced", [])
    groups = [
        {"durations": durations, "title": title, "rows": _rows(own, of)}
        | ({"predictor": predictor.title if predictor else "", "cannot": _named(of.facts.get("cannot_believe", []))}
           if durations == sets.BELIEVED else {"cannot": []})
        for durations, title in TITLES.items() if (own := [one for one in shadows if one.durations == durations])
    ]  # fmt: skip
    return facts | {
        "id": of.pk, "run": of.run_id, "from_ms": of.from_ms, "until_ms": of.until_ms, "at": of.created_at,
        "began_at": None if of.run is None else of.run.began_at,
        "cannot": _named(of.facts.get("cannot", [])),
        "unplaced": unplaced[:5], "unplaced_count": len(unplaced), "trace": of.trace_id,
        "groups": groups, "unranked": _unranked(groups),
    }  # fmt: skip


def _named(left_out: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [one | {"title": _title(one["scheduler"])} for one in left_out]


def _unranked(groups: Sequence[dict[str, Any]]) -> str:
    """Sentence on the execution models for which differences from the real cluster are not ranked; empty without any.

    The rule is that of comparisons (analysis/comparability.py).
    """
    trainings = dict.fromkeys(row["training"] for group in groups for row in group["rows"])
    unlike = [named([training]) for training in trainings if not comparable([training], REAL)]
    if not unlike:
        return ""
    return (
        f"The shadows and the real cluster have different execution models: {', '.join(unlike)}; and {named(REAL)}. "
        "The same job has different durations, so differences from the real cluster are not ranked."
    )


def _rows(shadows: Sequence[Shadow], of: ShadowSet) -> list[dict[str, Any]]:
    """One row per shadow; `cells` has value and delta against the real cluster, and the best of its kind.

    A verdict is given only where the real cluster and the shadow can be ranked; otherwise the delta is a fact. The best
    is chosen among schedulers whose jobs train by the same model (analysis/comparability.py), and for times among those
    that completed every job that the real cluster completed.
    """
    trainings = {shadow.scheduler: _training(shadow.scheduler, of) for shadow in shadows}
    rows: list[dict[str, Any]] = [
        {
            "scheduler": shadow.scheduler, "title": _title(shadow.scheduler), "training": trainings[shadow.scheduler],
            "training_title": _training_title(trainings[shadow.scheduler]), "run": shadow.run_id,
            "status": shadow.status, "message": shadow.message, "cells": {},
        }
        for shadow in shadows
    ]  # fmt: skip
    for key in SHOWN:
        metric = BY_KEY[key]
        for training in dict.fromkeys(trainings.values()):
            own = [(row, shadow) for row, shadow in zip(rows, shadows, strict=True)
                   if row["training"] == training and shadow.status == Shadow.DONE]  # fmt: skip
            can = [key not in PAIRED or shadow.figures["completed"] == of.facts["scored"] for _, shadow in own]
            values = [shadow.figures.get(key) if ranked else None for (_, shadow), ranked in zip(own, can, strict=True)]
            best = against(values, metric.direction, metric.unit, can) if own else []
            for (row, shadow), ranked in zip(own, best, strict=True):
                delta = shadow.deltas.get(key)
                base = None if delta is None else shadow.figures[key] - delta
                direction = metric.direction if comparable([row["training"]], REAL) else None
                cell = against([base, shadow.figures.get(key)], direction, metric.unit)[1]
                row["cells"][key] = {
                    "value": shadow.figures.get(key), "delta": delta, "relative": cell["relative"],
                    "verdict": cell["verdict"], "best": ranked["best"] and len(own) > 1,
                }  # fmt: skip
    return rows


def _week(found: Sequence[ShadowSet]) -> dict[str, dict[str, list[list[float]]]]:
    """{durations: {scheduler: [[Unix s, difference of the mean wait in ms]]}}, oldest first."""
    series: dict[str, dict[str, list[list[float]]]] = {}
    rows = Shadow.objects.filter(set__in=found, status=Shadow.DONE).order_by("set_id", "id")
    for shadow in rows.select_related("set").defer("set__history"):
        delta = shadow.deltas.get("mean_wait_ms")
        if delta is not None:
            own = series.setdefault(shadow.durations, {}).setdefault(shadow.scheduler, [])
            own.append([shadow.set.created_at.timestamp(), delta])
    return series


def _title(name: str) -> str:
    try:
        return scheduler_class(name).title
    except UnknownName:
        return name


def _training(name: str, of: ShadowSet) -> str:
    if of.cluster_id is None:
        return name
    cluster = store.cluster_of(of.cluster_id)
    try:
        return model_of(build(name, trained_by(scheduler_class(name), training_model_of(cluster))), cluster)
    except (UnknownName, ModelError):  # it is not installed any more
        return name


def _training_title(training: str) -> str:
    model = BY_TRAINING.get(training)
    return training if model is None else model.title
