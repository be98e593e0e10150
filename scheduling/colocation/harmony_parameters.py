"""Parameters of Harmony, and those of them that the Oracle has too."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.colocation.memory.spilling import MODES
from scheduling.colocation.scheduler_base import GroupParameters
from scheduling.colocation.selection.group_selection import PATIENCE
from scheduling.colocation.selection.performance import WEIGHT
from scheduling.kernel.parameters import parameter

GAIN = 0.05


@dataclass(frozen=True, slots=True)
class RegroupingParameters(GroupParameters):
    """Parameters of Harmony and of the Oracle."""

    cpu_weight: float = parameter(
        WEIGHT,
        "Weight of the CPU in the combined utilization of CPU and network; above 0.5",
        low=0.5,
        high=1.0,
        title="CPU weight",
    )
    regroup_gain: float = parameter(
        GAIN, "Minimum relative gain in utilization for a regrouping", low=0.0, high=10.0, title="Regrouping threshold"
    )
    profiling: str = parameter(
        "instant",
        "Source of iteration times: instant (known at arrival) or online (measured in a group)",
        choices=("instant", "online"),
        title="Iteration times",
    )
    profile_error: float = parameter(
        0.0, "Maximum relative error of a job's estimated times", low=0.0, high=0.95, title="Estimation error"
    )
    opposed_errors: bool = parameter(
        False, "Opposite signs for the errors of computation and communication", title="Opposite errors"
    )
    memory: str = parameter(
        "adaptive", "Adaptive (ratios by hill climbing), fixed (the share on disk for all jobs) or none",
        choices=MODES, title="Spilling to disk",
    )  # fmt: skip
    disk_ratio: float = parameter(
        0.3, "For fixed spilling: share of each input on disk", low=0.0, high=1.0, title="Share on disk"
    )
    sites: str = parameter(
        "edge_first", "Site of a job that fits on either", choices=("edge_first", "balanced"), title="Choice of site"
    )


@dataclass(frozen=True, slots=True)
class HarmonyParameters(RegroupingParameters):
    window: int = parameter(
        1,
        "Numbers of groups that are tried on either side of the balanced number",
        low=0,
        high=20,
        title="Search window",
    )
    patience: float = parameter(
        PATIENCE,
        "Prefixes that Algorithm 1 tries without gain before it stops, as a multiple of the number of "
        "groups; 0: as printed in the paper",
        low=0.0,
        high=1e6,
        title="Prefixes without gain",
    )
