"""Answers that compare runs: the comparison, and the points of a sweep."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    ANY,
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
from twin.analysis.comparison.breakdowns import BREAKDOWN_METRICS
from twin.analysis.comparison.differences import DIFFERENCE_TYPES
from twin.analysis.comparison.outcomes import STATES
from twin.models.run_modes import MODES
from twin.studies import sweep_results

MODE = one_of(*MODES)
METRIC = {
    "key": STRING,
    "title": STRING,
    "unit": STRING,
    "direction": nullable(one_of("higher", "lower")),
    "definition": STRING,
    "scope": STRING,
}
CELL = {
    "value": nullable(NUMBER),
    "delta": nullable(NUMBER),
    "relative": nullable(NUMBER),
    "verdict": nullable(one_of("better", "worse", "same")),
    "best": BOOLEAN,
    "ranked": noted(BOOLEAN, "Whether it can be compared with the baseline"),
}
PLAN = {
    "start_ms": nullable(INTEGER),
    "finish_ms": nullable(INTEGER),
    "workers": INTEGER,
    "servers": [STRING],
    "more": noted(INTEGER, "Number of further servers"),
    "own": noted([STRING], "Servers that the plan of the other run at that time lacks"),
    "own_more": noted(INTEGER, "Number of further servers in `own`"),
}
DECISION = {
    "immediate": noted(BOOLEAN, "True if `next` was decided at the time of the divergence"),
    "next": nullable(
        {
            "at_ms": INTEGER,
            "kind": nullable(STRING),
            "code": nullable(STRING),
            "sentence": nullable(STRING),
            "plan": nullable(PLAN),
        }
    ),
    "standing": nullable({"state": one_of(*STATES), "at_ms": nullable(INTEGER), "plan": nullable(PLAN)}),
}
DIVERGENCE = {
    "run": INTEGER,
    "at_ms": noted(nullable(INTEGER), "Time of the divergence; null if there is none"),
    "why?": nullable(STRING),
    "job?": STRING,
    "model?": STRING,
    "index?": noted([INTEGER], "Index of the job in the baseline and in the other run"),
    "jobs?": INTEGER,
    "same_before?": INTEGER,
    "base?": DECISION,
    "other?": DECISION,
}
COUNTS = {
    "run": INTEGER,
    "at_ms": nullable(INTEGER),
    "differing": INTEGER,
    "counts": dict.fromkeys(DIFFERENCE_TYPES, INTEGER),
    "accounts": {
        "total": INTEGER,
        "equal": INTEGER,
        "differ": INTEGER,
        "only_base": INTEGER,
        "only_other": INTEGER,
        "not_in_all": INTEGER,
    },
}
BREAKDOWN = {"name": STRING, "jobs": [INTEGER], **{key: [CELL] for key in BREAKDOWN_METRICS}}
OUTCOME = {
    "state": STRING,
    "start_ms": nullable(INTEGER),
    "finish_ms": nullable(INTEGER),
    "completed_ms": nullable(INTEGER),
    "stopped_ms": noted(
        nullable(INTEGER), "End of the last worker bar of a job that was rejected or is unfinished; null without one"
    ),
    "jct_ms": nullable(INTEGER),
    "utility": nullable(NUMBER),
    "preemptions": INTEGER,
}
RUN = {
    "id": INTEGER,
    "name": STRING,
    "scheduler": STRING,
    "title": STRING,
    "parameters": mapping(ANY),
    "seed": INTEGER,
    "trace": STRING,
    "trace_id": noted(INTEGER, "Number of the trace: names may repeat"),
    "cluster": STRING,
    "cluster_id": noted(INTEGER, "Number of the cluster: names may repeat"),
    "mode": MODE,
    "status": STRING,
    "sim_ms": INTEGER,
    "begun": BOOLEAN,
    "from_ms": noted(INTEGER, "Time of the log at which a cut of a live cluster begins; 0 for other runs"),
    "message": STRING,
    "edits": noted([STRING], "The edits, as sentences"),
}
POINT = {
    "place": noted([INTEGER], "Position of the value on each axis"),
    "seed": INTEGER,
    "run": nullable(INTEGER),
    "status": STRING,
    "figures": noted(
        {f"{key}?": nullable(NUMBER) for key in sweep_results.METRICS}, "Metrics of a finished run, or {}"
    ),
}

SHAPES: dict[str, Shape] = {
    "Comparison": {
        "runs": [RUN],
        "most": {"runs": INTEGER, "in_full": INTEGER},
        "in_full": noted([INTEGER], "Runs that are compared in full"),
        "at_ms": noted(nullable(INTEGER), "Time up to which the runs are compared; null: to the end"),
        "began_at": noted(
            nullable(MOMENT),
            "Moment from which the times of all runs are counted, if they share one (a live cluster and its cuts); "
            "otherwise null",
        ),
        "shared": {
            "jobs": INTEGER,
            "of": [INTEGER],
            "same_trace": noted(BOOLEAN, "Whether jobs with the same id are the same job in all runs"),
        },
        "notes": [STRING],
        "speeds": nullable(STRING),
        "metrics": [METRIC | {"values": [CELL | {"about?": STRING, "why?": STRING}]}],
        "distributions": [
            METRIC
            | {
                "of": STRING,
                "curves": [
                    {
                        "jobs": INTEGER,
                        "values": noted([NUMBER], "i % of the jobs have at most values[i]; empty without jobs"),
                    }
                ],
            }
        ],
        "kinds": noted(dict.fromkeys(DIFFERENCE_TYPES, STRING), "Definition of each kind of difference"),
        "differences": [COUNTS],
        "divergences": noted([DIVERGENCE], "Divergence of each run from the baseline; without one: run, at_ms and why"),
        "groups": {"model": [BREAKDOWN], "size": [BREAKDOWN], "site": [BREAKDOWN]},
        "grouped": [one_of(*BREAKDOWN_METRICS)],
    },
    "ComparedJobs": COUNTS
    | {
        "count": INTEGER,
        "total": INTEGER,
        "page": INTEGER,
        "size": INTEGER,
        "span_ms": noted([INTEGER], "First arrival and last finish"),
        "rows": [
            {
                "index": noted([INTEGER], "Index of the job in the baseline and in the other run"),
                "id": STRING,
                "model": STRING,
                "arrived_ms": INTEGER,
                "kinds": [one_of(*DIFFERENCE_TYPES)],
                "base": OUTCOME,
                "other": OUTCOME,
            }
        ],
    },
    "SweepPoints": {
        "id": INTEGER,
        "name": STRING,
        "scenario": INTEGER,
        "scenario_name": STRING,
        "axes": ["Axis"],
        "titles": [STRING],
        "choices": noted([mapping(STRING)], "Titles of the values of each axis; {} if the values have none"),
        "seeds": [INTEGER],
        "total": INTEGER,
        "finished": INTEGER,
        "active": INTEGER,
        "created_at": MOMENT,
        "figures": [one_of(*sweep_results.METRICS)],
        "scheduler": STRING,
        "points": [POINT],
        "unranked": noted(nullable(STRING), "Why the metrics are not ranked"),
        "unranked_figures": noted(mapping(STRING), "Why single metrics are not ranked, by their keys"),
        "edited": nullable(STRING),
        "speeds": nullable(STRING),
    },
    "RunCount": {"runs": INTEGER},
}
