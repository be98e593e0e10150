"""Answers about live clusters: forecasts and their errors, shadows, replays, nodes."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    BOOLEAN,
    INTEGER,
    MOMENT,
    NUMBER,
    STRING,
    Shape,
    mapping,
    noted,
    nullable,
    one_of,
)
from dashboard.openapi.answers.runs import SITE
from scheduling.forecast.scoring import CALIBRATED, LEARNING, OFF
from twin.studies.shadows import sets
from twin.studies.shadows.metrics import SHOWN

STATE = one_of(CALIBRATED, LEARNING, OFF)
DURATIONS = one_of(sets.BELIEVED, sets.ACTUAL)
SHARE = {"count": INTEGER, "share": nullable(NUMBER), "low": nullable(NUMBER), "high": nullable(NUMBER)}
ERRORS = {
    "count": INTEGER,
    "mean_ms": nullable(NUMBER),
    "median_ms": nullable(NUMBER),
    "p90_ms": nullable(NUMBER),
    "bias_ms": noted(nullable(NUMBER), "Above 0 where jobs start later than forecast"),
    "within": noted([NUMBER], "Shares of the starts with an error of at most 1, 10 and 60 minutes; [] without any"),
}
METHOD = {
    "method": STRING,
    "title": STRING,
    "total": ERRORS,
    "twin_mean_ms": noted(nullable(NUMBER), "Mean error of the twin's forecasts of the same starts"),
    "leads": [{"lead": STRING, **ERRORS}],
}
PREDICTOR = {
    "name": STRING,
    "title": STRING,
    "about": STRING,
    "jobs": INTEGER,
    "accuracy": noted(nullable(NUMBER), "Mean of min / max of prediction and run time"),
    "mean_error_ms": nullable(NUMBER),
    "median_error_ms": nullable(NUMBER),
    "underestimated": noted(nullable(NUMBER), "Share of the jobs that ran longer than predicted"),
}
FORECAST = {
    "job": INTEGER,
    "start_ms": nullable(INTEGER),
    "finish_ms": nullable(INTEGER),
    "low_ms": noted(nullable(INTEGER), "Start of the 80 % band of the start"),
    "high_ms": noted(nullable(INTEGER), "End of the 80 % band of the start"),
    "servers": [INTEGER],
    "why": noted(STRING, "What the job waits for, as a sentence"),
    "waits_for": [STRING],
    "more": noted(INTEGER, "Number of jobs that it waits for beyond those listed"),
    "ahead": noted(INTEGER, "Number of waiting jobs before it in the order of priority"),
    "system_ms": noted(nullable(INTEGER), "Start that the cluster itself expects"),
    "never": noted(STRING, "Why the job has no start, or an empty text"),
}
REPLAY = {
    "jobs": INTEGER,
    "makespan_real_ms": nullable(INTEGER),
    "makespan_ms": nullable(INTEGER),
    "makespan_error": noted(nullable(NUMBER), "(simulated - real) / real makespan"),
    "wait_real_ms": nullable(NUMBER),
    "wait_ms": nullable(NUMBER),
    "within": noted(nullable(NUMBER), "Share of the starts that differ by at most within_ms"),
    "order": noted(nullable(NUMBER), "Kendall's tau of the two orders of starts; 1: the same order"),
    "within_ms": INTEGER,
    "first": noted(
        nullable({"job": STRING, "real_ms": INTEGER, "simulated_ms": INTEGER}),
        "First job whose starts differ by more than within_ms",
    ),
    "in_step": noted(nullable(NUMBER), "Share of the starts in step"),
    "model": nullable(STRING),
    "set": INTEGER,
    "at": MOMENT,
    "began_at": noted(nullable(MOMENT), "When the log of the run begins; null if the run was deleted"),
    "from_ms": nullable(INTEGER),
    "until_ms": nullable(INTEGER),
    "run": nullable(INTEGER),
    "replay": nullable(INTEGER),
    "slot_ms": INTEGER,
    "sentences": [STRING],
}
CANNOT = {"scheduler": STRING, "title": STRING, "reason": STRING}
CELL = {
    "value": nullable(NUMBER),
    "delta": nullable(NUMBER),
    "relative": nullable(NUMBER),
    "verdict": nullable(one_of("better", "worse", "same")),
    "best": BOOLEAN,
}
SHADOW = {
    "scheduler": STRING,
    "title": STRING,
    "training": STRING,
    "training_title": STRING,
    "run": nullable(INTEGER),
    "status": STRING,
    "message": STRING,
    "cells": noted(
        {f"{key}?": CELL for key in SHOWN}, "Comparison with the real cluster; {} before the run has finished"
    ),
}
SET = {
    "id": INTEGER,
    "run": nullable(INTEGER),
    "trace": nullable(INTEGER),
    "at": MOMENT,
    "began_at": noted(nullable(MOMENT), "When the log of the run begins; null if the run was deleted"),
    "from_ms": nullable(INTEGER),
    "until_ms": nullable(INTEGER),
    "slot_ms": INTEGER,
    "jobs": INTEGER,
    "scored": noted(INTEGER, "Jobs that the metrics include"),
    "real": {key: nullable(NUMBER) for key in SHOWN},
    "sentences": [STRING],
    "note": STRING,
    "cannot": [CANNOT],
    "unplaced": noted([STRING], "The first of the jobs that no scheduler starts"),
    "unplaced_count": INTEGER,
    "groups": [
        {"durations": DURATIONS, "title": STRING, "rows": [SHADOW], "predictor?": STRING, "cannot": [CANNOT]},
    ],
    "unranked": noted(STRING, "Why differences from the real cluster are not ranked; empty if they are"),
}

WORK = noted(one_of("computing", "cancelled", ""), "State of background work; empty: neither in progress nor cancelled")

SHAPES: dict[str, Shape] = {
    "Calibration": {
        "state": STATE,
        "least": noted(INTEGER, "Number of scored starts below which the state is `learning`"),
        **SHARE,
    },
    "LiveForecast": {
        "run": nullable(INTEGER),
        "made_ms": noted(nullable(INTEGER), "Null before the first forecast"),
        "seconds": nullable(NUMBER),
        "error": noted(STRING, "Why there is no newer forecast; empty otherwise"),
        "rows": noted([FORECAST], "Waiting jobs in the order of priority; times in ms of the run's log"),
        "calibration": "Calibration",
    },
    "LiveFidelity": {
        "calibration": "Calibration",
        "figures": noted(
            {
                "at_ms?": INTEGER,
                "days?": INTEGER,
                "calibration?": STATE,
                "coverage?": SHARE,
                "starts?": [METHOD],
                "finishes?": ERRORS,
                "best?": nullable(STRING),
                "run_times?": [PREDICTOR],
            },
            "Empty before the first forecast",
        ),
        "drift": {
            "checked_at": noted(nullable(NUMBER), "Unix time in s"),
            "compared": nullable(INTEGER),
            "count": noted(nullable(INTEGER), "Differences"),
            "error": nullable(STRING),
            "accounted": noted(BOOLEAN, "False if the cluster keeps no accounting"),
        },
        "work": {"audit": WORK, "forecast": WORK},
        "replay": "LiveReplay",
    },
    "RunMetricsWork": {"state": WORK},
    "LiveReplay": {
        "newest": nullable(REPLAY),
        "progress": nullable({"set": INTEGER, "status": STRING, "cut": BOOLEAN}),
        "failed": nullable(STRING),
        "before": [REPLAY],
    },
    "LiveShadows": {
        "name": STRING,
        "run": nullable(INTEGER),
        "metrics": [one_of(*SHOWN)],
        "set": nullable(SET),
        "progress": nullable({"set": INTEGER, "status": STRING, "done": INTEGER, "total": INTEGER, "since": MOMENT}),
        "failed": nullable(STRING),
        "week": noted(
            mapping(mapping([[NUMBER]])),
            "By kind of durations and scheduler: pairs of the Unix time in s and the difference of the mean wait in ms",
        ),
    },
    "ClusterNode": {
        "name": STRING,
        "state": STRING,
        "reason": STRING,
        "gpus": INTEGER,
        "cpus": INTEGER,
        "memory_mb": INTEGER,
        "queues": [STRING],
        "labels": mapping(STRING),
        "site": SITE,
        "since_ms": noted(
            nullable(INTEGER), "Time since when it has been in this state, in ms since 1970; null if unknown"
        ),
        "capacity_since_ms": noted(
            nullable(INTEGER), "Time since when it has had its capacity, in ms since 1970; null if unknown or always"
        ),
    },
    "ClusterNodes": {"nodes": ["ClusterNode"], "total_nodes": INTEGER},
    "NodeSites": {"sites": noted([SITE], "Site of each node, in the order of the nodes")},
    "SourceCursor": {"source": STRING, "cursor": INTEGER},
    "EventsAccepted": {
        **dict.fromkeys(("accepted", "duplicate", "ignored", "cursor"), INTEGER),
        "rejected": [{"index": INTEGER, "error": STRING}],
    },
    "SnapshotStep": {
        "id": STRING,
        "ended": BOOLEAN,
        **dict.fromkeys(("parts", "jobs", "nodes", "cursor"), INTEGER),
    },
}
