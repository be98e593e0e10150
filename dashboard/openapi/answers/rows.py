"""Parts of answers of serializers: what columns of JSON hold, and what methods of serializers make."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    ANY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    STRING,
    Shape,
    either,
    mapping,
    noted,
    nullable,
)
from dashboard.openapi.answers.runs import SITE
from scheduling.model.values import RESOURCES
from twin.files.jobs_jsonl import INTEGERS, JOB_KEYS, TEXTS

AMOUNTS = {f"{name}?": NUMBER for name in RESOURCES}
TYPED = {
    **dict.fromkeys(INTEGERS, INTEGER),
    **dict.fromkeys(TEXTS, STRING),
    "worker": nullable(AMOUNTS),
    "ps": nullable(AMOUNTS),
    "utility": nullable({"priority": NUMBER, "sensitivity": NUMBER, "target_slots": NUMBER}),
    "provenance": mapping(STRING),
}
JOB = {f"{key}?": TYPED.get(key, ANY) for key in JOB_KEYS}
SKIPPED = {"file": STRING, "line": INTEGER, "reason": STRING, "value": STRING}
REPORT = {
    "format?": STRING,
    "rows?": INTEGER,
    "imported?": INTEGER,
    "jobs?": INTEGER,
    "machines?": INTEGER,
    "merged?": INTEGER,
    "outside_window?": INTEGER,
    "skipped?": noted([SKIPPED], "First skipped rows; GET /api/traces/<id>/report.csv has all"),
    "skipped_counts?": noted(mapping(INTEGER), "Skipped rows by reason"),
    "provenance?": noted(mapping(mapping(INTEGER)), "Jobs by field and origin of its value"),
    "clamped?": noted(mapping(INTEGER), "Jobs whose field was limited, by field"),
    "notes?": [STRING],
    "warnings?": [STRING],
    "lines?": INTEGER,
    "seed?": INTEGER,
    "slot_ms?": INTEGER,
    "summary?": STRING,
    "cut?": noted(
        {"run": INTEGER, "trace": INTEGER, "at_ms": INTEGER}, "Origin of the trace of a fork of a mirrored run"
    ),
}
BEGINNING = {
    "file": STRING,
    "lines": noted([STRING], "First lines, shortened"),
    "sample": noted([STRING], "First lines, complete; empty if one is too long"),
    "columns": [STRING],
    "guess": noted(mapping(STRING), "Suggested mapping of columns"),
    "format?": STRING,
    "fits?": [{"format": STRING, "title": STRING}],
    "nearest?": [{"format": STRING, "title": STRING, "why": STRING}],
    "remembered?": nullable({"mapping": mapping(STRING), "trace": INTEGER, "name": STRING}),
}
SERVER = {
    "name": STRING,
    "site?": SITE,
    "roles?": [STRING],
    "capacity": AMOUNTS,
    "worker_lanes?": mapping(INTEGER),
    "ps_lanes?": mapping(INTEGER),
    "speed?": NUMBER,
    "nic_gbps?": nullable(NUMBER),
    "disk_gbps?": nullable(NUMBER),
    "away?": noted([[INTEGER]], "Pairs of start and end in ms"),
    "queues?": [STRING],
}

SHAPES: dict[str, Shape] = {
    "SchedulerFrom": {"from_ms": INTEGER, "name": STRING, "title": STRING},
    "Metrics": noted(
        mapping(either(nullable(NUMBER), mapping(ANY))),
        "Metrics by key (GET /api/metrics/); a key with a dot is a property of an object. Empty before the run ends",
    ),
    "DecisionTimes": noted(
        {"p50?": NUMBER, "p95?": NUMBER, "max?": NUMBER, "count?": INTEGER}, "Empty before the run ends"
    ),
    "TraceFile": {"name": STRING, "size": INTEGER, "received": INTEGER},
    "EarlierTrace": {"id": INTEGER, "name": STRING, "job_count": INTEGER},
    "TraceReport": REPORT,
    "TraceScan": {
        "format?": STRING,
        "report?": "TraceReport",
        "jobs?": INTEGER,
        "machines?": INTEGER,
        "gpus_in_machines?": NUMBER,
        "arrivals?": {"from_ms": INTEGER, "bin_ms": INTEGER, "counts": [INTEGER], "ranks": [[INTEGER]]},
        "gpus?": noted(nullable([[NUMBER]]), "Pairs of the GPUs of a job and the number of jobs"),
        "workers?": noted(
            nullable([[NUMBER]]),
            "Pairs of the workers of a job and the number of jobs",
        ),
        "run_ms?": nullable({"least": INTEGER, "median": INTEGER, "p95": INTEGER, "most": INTEGER}),
        "groups?": noted(nullable([[either(STRING, INTEGER, NULL)]]), "Pairs of a group and the number of its jobs"),
        "preview?": ["JobLine"],
        "files?": [BEGINNING],
        "time_unit?": STRING,
        "header?": STRING,
        "refused?": noted(STRING, "Why the last selection was refused"),
        "unclear?": noted(STRING, "Why the format must be chosen"),
    },
    "JobLine": noted(JOB, "A line of jobs.jsonl (docs/formats.md)"),
    "ClusterFile": {
        "name": STRING,
        "slot_ms": INTEGER,
        "horizon_slots?": nullable(INTEGER),
        "servers": [SERVER],
        "cloud?": nullable({"unlimited": BOOLEAN}),
    },
    "ConnectionCondition": {
        "state": STRING,
        "since": noted(nullable(NUMBER), "Unix time in s"),
        "message": STRING,
        "age_ms": noted(
            nullable(INTEGER),
            "Age of the newest data: the newest answer of the cluster, or the newest contact of one that posts events",
        ),
        "stale_after_ms": INTEGER,
        "event_ms": noted(nullable(INTEGER), "Unix time in ms of the newest event of a cluster that posts events"),
        "polled_ago_ms": noted(nullable(INTEGER), "Time since the newest poll"),
        "seen_ms": noted(nullable(INTEGER), "Time of the newest answer, by the cluster's clock"),
        "clock_offset_ms": nullable(INTEGER),
        "lag": noted({"p50_ms?": INTEGER, "p99_ms?": INTEGER, "facts?": INTEGER}, "Empty before the first event"),
        "cost": {"calls_per_minute?": NUMBER, "ms_per_call?": NUMBER, "share?": NUMBER},
        "counts": noted(mapping(INTEGER), "Nodes, jobs, and open jobs by state"),
        "not_up": noted(
            {"total": INTEGER, "nodes": [{"name": STRING, "state": STRING, "reason": STRING}]},
            "Nodes that are draining, drained or down: total counts all, nodes lists the first 20 by name",
        ),
        "audit": noted(
            {
                "checked_at?": nullable(NUMBER),
                "compared?": nullable(INTEGER),
                "count?": nullable(INTEGER),
                "differences?": [{"subject": STRING, "field": STRING, "log": STRING, "cluster": STRING}],
                "accounted?": noted(BOOLEAN, "False if the cluster keeps no accounting"),
                "error?": STRING,
            },
            "Newest comparison of the log with the cluster; empty before the first",
        ),
        "samples": noted(
            {
                "sampler?": STRING,
                "state?": STRING,
                "message?": STRING,
                "age_ms?": nullable(INTEGER),
                "nodes?": INTEGER,
            },
            "Empty without a sampler",
        ),
    },
    "PlanChange": {
        "key": STRING,
        "submitted_ms": INTEGER,
        "field": STRING,
        "before": nullable(either(INTEGER, STRING)),
        "after": nullable(either(INTEGER, STRING)),
        "until_ms": nullable(INTEGER),
        "start_ms": INTEGER,
        "estimate_ms": noted(nullable(INTEGER), "Start that the cluster expects without the plan"),
        "user": STRING,
        "queue": STRING,
        "account": STRING,
        "priority": INTEGER,
        "command": STRING,
        "inverse": STRING,
        "state": STRING,
        "message": STRING,
    },
    "TeamMember": {"id": INTEGER, "name": STRING, "provided": BOOLEAN},
    "ActingLevel": {"level": INTEGER, "name": STRING, "about": STRING},
    "Actor": {"running": BOOLEAN, "host": STRING, "account": STRING, "error": STRING},
}
