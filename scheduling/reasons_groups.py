"""Sentences for the reasons of schedulers that put jobs into groups: Harmony and its baselines (reasons.py has all others)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduling.words import count, duration

Values = Mapping[str, Any]


def _grouped(values: Values) -> str:
    others = values["jobs"] - 1
    beside = f"beside {count(others, 'other job')}" if others else "alone"
    away = f" It is away for {duration(values['away_ms'])} to move its model and to read its input." if values["away_ms"] else ""
    return (
        f"Runs in group {values['group']} on {count(values['machines'], 'machine')}, {beside}: an iteration takes "
        f"{duration(values['pace_ms'])}.{away}"
    )


def _memory(values: Values) -> str:
    spilled = "even with all its data on disk" if values["spill"] else "and nothing may lie on disk"
    return (
        f"Rejected: it needs {values['need']:.4g} GB of memory, {spilled}, and all machines that it could have together have "
        f"{values['most']:.4g} GB."
    )


GROUP_SENTENCES: dict[str, Callable[[Values], str]] = {
    "job_known": lambda v: (
        f"Admitted: {count(v['iterations'], 'iteration')}, each {duration(v['comp_ms'])} of computation for one machine and "
        f"{duration(v['comm_ms'])} of communication."
    ),
    "grouped": _grouped,
    "left_out": lambda v: f"Paused after {v['iterations']:.1f} iterations: the machines are used better without it for now.",
    "measured": lambda v: f"Paused after {v['iterations']:.1f} iterations: its times are measured, and it waits for a place.",
    "out_of_memory": lambda v: (
        f"The machines of its group ran out of memory: {v['lost']:.1f} iterations since its last epoch are lost, {v['iterations']:.0f} are "
        "kept."
    ),
    "memory_too_small": _memory,
    "no_machines": lambda v: "Rejected: no server of the cluster takes workers.",
}
