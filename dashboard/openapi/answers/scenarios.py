"""Answers about scenarios and the search: suitability, race, loads, preview of edits."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Shape,
    either,
    mapping,
    noted,
    nullable,
    one_of,
)
from dashboard.openapi.answers.run_parts import LOADS
from dashboard.openapi.answers.runs import RESOURCE, SITE
from scheduling.model.values import RESOURCES

STEPS = noted([[NUMBER]], "Pairs of the time in ms and the amount from then on")
EFFECT = {
    "servers?": INTEGER,
    "capacity?": noted({f"{name}?": NUMBER for name in RESOURCES}, "Relative growth of the capacity, by resource"),
    "away?": noted(INTEGER, "Additional servers with outages"),
    "cloud?": BOOLEAN,
    "jobs_added?": INTEGER,
    "jobs_dropped?": INTEGER,
    "jobs_touched?": INTEGER,
    "scheduler?": STRING,
}
ENTRANT = {"scheduler": STRING, "title": STRING}
LEFT_OUT = ENTRANT | {
    "reason": STRING,
    "model": noted(STRING, "Its execution model, if that differs from the model of the race; otherwise empty"),
}
RACE = {"scenario": INTEGER, "name": STRING, "able": [ENTRANT], "left_out": [LEFT_OUT]}
FIT = {
    "jobs": INTEGER,
    "runnable": INTEGER,
    "made": noted(mapping(mapping(INTEGER)), "Jobs whose field was sampled or derived, by origin and field"),
    "schedulers": noted(mapping(INTEGER), "Jobs that each scheduler can run"),
    "reasons": noted(mapping(STRING), "Why a scheduler cannot run the others"),
    "race": noted(mapping(STRING), "Why a scheduler cannot race against the chosen one"),
    "earlier": noted(
        mapping({"runs": INTEGER, "least_s": NUMBER, "most_s": NUMBER}),
        "Finished runs of a similar size; shortest and longest time",
    ),
}

SHAPES: dict[str, Shape] = {
    "Suitability": {
        "cluster": noted(nullable(either(INTEGER, one_of("generate"))), "Null if no cluster fits"),
        "warnings": [STRING],
        "own_horizon": noted(nullable(INTEGER), "Slots that the scheduler itself chooses"),
        "fit": noted(nullable(FIT), "Null without a cluster in the request"),
    },
    "ServerLoads": noted({f"{name}?": shape for name, shape in LOADS.items()}, "Empty if the scenario is not a fork"),
    "RaceEntrants": RACE,
    "RaceStarted": RACE | {"runs": [{"id": INTEGER, "scenario": INTEGER, "scheduler": STRING}], "compare": STRING},
    "EditsPreview": {
        "rows": [{"sentence": STRING, "effect": EFFECT, "error": STRING, "off": BOOLEAN}],
        "error": noted(STRING, "Error of the edits in combination, or an empty text"),
        "effect": EFFECT,
        "servers": noted(mapping(one_of("added", "removed", "away", "resized")), "Changed servers by name"),
        "sites": noted(mapping(SITE), "Site of each added server by name"),
        "curves": {
            "to_ms": INTEGER,
            "resource": RESOURCE,
            "capacity": {"before": STEPS, "after": STEPS},
            "arrivals": {"before": [INTEGER], "after": [INTEGER]},
        },
    },
    "SearchHits": [
        {
            "kind": STRING,
            "title": STRING,
            "count": INTEGER,
            "hits": [{"title": STRING, "detail": STRING, "href": STRING}],
        }
    ],
}
