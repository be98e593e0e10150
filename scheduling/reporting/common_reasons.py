"""Sentences for decision reasons of the kernel and of schedulers of every execution model."""

from __future__ import annotations

from scheduling.reporting.quantities import counted, duration
from scheduling.reporting.sentences import Sentences

COMMON = Sentences("common", {
    "missing_part": lambda v: f"Rejected: the job has no {v['part']}, which this scheduler requires.",
    "place_taken": lambda v: "Plan withdrawn: an edit changed the run; resubmitted with its remaining work.",
    "horizon": lambda v: f"Unfinished: the horizon of {counted(v['horizon_slots'], 'slot')} ended before completion.",
    "belief_used_up": lambda v: (
        f"Ran for {duration(v['ran_ms'])} without completing; its predicted run time was {duration(v['believed_ms'])} "
        f"and is now {duration(v['later_ms'])}."
    ),
    "stuck": lambda v: "Unfinished: no events remain, and no plan completes the job.",
})  # fmt: skip
