"""The style guide: the parts of every page in both themes, and its colours as other kinds of colour vision see them."""

from __future__ import annotations

from typing import Any

RESOURCES = ("gpu", "cpu", "memory", "storage", "bandwidth")
STATES = (
    "running", "queued", "planned", "suspended", "profiling", "moving", "completed", "rejected", "failed", "following",
    "stale", "learning", "serious", "notable",
)  # fmt: skip
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
    return {"resources": RESOURCES, "states": STATES, "visions": [normal, *seen]}
