"""Answers about the experiments of the papers."""

from __future__ import annotations

from dashboard.openapi.answers.notation import (
    BOOLEAN,
    INTEGER,
    MOMENT,
    NUMBER,
    STRING,
    Shape,
    either,
    noted,
    nullable,
    one_of,
)
from dashboard.readmodels.studies.experiments import FAILS, HOLDS, NOT_RUN

CELL = nullable(either(NUMBER, STRING))  # the text "infinite" for a number that is; null for none
PROGRESS = {
    "status": STRING,
    "message": STRING,
    "done": INTEGER,
    "total": INTEGER,
    "active": BOOLEAN,
    "seeds": nullable(INTEGER),
    "trace": nullable(INTEGER),
    "by": STRING,
}
EXPERIMENT = {
    "name": STRING,
    "paper": STRING,
    "figure": STRING,
    "title": STRING,
    "claim": STRING,
    "command": STRING,
    "default_seeds": INTEGER,
    "arrivals": noted(STRING, "Use of the arrivals of a trace, or an empty text"),
    "unavailable": noted(STRING, "Reason why it cannot run here, or an empty text"),
    "verdict": one_of(HOLDS, FAILS, NOT_RUN),
    "checks": {"held": INTEGER, "judged": INTEGER},
    "finished_at": nullable(MOMENT),
    "seconds": nullable(NUMBER),
    "outdated": BOOLEAN,
    "progress": noted(nullable(PROGRESS), "Progress of the newest reproduction; null if it has ended"),
}
CHART = {
    "y": STRING,
    "unit": STRING,
    "columns": noted([STRING], "Columns shown; empty: all but the first"),
    "rows": noted([STRING], "Rows shown; empty: all"),
    "turned": BOOLEAN,
    "variant": STRING,
    "levels": noted([[either(STRING, NUMBER)]], "Pairs of words and a value"),
}
RESULT = {
    "id": INTEGER,
    "columns": [STRING],
    "rows": [[CELL]],
    "spread": noted([[nullable([CELL])]], "Smallest and largest value of each cell over the seeds"),
    "checks": [
        {
            "what": STRING,
            "value": CELL,
            "unit": STRING,
            "bound": CELL,
            "at_least": BOOLEAN,
            "holds": nullable(BOOLEAN),
        }
    ],
    "seeds": INTEGER,
    "trace": STRING,
    "code": STRING,
    "parts": INTEGER,
}

SHAPES: dict[str, Shape] = {
    "Experiments": {"experiments": [EXPERIMENT]},
    "Experiment": EXPERIMENT
    | {
        "setting": STRING,
        "charts": [CHART],
        "result": nullable(RESULT),
        "parts": [{"title": STRING, "status": STRING, "seconds": nullable(NUMBER)}],
        "traces": [{"id": INTEGER, "name": STRING, "job_count": INTEGER}],
    },
    "PartCount": {"parts": INTEGER},
    "ExperimentsStarted": {"started": [STRING]},
}
