"""Answers about parts of a run: situation, prices, certificate, groups, counterfactuals, previews, summary."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    ANY,
    BOOLEAN,
    INTEGER,
    MOMENT,
    NUMBER,
    STRING,
    Shape,
    either,
    mapping,
    noted,
    nullable,
    one_of,
)
from dashboard.openapi.answers.runs import COUNTS, RESOURCE, SITE
from scheduling.colocation.subtasks import SUBTASK_TYPES, TRACKS
from scheduling.model.values import RESOURCES
from twin.analysis.situation.queue import KINDS
from twin.eventlog.job_states import STATES
from twin.mirror.connecting.condition import CONDITIONS

LOADS = {
    "measure": one_of("resources", "workers", "machines"),
    "scale": noted([STRING], "What is measured: resources, or another measure"),
    "servers": {
        "name": [STRING],
        "site": [SITE],
        "shares": noted([[INTEGER]], "For each entry of scale, the share of each server in per mille; -1 for none"),
        "jobs": [INTEGER],
        "state": noted([INTEGER], "0: available, 1: unavailable, 2: removed"),
    },
    "sites": [{"site": SITE, "servers": INTEGER, "used": [INTEGER], "capacity": [INTEGER]}],
    "unavailable_jobs": noted(INTEGER, "Jobs on unavailable servers; they do not count as use"),
}
PRICES = noted([[nullable(NUMBER)]], "Lowest, mean and highest price of each site and resource; null for none")
MOMENT_OF_SEARCH = {
    "at_ms": INTEGER,
    "jobs": INTEGER,
    "groups": INTEGER,
    "score": NUMBER,
    "best": NUMBER,
    "best_jobs": INTEGER,
    "best_groups": INTEGER,
}
CERTIFICATE = {
    "kind": noted(STRING, "none: no bound is proved; `why` states the reason"),
    "achieved?": NUMBER,
    "bound?": NUMBER,
    "ratio?": noted(nullable(NUMBER), "Share of the optimum that is proved"),
    "about?": STRING,
    "jobs?": INTEGER,
    "slots?": INTEGER,
    "sampled?": noted(INTEGER, "Number of jobs from which the prices were computed, if not from all"),
    "left_out?": INTEGER,
    "training?": noted(STRING, "Title of the training model for which the bound holds"),
    "gangs?": BOOLEAN,
    "coarse?": BOOLEAN,
    "edge_only?": {"kind": STRING, "bound": NUMBER, "ratio": NUMBER},
    "seq?": INTEGER,
    "at_ms?": INTEGER,
    "seconds?": NUMBER,
    "search?": either(
        {"why": STRING},
        {"moments": [MOMENT_OF_SEARCH], "regroupings": INTEGER, "most_jobs": INTEGER, "weight": NUMBER},
    ),
    "why?": STRING,
    "given_up?": BOOLEAN,
}
CURVE = {"pool": STRING, "resource": RESOURCE, "price": [NUMBER]}
ALERT = {
    "alert": nullable(INTEGER),
    "level": STRING,
    "rule": STRING,
    "sentence": STRING,
    "address": STRING,
    "began_at": nullable(MOMENT),
    "acknowledged": BOOLEAN,
    "found": noted(
        BOOLEAN, "False if the finding is now absent; `sentence` then states the last values that were found"
    ),
}
WAITING = {
    "job": INTEGER,
    "id": STRING,
    "state": one_of(*STATES),
    "since_ms": INTEGER,
    "start_ms": nullable(INTEGER),
    "forecast_ms": nullable(INTEGER),
    "never": noted(STRING, "Why the newest forecast of a live cluster has no start of it, or an empty text"),
    "sentence": STRING,
}
DISPLACED = {"id": STRING, "was_ms": nullable(INTEGER), "now_ms": nullable(INTEGER), "rejected": BOOLEAN}

SHAPES: dict[str, Shape] = {
    "RunSituation": {
        "sim_ms": INTEGER,
        "window_ms": noted(INTEGER, "Length of the window of the curves"),
        "jobs": COUNTS,
        "load": LOADS | {"curve": {"at_ms": [INTEGER], "shares": [[nullable(NUMBER)]]}},
        "queue": {
            "total": INTEGER,
            "oldest": [WAITING],
            "curve": {"at_ms": [INTEGER], "waiting": [INTEGER], "rejected": [INTEGER]},
        },
        "next": [{"at_ms": INTEGER, "kind": one_of(*KINDS), "job": INTEGER, "id": STRING}],
        "rejected": {"total": INTEGER, "recent": INTEGER, "reasons": [{"code": STRING, "jobs": INTEGER}]},
        "utility": nullable(NUMBER),
        "certificate": noted({"kind?": STRING, "ratio?": nullable(NUMBER)}, "Empty before the run has ended"),
        "states": [STRING],
        "attention": [ALERT],
        "elsewhere": noted([ALERT | {"cluster": STRING}], "Open alerts of other live clusters, not acknowledged"),
        "began_at": noted(
            nullable(MOMENT),
            "Moment from which the times of a live cluster and of its cuts are counted; null for other runs",
        ),
        "following": noted(
            nullable({"state": one_of(*CONDITIONS), "message": STRING, "event_ms": nullable(INTEGER)}),
            "Condition of the cluster that the run mirrors now; null for other runs",
        ),
    },
    "RunPrices": {
        "at_ms": INTEGER,
        "default_prices": noted(
            nullable(PRICES), "Prices of slots that `prices` does not list, from the newest edit on"
        ),
        "earlier_prices": noted(
            [[either(INTEGER, nullable(PRICES))]],
            "For each edit: its slot, and the default_prices of the slots before it; null without prices",
        ),
        "prices": noted(
            [[either(INTEGER, [nullable(NUMBER)])]], "Rows of a slot and its lowest, mean and highest prices"
        ),
    },
    "ServerPrices": {
        "server": STRING,
        "slot_ms": INTEGER,
        "prices": noted({name: [nullable(NUMBER)] for name in RESOURCES}, "Price per unit in each slot, from slot 0"),
    },
    "RunCertificate": {
        "certificate": nullable(CERTIFICATE),
        "certifying": BOOLEAN,
        "certificate_queued": BOOLEAN,
        "prices": nullable({"slots_a_point": INTEGER, "curves": [CURVE]}),
    },
    "GroupSubtasks": {
        "kinds": [one_of(*SUBTASK_TYPES)],
        "lanes": [one_of(*TRACKS)],
        "whole": noted(BOOLEAN, "Whether nothing was left out"),
        "bars": noted([[NUMBER]], "Rows of job, index into kinds, iteration, start and end in ms"),
        "idle": noted([[either(NUMBER, STRING)]], "Rows of the index into `lanes`, start and end in ms, and the cause"),
    },
    "JobCounterfactuals": {
        "seq": INTEGER,
        "admitted": BOOLEAN,
        "seconds": NUMBER,
        "rows": [
            {
                "what": one_of("priority", "target_slots", "workers", "arrival_ms"),
                "actual": NUMBER,
                "value": noted(nullable(NUMBER), "Null: no such value, or none found in time"),
                "admitted": BOOLEAN,
                "searched": BOOLEAN,
                "same_bounds": noted(
                    BOOLEAN, "True: computed with the unchanged price bounds of the run, because they are clairvoyant"
                ),
                "sentence": STRING,
            }
        ],
    },
    "JobPreview": {
        "at_ms": INTEGER,
        "verdict": noted(nullable(STRING), "Decision about the job; null if there was none by until_ms"),
        "sentence": STRING,
        "values": mapping(ANY),
        "start_ms": nullable(INTEGER),
        "finish_ms": nullable(INTEGER),
        "workers": INTEGER,
        "servers": [STRING],
        "utility": nullable(NUMBER),
        "until_ms": noted(INTEGER, "Time that the preview reached"),
        "complete": noted(BOOLEAN, "Whether the preview reached the end of the job in time"),
        "displaced": {
            "later": noted(INTEGER, "Number of jobs that end later with this job"),
            "later_ms": noted(INTEGER, "Sum of their delays"),
            "open": noted(INTEGER, "Number of jobs that only with this job have no end by until_ms"),
            "rejected": noted(INTEGER, "Number of jobs that are rejected only with this job"),
            "rows": [DISPLACED],
        },
        "counterfactuals": [{"what": STRING, "sentence": STRING}],
        "notes?": noted([STRING], "Assumptions about the real cluster"),
    },
    "RunSummary": {
        "scheduler": STRING,
        "schedulers?": [{"from_ms": INTEGER, "name": STRING, "title": STRING}],
        "parameters": mapping(ANY),
        "seed": INTEGER,
        "execution": noted(mapping(ANY), "Execution rules: model, packs, final, and those of the model"),
        "beliefs?": STRING,
        "metrics": "Metrics",
        "certificate": nullable({"kind": STRING, "achieved": NUMBER, "bound": NUMBER, "ratio": nullable(NUMBER)}),
        "decision_ms": "DecisionTimes",
        "wall_s": nullable(NUMBER),
    },
    "RunForked": {"scenario": "Scenario", "run": nullable("Run")},
}
