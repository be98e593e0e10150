"""Sentences for decision reasons of co-location schedulers: Harmony and its baselines."""

from __future__ import annotations

from scheduling.reporting.quantities import counted, duration
from scheduling.reporting.sentences import Sentences, Values


def _grouped(values: Values) -> str:
    others = values["jobs"] - 1
    beside = f"with {counted(others, 'other job')}" if others else "alone"
    away = f" Moving its model and reading its input take {duration(values['away_ms'])}." if values["away_ms"] else ""
    return (
        f"Runs in group {values['group']} on {counted(values['machines'], 'machine')}, {beside}. Time per iteration: "
        f"{duration(values['pace_ms'])}.{away}"
    )


def _memory(values: Values) -> str:
    spilled = "even with all its data on disk" if values["spill"] else "and spilling to disk is disabled"
    return (
        f"Rejected: needs {values['need']:.4g} GB of memory, {spilled}; all eligible machines "
        f"together have {values['most']:.4g} GB."
    )


COLOCATION = Sentences("colocation", {
    "job_known": lambda v: (
        f"Admitted: {counted(v['iterations'], 'iteration')}, each with {duration(v['comp_ms'])} of computation on one "
        f"machine and {duration(v['comm_ms'])} of communication."
    ),
    "grouped": _grouped,
    "left_out": lambda v: (
        f"Suspended after {v['iterations']:,.1f} iterations: utilization is currently higher without this job."
    ),
    "measured": lambda v: (
        f"Suspended after {v['iterations']:,.1f} iterations: profiling is complete, and the job waits for a group."
    ),
    "out_of_memory": lambda v: (
        f"Out of memory on the machines of its group: it resumes from iteration {v['iterations']:,.0f}, the end "
        f"of its last epoch, and loses {v['lost']:,.1f} iterations."
    ),
    "memory_too_small": _memory,
    "no_machines": lambda v: "Rejected: no server of the cluster accepts workers.",
})  # fmt: skip
