"""The style guide: the parts of every page in both themes, and its colours as other kinds of colour vision see them."""

from __future__ import annotations

from typing import Any, NamedTuple

RESOURCES = ("gpu", "cpu", "memory", "storage", "bandwidth")


class Mark(NamedTuple):
    """Mark of states (static/css/marks.css): what its shape and colour mean, and the states that have it."""

    meaning: str
    states: tuple[str, ...]

    @property
    def named(self) -> list[tuple[str, str]]:
        """(state, word) of each state."""
        return [(state, state.replace("_", " ").replace("-", " ")) for state in self.states]


MARKS = (
    Mark("In progress", ("running", "computing", "parsing", "applying", "undoing")),
    Mark("Up to date", ("following", "calibrated")),
    Mark("Being measured", ("profiling", "learning")),
    Mark("Being transferred", ("moving", "uploading")),
    Mark("Waiting", ("queued", "waiting")),
    Mark("Planned", ("planned", "approved")),
    Mark("Needs a decision", ("proposed", "scanned")),
    Mark("Starting", ("starting",)),
    Mark("Paused", ("paused", "suspended")),
    Mark("Done", ("completed", "finished", "applied", "ready")),
    Mark("Ended, outcome not stated", ("ended", "discarded", "undone")),
    Mark("Not completed when the run ended", ("unfinished",)),
    Mark("Cancelled", ("cancelled",)),
    Mark("Failed", ("failed", "failing", "off", "node_fail", "out_of_memory")),
    Mark("Rejected or refused", ("rejected", "refused")),
    Mark("Ended at its time limit", ("timeout",)),
    Mark("Stopped for another job", ("preempted",)),
    Mark("Out of date", ("stale",)),
    Mark("Serious alert", ("serious",)),
    Mark("Notable alert", ("notable",)),
    Mark("Not run", ("not-run",)),
)
# Machado, Oliveira and Fernandes, 2009, at full severity, in linear RGB; as in tests/js/ui/theme.test.js
_SEEN = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039),
    ),
}  # fmt: skip


def parts() -> dict[str, Any]:
    """Template context: resources, states, and visions with the matrix of an SVG filter."""
    rows = {name: " ".join(" ".join(map(str, (*row, 0, 0))) for row in matrix) for name, matrix in _SEEN.items()}
    seen = [{"name": name, "title": name.capitalize(), "matrix": f"{text} 0 0 0 1 0"} for name, text in rows.items()]
    normal = {"name": "normal", "title": "Normal", "matrix": "1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 0"}
    return {"resources": RESOURCES, "marks": MARKS, "visions": [normal, *seen]}
