"""Titles of the axes of sweeps: labels of pages, and words in the names of their runs."""

from __future__ import annotations

from typing import Any

from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers
from twin.scenarios.edits import verbs


def title(axis: Any, scheduler: str) -> str:
    """Label: the title of the parameter, or "Duration of edit 1 (Fail servers)"."""
    label = _label(axis, scheduler)
    return label if "parameter" in axis else f"{label} of edit {axis['edit']} ({verb_title(axis)})"


def verb_title(axis: Any) -> str:
    """Title of the edit that an axis varies; its name where this installation has no such edit."""
    verb = verbs().get(axis["verb"])
    return verb.title if verb else str(axis["verb"])


def word(axis: Any, scheduler: str) -> str:
    """The same without the edit, within a sentence: "duration"."""
    label = _label(axis, scheduler)
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def choices(axis: Any, scheduler: str) -> dict[str, str]:
    """{value: title} of the values of an axis; empty where they are shown as they are."""
    if "parameter" in axis:
        known = schedulers().get(scheduler)
        rows = describe(known.Parameters) if known else []
    else:
        verb = verbs().get(axis["verb"])
        rows = verb.form() if verb else []
    name = axis.get("parameter") or axis["field"]
    return next((dict(row.get("titles", {})) for row in rows if row["name"] == name), {})


def _label(axis: Any, scheduler: str) -> str:
    if "parameter" in axis:
        known = schedulers().get(scheduler)
        return _titles(known.Parameters if known else None).get(axis["parameter"], axis["parameter"])
    verb = verbs().get(axis["verb"])
    titles = _titles(verb.Parameters if verb else None)
    return "Time" if axis["field"] == "at_ms" else titles.get(axis["field"], axis["field"])


def _titles(declared: type | None) -> dict[str, str]:
    return {row["name"]: row["title"] for row in describe(declared)} if declared else {}
