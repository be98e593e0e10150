"""Origins of the fields of a job, as `Job.provenance` states them."""

from __future__ import annotations

from collections.abc import Mapping

TRACE, DERIVED, SAMPLED, MEASURED = "trace", "derived", "drawn", "measured"
# of the fields that carry a duration, in a cut of a real cluster; PREDICTED only in shadows
ACTUAL, LIMIT, ASSUMED, PREDICTED = OF_DURATIONS = "actual", "limit", "assumed", "predicted"
PROVENANCES = (TRACE, DERIVED, SAMPLED, MEASURED, *OF_DURATIONS)
FORMER = {"as_it_turned_out": ACTUAL}  # of older files and stored traces; deprecated: read, never written


def current(provenance: Mapping[str, str]) -> dict[str, str]:
    """The provenance with the present names of origins."""
    return {name: FORMER.get(origin, origin) for name, origin in provenance.items()}
