"""The papers' sigmoid utility of a completion time (OASiS Section V, PD-ORS Section V)."""

from __future__ import annotations

import math

import numpy as np

from scheduling.model.values import Utility

MIX = (0.10, 0.55, 0.35)  # time-insensitive, -sensitive, -critical jobs [OASiS, Section V-A]
MEAN_TARGET = 8.0  # slots
OVERFLOW = 700.0  # exp of more than this is not a double; the utility is 0 there


def sampled_utility(rng: np.random.Generator) -> Utility:
    """priority [1, 100], target [1, 15] slots, sensitivity 0 | [0.01, 1] | [4, 6] in the shares of MIX."""
    kind = rng.choice(3, p=MIX)
    sensitivity = (0.0, float(rng.uniform(0.01, 1)), float(rng.uniform(4, 6)))[kind]
    return Utility(float(rng.uniform(1, 100)), sensitivity, float(rng.uniform(1, 15)))


def stretched(utility: Utility, alone_slots: float) -> Utility:
    """Utility with an eighth of the job's time alone as its unit instead of a slot, if that is longer."""
    factor = max(1.0, alone_slots / MEAN_TARGET)
    return Utility(utility.priority, utility.sensitivity / factor, utility.target_slots * factor)


def utility_at(utility: Utility | None, duration: int | float) -> float:
    """priority / (1 + exp(sensitivity (duration - target))); duration in slots, >= 0. No utility is worth 0."""
    if utility is None:
        return 0.0
    exponent = utility.sensitivity * (duration - utility.target_slots)
    return 0.0 if exponent > OVERFLOW else utility.priority / (1.0 + math.exp(exponent))


def utility_over(utility: Utility, durations: np.ndarray) -> np.ndarray:
    """`utility_at` of an array of durations."""
    exponent = utility.sensitivity * (np.asarray(durations, dtype=float) - utility.target_slots)
    return np.where(exponent > OVERFLOW, 0.0, utility.priority / (1.0 + np.exp(np.minimum(exponent, OVERFLOW))))


def arrival_slot(arrival_ms: int, slot_ms: int) -> int:
    """First slot that a job may use: a job that arrives within a slot waits for the next one."""
    return -(-arrival_ms // slot_ms)


def duration_slots(completion_ms: int, arrival_ms: int, slot_ms: int) -> int:
    """Slots between the arrival slot and the slot of completion, the argument of the utility."""
    return max(0, -(-completion_ms // slot_ms) - 1 - arrival_slot(arrival_ms, slot_ms))
