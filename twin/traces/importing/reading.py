"""Options for the values of a trace: unit of its times, time zone, jobs without GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from twin.moments import date_time, moment_utc

UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "min": 60_000.0, "h": 3_600_000.0, "d": 86_400_000.0}
UNIT_NAMES = {
    "us": "microseconds", "ms": "milliseconds", "s": "seconds", "min": "minutes", "h": "hours", "d": "days",
}  # fmt: skip
CPU_JOBS = ("keep", "skip")


@dataclass(frozen=True)
class Reading:
    """Options of reading; None means the rule of the format.

    time_unit  of the numbers that are times, one of UNITS
    time_zone  of times without an offset, an IANA name
    cpu_jobs   keep or skip jobs without GPUs; None keeps them where most jobs have none
    """

    time_unit: str | None = None
    time_zone: str | None = None
    cpu_jobs: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Reading:
        """Options of reading among stored ones; others are ignored. ValueError names what is wrong."""
        found = cls(**{f.name: options[f.name] for f in fields(cls) if options.get(f.name)})
        for name, value, known in (
            ("time_unit", found.time_unit, tuple(UNITS)),
            ("cpu_jobs", found.cpu_jobs, CPU_JOBS),
        ):
            if value is not None and value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        if found.time_zone is not None and found.time_zone not in _time_zones():
            raise ValueError(f"time_zone must be a name such as Europe/Berlin, got {found.time_zone!r}")
        return found

    def plain(self) -> dict[str, str]:
        """The options that are set."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}

    def utc(self, local_ms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Clock readings, as ms since 1970, as times in UTC; unchanged without a time zone. NaN stays.

        Of an hour that the clock shows twice, the first is meant; a time that it skips becomes the next that it shows.
        """
        if self.time_zone is None or not len(local_ms):
            return local_ms
        import pandas as pd

        known = ~np.isnan(local_ms)
        stamps = pd.DatetimeIndex(local_ms[known].astype(np.int64).astype("datetime64[ms]"))
        moments = stamps.tz_localize(
            ZoneInfo(self.time_zone), ambiguous=np.ones(len(stamps), dtype=bool), nonexistent="shift_forward"
        )
        found = local_ms.copy()
        found[known] = moments.tz_convert("UTC").tz_localize(None).to_numpy().astype("datetime64[ms]").astype(np.int64)
        return found

    def first_note(self, first_ms: int) -> str:
        """Sentence on times without an offset and the first one in the result, without a full stop."""
        if self.time_zone is None:
            return f"Times without a time zone are used unchanged; the first is {date_time(first_ms)}"
        rule = "of an hour that occurs twice, the first is meant"
        return f"Times are those of {self.time_zone}; {rule}; the first is {moment_utc(first_ms)}"

    def keeps_cpu_jobs(self, without_gpus: int, jobs: int) -> bool:
        """True if jobs without GPUs are imported: as stated, or where most jobs have none."""
        return 2 * without_gpus > jobs if self.cpu_jobs is None else self.cpu_jobs == "keep"


AS_STATED = Reading()  # the rules of the format


@cache
def _time_zones() -> frozenset[str]:
    """Names of all time zones; finding them reads hundreds of files."""
    return frozenset(available_timezones())
