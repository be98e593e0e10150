"""The work of a job in whole numbers, as plans count it (PD-ORS, Algorithm 3).

E worker-slots at the external rate and I at the internal one do a job when E + r I >= W, where W is the job's length in
external worker-slots and r how many of them one internal worker-slot is worth. Plans need that in integers:
p E + q I >= need. For short jobs small integers say the same of every E and I, so nothing is lost. For long ones they
would be too large: work is then counted in parts of a worker-slot, as many as MAX_WORK allows, and what workers do in a
slot is rounded down to a part.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scheduling.model.training_models import EPSILON

MAX_WORK = 4000  # that a plan counts


class Work(NamedTuple):
    """A job's work in the units that plans count."""

    need: int
    external: np.ndarray  # done by 0, 1, ... workers in a slot
    internal: np.ndarray


def count_work(external: float, internal: float, most: int) -> Work:
    """The work of a job of `external` worker-slots at the external rate or `internal` at the internal one."""
    workers = np.arange(most + 1.0)
    exact = exact_units(external, internal)
    if exact is not None:
        need, outside, inside = exact
        return Work(need, outside * workers, inside * workers)
    whole = math.ceil(external - EPSILON)
    parts = MAX_WORK // whole if whole <= MAX_WORK else MAX_WORK / whole
    done = (np.floor(parts * rate * workers + EPSILON) for rate in (1.0, external / internal))
    return Work(max(1, math.ceil(parts * external - EPSILON)), *done)


def exact_units(external: float, internal: float) -> tuple[int, int, int] | None:
    """Smallest (need, p, q) that separate sufficient work from insufficient work; None if they are too large."""
    if max(external, internal) > MAX_WORK:
        return None
    rate = external / internal
    # just sufficient work: the fewest external worker-slots beside 0, 1, ... internal ones, which never increase
    inside = np.arange(max(1, math.ceil(internal - EPSILON)) + 1.0)
    outside = np.maximum(np.ceil(external - EPSILON - inside * rate), 0)
    outside[0] = max(1, outside[0])
    reducible = np.count_nonzero(outside)  # the first ones; one external worker-slot less is not sufficient
    parts = np.arange(1.0, MAX_WORK // max(len(inside), int(outside[0])) + 1)
    if not len(parts):  # with rounding, one more than MAX_WORK
        return None
    p = parts.repeat(2)
    q = p * rate
    np.floor(q[::2], out=q[::2])
    np.ceil(q[1::2], out=q[1::2])
    done = np.outer(outside, p) + np.outer(inside, q)
    if len(outside) > len(p):  # the long side is contiguous, which is faster to reduce
        done = np.asfortranarray(done)
    need = done.min(axis=0)
    separating = done[:reducible].max(axis=0) - p < need
    best = int(separating.argmax())
    return (int(need[best]), int(p[best]), int(q[best])) if separating[best] else None
