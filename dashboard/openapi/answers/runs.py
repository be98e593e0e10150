"""Answers about a run: its static data, its state, its jobs and its events."""

from __future__ import annotations

from typing import get_args, get_type_hints

from dashboard.openapi.answers.notation import (
    ANY,
    BOOLEAN,
    INTEGER,
    MOMENT,
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
from dashboard.readmodels.job_table import COLUMNS, Column
from dashboard.readmodels.large.levels import SHOWN
from scheduling.model.values import RESOURCES, SITES, Job
from twin.analysis.thumbnail import UNLIMITED
from twin.connectors.facts import OUTCOMES
from twin.eventlog.fold import JOB_FIELDS
from twin.eventlog.job_states import STATES
from twin.models.run_modes import MODES

SITE, RESOURCE = one_of(*SITES), one_of(*RESOURCES)
AMOUNTS = noted([INTEGER], "Thousandths of each resource, in the order of resources")
INTERVAL = noted([INTEGER], "Start and end in ms")
CURVES = ("arrived", "completed", "rejected")
ENDED = noted(one_of(*OUTCOMES), "How the job ended; only in runs of live clusters")
COUNTS = dict.fromkeys(STATES, INTEGER)
SCHEDULER = {
    "name": STRING,
    "title": STRING,
    "model": STRING,
    "quotes": BOOLEAN,
    "summary": STRING,
    "unused": noted([STRING], "Fields of jobs that state a demand and that the scheduler does not use"),
    "training": noted(STRING, "Training model of the jobs; empty where the execution model has only one"),
    "unavailable?": noted(STRING, "Why the scheduler cannot be used any more; the log states the rest"),
}
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
    "added_ms?": noted(INTEGER, "Time of the edit that added the server; it does not exist before"),
    "states?": noted(
        [[ANY]], "Of a node of a live cluster: triples of the time in ms, the state from then on, and its reason"
    ),
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
SHAPE_OF = {str: STRING, int: INTEGER, float: NUMBER}


def shape_of(column: Column) -> Shape:
    """The values of a column of the table of jobs: as its field of Job declares them, or else numbers or null."""
    if column.field is None:
        return nullable(NUMBER if column.format == "utility" else INTEGER)
    declared = get_type_hints(Job)[column.field]
    kind, *rest = get_args(declared) or (declared,)
    return nullable(SHAPE_OF[kind]) if rest else SHAPE_OF[kind]


def _state(*more: str) -> Shape:
    """The state of a job, or one of these further words."""
    return noted(nullable(one_of(*STATES, *more)), "null before a live cluster was observed for the first time")


JOB = {
    "index": INTEGER,
    "id": STRING,
    "state": _state(),
    **{name: nullable(INTEGER) for name in JOB_FIELDS if name != "utility"},
    **{column.key: shape_of(column) for column in COLUMNS},
    "requested_workers": nullable(INTEGER),
    "verdict": nullable(STRING),
    "code": nullable(STRING),
}
NOT_ARRIVED = {"index": INTEGER, "id": STRING, "state": _state("not arrived")}
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

COVERS = noted(
    mapping({"title": STRING, "text": STRING}),
    "Phases that a metric covers, by its key, where it does not cover the whole run",
)

SHAPES: dict[str, Shape] = {
    "RunStatic": {
        "run": {
            "id": INTEGER,
            "mode": one_of(*MODES),
            "began_at": noted(
                nullable(MOMENT),
                "Moment from which the times of a live cluster and of its cuts are counted; null for other runs",
            ),
            "scenario": STRING,
            "seed": INTEGER,
            "parameters": mapping(ANY),
        },
        "scheduler": SCHEDULER | {"paper": STRING},
        "phases": noted([SCHEDULER | {"from_ms": INTEGER}], "Schedulers over time"),
        "covers": COVERS,
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
                "format": one_of("text", "clock", "duration", "number", "utility"),
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
        "earlier_sizes?": noted(
            mapping([[either(INTEGER, [INTEGER])]]),
            "Earlier sizes of jobs by index, in order: [until_ms, demand of a worker, number of workers], for the bars "
            "that start before until_ms",
        ),
        "notes?": noted([STRING], "Assumptions of a cut about the live cluster"),
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
        "rows": [extended(JOB, **{"here?": noted(GROUPED, "Group of the job"), "reason?": STRING, "outcome?": ENDED})],
    },
    "RunJobStory": extended(
        {f"{name}?": shape for name, shape in JOB.items() if name not in NOT_ARRIVED} | NOT_ARRIVED,
        at_ms=nullable(INTEGER),
        fields=[{"name": STRING, "value": ANY, "provenance": STRING}],
        worth=nullable(WORTH),
        decisions=[DECISION],
        bar_fields=[STRING],
        bars=[[INTEGER]],
        **{"stretches?": [SPENT], "suspensions?": noted([[INTEGER]], "[from_ms, until_ms]; -1: until further notice")},
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
            "mode": one_of(*MODES),
            "edits": noted([STRING], "The edits, as sentences"),
        }
    ],
}
