"""Answers that list what can be chosen: schedulers, edits, rules of alerts, connectors, with their parameters."""

from __future__ import annotations

from dashboard.openapi.answers.notation import ANY, BOOLEAN, NUMBER, STRING, Shape, mapping, noted, nullable

UNAVAILABLE = noted(nullable(STRING), "Why it cannot be used")

SHAPES: dict[str, Shape] = {
    "Declaration": {  # of a parameter
        "name": STRING,
        "title": STRING,
        "type": STRING,
        "default": noted(ANY, "Null for none"),
        "help": STRING,
        "low": nullable(NUMBER),
        "high": nullable(NUMBER),
        "choices": nullable([STRING]),
        "titles?": noted(mapping(STRING), "Title of each choice"),
        "unit": STRING,
        "optional": BOOLEAN,
    },
    "Schedulers": [
        {
            "name": STRING,
            "title": STRING,
            "paper": STRING,
            "summary": STRING,
            "model": noted(STRING, "Execution model"),
            "parameters": ["Declaration"],
            "unavailable": UNAVAILABLE,
        }
    ],
    "EditTypes": [
        {
            "name": STRING,
            "title": STRING,
            "about": STRING,
            "later": noted(BOOLEAN, "Whether it can apply from a later time"),
            "parameters": ["Declaration"],
            "unavailable": UNAVAILABLE,
        }
    ],
    "AlertRuleKinds": [
        {
            "rule": STRING,
            "title": STRING,
            "summary": STRING,
            "level": STRING,
            "about": [STRING],
            "parameters": ["Declaration"],
            "unavailable": UNAVAILABLE,
        }
    ],
    "Connectors": {
        "connectors": [
            {
                "name": STRING,
                "title": STRING,
                "summary": STRING,
                "parameters": ["Declaration"],
                "polled": noted(BOOLEAN, "Whether the interval of the connection applies"),
                "unavailable": UNAVAILABLE,
            }
        ],
        "samplers": [
            {
                "name": STRING,
                "title": STRING,
                "summary": STRING,
                "parameters": ["Declaration"],
                "unavailable": UNAVAILABLE,
            }
        ],
        "sites": noted(["Declaration"], "Rule that puts each node on a site"),
    },
}
