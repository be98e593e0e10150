"""Answers about a run: its static data, its state, its jobs and its events."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Plain,
    Shape,
    either,
    extended,
    mapping,
    noted,
    nullable,
    one_of,
)
from dashboard.readmodels.job_table import COLUMNS
from dashboard.readmodels.large.levels import SHOWN
from scheduling.model.values import RESOURCES, SITES
from twin.analysis.thumbnail import UNLIMITED
from twin.eventlog.job_states import STATES
from twin.models import Run

SITE, RESOURCE = one_of(*SITES), one_of(*RESOURCES)
AMOUNTS = noted([INTEGER], "Thousandths of each resource, in the order of resources")
INTERVAL = noted([INTEGER], "Start and end in ms")
CURVES = ("arrived", "completed", "rejected")
COUNTS = dict.fromkeys(STATES, INTEGER)
SCHEDULER = {"name": STRING, "title": STRING, "model": STRING, "quotes": BOOLEAN, "summary": STRING}
CODED = nullable({"words": [STRING], "codes": noted([INTEGER], "Index into words for each job, or -1")})
SERVER = {
    "name": STRING,
    "site": SITE,
    "roles": [one_of("worker", "ps")],
    "capacity": AMOUNTS,
    "was?": noted([[ANY]], "Earlier capacities: pairs of the time in ms until which they applied, and the amounts"),
    "lanes?": noted([INTEGER], "Number of typed workers and of typed parameter servers"),
    "lanes_was?": noted([[ANY]], "Earlier numbers: pairs of the time in ms until which they applied, and the numbers"),
    "away?": [INTERVAL],
    "away_was?": noted(
        [[ANY]], "Outages as known before edits: pairs of the time of an edit in ms and the outages until then"
    ),
}
GROUPED = {  # a job in a co-location group
    "disk_ratio": NUMBER,
    "model_disk_ratio": NUMBER,
    "memory_gb": NUMBER,
    "comp_ms": NUMBER,
    "comm_ms": NUMBER,
    "pace_ms": NUMBER,
    "group": INTEGER,
    "machines": INTEGER,
    "cpu_utilization": NUMBER,
    "net_utilization": NUMBER,
    "memory_used": NUMBER,
    "bound": nullable(STRING),
    "jobs": INTEGER,
}
TIMES = {name: nullable(INTEGER) for name in ("decided_ms", "start_ms", "finish_ms", "completed_ms", "rejected_ms")}
JOB = {
    "index": INTEGER,
    "id": STRING,
    "model": STRING,
    "limit_ms": nullable(INTEGER),
    "state": one_of(*STATES),
    "arrived_ms": nullable(INTEGER),
    **TIMES,
    "jct_ms": nullable(INTEGER),
    "utility": nullable(NUMBER),
    "requested_workers": nullable(INTEGER),
    "verdict": nullable(STRING),
    "code": nullable(STRING),
}
NOT_ARRIVED = {"index": INTEGER, "id": STRING, "state": one_of(*STATES, "not arrived")}
WORTH = {"slot_ms": INTEGER, "from_slot": INTEGER, "priority": NUMBER, "sensitivity": NUMBER, "target_slots": NUMBER}
STRETCH = {"state": STRING, "from_ms": INTEGER, "until_ms": nullable(INTEGER)}
SPENT = extended(STRETCH, **{f"{name}?": shape for name, shape in GROUPED.items()})  # absent while suspended
DECISION = {
    "seq": INTEGER,
    "at_ms": INTEGER,
    "kind": STRING,
    "code": STRING,
    "values": noted(mapping(ANY), "Values of the reason, by name; the code determines which"),
    "sentence": STRING,
}

SHAPES: dict[str, Shape] = {
    "RunStatic": {
        "run": {
            "id": INTEGER,
            "mode": one_of(Run.BATCH, Run.LIVE, Run.MIRROR),
            "scenario": STRING,
            "seed": INTEGER,
            "parameters": mapping(ANY),
        },
        "scheduler": SCHEDULER | {"paper": STRING},
        "phases": noted([SCHEDULER | {"from_ms": INTEGER}], "Schedulers over time"),
        "resources": [RESOURCE],
        "limits": noted([RESOURCE], "Resources that are limited"),
        "units": [STRING],
        "sites": [SITE],
        "cluster": {
            "name": STRING,
            "slot_ms": INTEGER,
            "horizon_slots": nullable(INTEGER),
            "cloud": noted(BOOLEAN, "Whether there is an unlimited cloud"),
            "servers": [SERVER],
        },
        "job_columns": [
            {
                "key": one_of(*(column.key for column in COLUMNS)),
                "title": STRING,
                "format": one_of("text", "clock", "duration", "number"),
            }
        ],
        "worth": noted(BOOLEAN, "Whether any job has a utility"),
        "ids": [STRING],
        "models": [STRING],
        "users": CODED,
        "groups": CODED,
        "arrival_ms": [INTEGER],
        "worker": noted([INTEGER], "Demand of a worker of each job, in thousandths of each resource"),
        "ps": noted([INTEGER], "Demand of a parameter server of each job, likewise"),
        "notes?": noted([STRING], "Assumptions of a fork of a mirrored run about the cluster"),
        "typed_workers?": {
            "types": [STRING],
            "of_job": noted([INTEGER], "Index into types for each job, or -1"),
            "workers": noted([[INTEGER]], "Number of workers of each type on each server"),
        },
    },
    "RunNow": {
        "sim_ms": INTEGER,
        "jobs": COUNTS,
        "utility": nullable(NUMBER),
        "unavailable_jobs": noted(INTEGER, "Jobs on unavailable servers; they do not count as allocated"),
        "sites": [
            {
                "site": SITE,
                "servers": INTEGER,
                "roles": {"worker": INTEGER, "ps": INTEGER},
                "capacity": dict.fromkeys(RESOURCES, NUMBER),
                "allocated": noted({f"{name}?": NUMBER for name in RESOURCES}, "Shares of the limited resources"),
            }
        ],
    },
    "RunThumbnail": {
        "seq": INTEGER,
        "sim_ms": INTEGER,
        "from_ms": INTEGER,
        "to_ms": INTEGER,
        "measure": STRING,
        "scale": [STRING],
        "columns": INTEGER,
        "rows": [{"site": one_of(*SITES, UNLIMITED), "servers": INTEGER}],
        "raster": noted(STRING, "A byte for each cell, row by row, as base64: percentage, or 255 for no capacity"),
    },
    "RunLevels": either(
        {"ready": Plain(const=False), "last_seq": noted(INTEGER, "Newest event of the run")},
        {
            "ready": Plain(const=True),
            "last_seq": noted(INTEGER, "Newest event of the run"),
            "seq": noted(INTEGER, "Event up to which the levels reach"),
            "sim_ms": INTEGER,
            "first_ms": noted(INTEGER, "Start of the run"),
            "last_ms": INTEGER,
            "source": noted(one_of("stored", "log"), "Source of the window; log is exact to the millisecond"),
            "measure": STRING,
            "scale": [STRING],
            "rows": [{"site": SITE, "servers": INTEGER}],
            "edges": noted([INTEGER], "Bounds of the intervals: one more than intervals"),
            "raster": noted(STRING, "A byte for each row and interval, as base64: percentage, or 255 for no capacity"),
            "counted": noted(STRING, "Likewise: the resource of the percentage, as an index of scale"),
            "curves": noted({name: [INTEGER] for name in CURVES}, "Jobs in each interval"),
            "total_bars": INTEGER,
            "total_jobs": INTEGER,
            "jobs": noted(COUNTS, "Number of jobs in each state"),
            "bars": noted(
                nullable({name: [INTEGER] for name in SHOWN} | {"id": [STRING], "server_name": [STRING]}),
                "Null if there are too many to list",
            ),
            "job_columns": [{"key": STRING, "title": STRING, "format": STRING}],
            "phases": noted([{"model": STRING}], "Execution models, from the first scheduler on"),
        },
    ),
    "RunJobs": {
        "count": noted(INTEGER, "Jobs that match"),
        "at_ms": noted(INTEGER, "The time shown"),
        "total": noted(INTEGER, "Jobs that have arrived"),
        "page": INTEGER,
        "size": INTEGER,
        "rows": [extended(JOB, **{"here?": noted(GROUPED, "Group of the job"), "reason?": STRING})],
    },
    "RunJobStory": extended(
        {f"{name}?": shape for name, shape in JOB.items() if name not in NOT_ARRIVED} | NOT_ARRIVED,
        at_ms=nullable(INTEGER),
        fields=[{"name": STRING, "value": ANY, "provenance": STRING}],
        worth=nullable(WORTH),
        decisions=[DECISION],
        bar_fields=[STRING],
        bars=[[INTEGER]],
        **{"stretches?": [SPENT]},
    ),
    "RunEvents": {
        "last_seq": INTEGER,
        "events": [
            {
                "seq": INTEGER,
                "at_ms": INTEGER,
                "kind": STRING,
                "data": noted(mapping(ANY), "Fields of the event; its kind determines which (docs/formats.md)"),
            }
        ],
    },
    "RunEventTable": {
        "rows": [
            {
                "seq": INTEGER,
                "at_ms": INTEGER,
                "kind": STRING,
                "job": nullable(INTEGER),
                "id": nullable(STRING),
                "text": STRING,
            }
        ],
        "next": noted(nullable(INTEGER), "The value of before for the next page; null at the beginning of the log"),
        "total": INTEGER,
    },
    "RunPayoffs": {"last_seq": INTEGER, "rows": noted([[NUMBER]], "Pairs of a job's index and the payoff")},
    "RunForks": [
        {
            "id": INTEGER,
            "parent": nullable(INTEGER),
            "fork_ms": nullable(INTEGER),
            "depth": INTEGER,
            "name": STRING,
            "scenario": INTEGER,
            "status": STRING,
            "wanted": STRING,
            "mode": one_of(Run.BATCH, Run.LIVE, Run.MIRROR),
            "edits": noted([STRING], "The edits, as sentences"),
        }
    ],
}
