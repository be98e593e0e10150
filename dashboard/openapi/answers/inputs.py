"""Answers about traces, clusters, templates and generated workloads."""

from __future__ import annotations

from dashboard.openapi.answers.notation import INTEGER, NUMBER, STRING, Plain, Shape, either, noted, nullable
from dashboard.openapi.answers.runs import SITE
from scheduling.model.values import RESOURCES

REFUSED = Plain(
    type="object",
    properties={
        "detail": {"type": "string"},
        "code": {"type": "string", "description": "`large_run` if the view needs the whole state of a large run"},
    },
    required=["detail"],
)

SHAPES: dict[str, Shape] = {
    "TraceCard": {
        "jobs": INTEGER,
        "span_ms": noted(INTEGER, "From the first to the last arrival"),
        "picture": {
            "width": INTEGER,
            "height": INTEGER,
            "bars": noted(STRING, "SVG path: a bar for each interval, as high as its number of arrivals"),
            "outages": noted([[INTEGER]], "Pairs of position and width"),
        },
    },
    "TraceMapping": {
        "rows": [
            {
                "line": INTEGER,
                "arrival": noted(nullable(either(STRING, INTEGER)), "A date, or ms after the first of these rows"),
                "run_ms": nullable(INTEGER),
                "workers": nullable(INTEGER),
                "gpus": nullable(NUMBER),
                "reason": noted(STRING, "Why the row is skipped, or an empty text"),
                "value": STRING,
            }
        ],
        "running": STRING,
        "problem": noted(STRING, "Why the file cannot be read with this mapping, or an empty text"),
    },
    "TracePart": {
        "received": noted(INTEGER, "Bytes of the file so far"),
        "trace?": noted("Trace", "Given after the last part of the last file"),
    },
    "ClusterCard": {
        "sites": [
            {
                "site": SITE,
                "servers": INTEGER,
                "gpus": NUMBER,
                "kinds": [{"servers": INTEGER, **dict.fromkeys(RESOURCES, NUMBER)}],
            }
        ]
    },
    "Templates": [
        {
            "name": STRING,
            "title": STRING,
            "about": STRING,
            "shows": STRING,
            "jobs": INTEGER,
            "servers": INTEGER,
            "schedulers": [STRING],
            "unavailable": noted(nullable(STRING), "Why it cannot be started; null if it can"),
        }
    ],
    "TemplateStarted": {"scenario": INTEGER, "runs": [INTEGER], "page": STRING},
    "WorkloadProfiles": {
        "profiles": [{"name": STRING, "title": STRING, "about": STRING}],
        "variants": [STRING],
        "limits": {"jobs": INTEGER, "servers": INTEGER, "horizon_slots": INTEGER},
        "horizon_slots": INTEGER,
    },
    "WorkloadGenerated": {"trace": "Trace", "cluster": "Cluster"},
    "Refusal": noted(REFUSED, "Answer with a status of 400 or above; it may also contain sentences by field"),
}
