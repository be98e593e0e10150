"""Values as people and tools write them: decimal commas, durations, quantities with units, dates in many orders.

Durations: numbers of a unit, `HH:MM:SS`, `D-HH:MM:SS` (Slurm), `MM:SS`, `2 days 03:04:05` (pandas), `1h30m`, `PT1H30M`
(ISO 8601). Quantities: `500m`, `16Gi`, `64GB` (Kubernetes and common units). Dates: ISO 8601, `23/11/2026 13:36`,
`11/23/2026 1:36 PM`, `23.11.2026`, `Mon Nov 23 13:36:05 2026` (ctime), `23 Nov 2026 13:36`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from twin.traces.importing.reading import AS_STATED, Reading
from twin.traces.uploads.tables import as_floats

DECIMAL_COMMA = re.compile(r"([+-]?)(\d{1,3}(?:\.\d{3})+|\d*),(\d+)")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
THOUSANDS_BY_DOTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+\s?[a-zA-Z]*")  # also with a unit
CLOCK = re.compile(r"(?:(\d{1,6})(?:-| days?,? ))?(?:(\d{1,9}):)?(\d{1,4}):(\d{1,4}(?:[.,]\d*)?)")
DAYS = re.compile(r"(\d{1,6}) days?")
SPELLED = re.compile(r"(?=.)(?:(\d+)d)?\s?(?:(\d+)h)?\s?(?:(\d+)m(?:in)?)?\s?(?:(\d+(?:\.\d*)?)s)?", re.IGNORECASE)
ISO_SPAN = re.compile(r"P(?=.)(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d*)?)S)?)?")
QUANTITY = re.compile(r"([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s?([a-zA-Z]*)")
# the factors of suffixes; "m" is Kubernetes' milli
FACTORS = {
    "": 1.0, "m": 1e-3, "k": 1e3, "kb": 1e3, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12, "p": 1e15,
    "ki": 2.0**10, "kib": 2.0**10, "mi": 2.0**20, "mib": 2.0**20, "gi": 2.0**30, "gib": 2.0**30, "ti": 2.0**40,
    "tib": 2.0**40, "pi": 2.0**50, "b": 1.0,
}  # fmt: skip
FIRST_MS, END_MS = -62_135_596_800_000, 253_402_300_800_000  # of the years 1 to 9999, which dates can have
MEGA = "M"  # which differs from "m"
OFFSET = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$|\b(?:UTC|GMT)\b")
NUMBERED = re.compile(r"(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})(?:,?[T ]+(.+))?")
NAMED = re.compile(
    r"(?:(?P<weekday>[A-Z][a-z]{2}),? +)?(?:(?P<day>\d{1,2})[ -](?P<month>[A-Za-z]{3})[a-z]*[ -](?P<year>\d{4}),?"
    r"(?: (?P<time>[\d:.]+(?: [APap][Mm])?))?|(?P<month2>[A-Za-z]{3})[a-z]* +(?P<day2>\d{1,2})(?:,? (?P<year2>\d{4}))?"
    r",? (?P<time2>[\d:.]+(?: [APap][Mm])?)(?: [A-Z]{3,4})?(?: (?P<year3>\d{4}))?)"
)
TIME = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([APap])[Mm])?")
NAMES_OF_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: number for number, name in enumerate(NAMES_OF_MONTHS, 1)}
YEAR, DAY, MONTH = "year", "day", "month"  # what comes first in a date


def numbers(cells: Sequence[str]) -> NDArray[np.float64]:
    """Finite numbers, also with a decimal comma; NaN for other texts."""
    return _filled(as_floats(cells), cells, _comma_number)


def _comma_number(text: str) -> float:
    """A number with a decimal comma; NaN for other texts and for those like 1,000, which may be one or a thousand."""
    found = DECIMAL_COMMA.fullmatch(text.strip())
    if not found or THOUSANDS.fullmatch(text.strip()):
        return math.nan
    return float(f"{found[1]}{found[2].replace('.', '') or '0'}.{found[3]}")


def durations(cells: Sequence[str], unit_ms: float) -> NDArray[np.float64]:
    """ms of durations; plain numbers are of the unit."""
    return _filled(as_floats(cells) * unit_ms, cells, lambda text: _duration(text, unit_ms))


def _duration(text: str, unit_ms: float) -> float:
    plain = text.strip()
    if found := CLOCK.fullmatch(plain):
        parts: Sequence[str | None] = found.groups()
    elif found := DAYS.fullmatch(plain):
        parts = (found[1], None, None, None)
    elif found := (SPELLED.fullmatch(plain) or ISO_SPAN.fullmatch(plain)):
        parts = found.groups()
    else:
        return _comma_number(plain) * unit_ms
    days, hours, minutes, seconds = (float((part or "0").replace(",", ".")) for part in parts)
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000


def quantities(cells: Sequence[str], plain: float) -> NDArray[np.float64]:
    """Amounts; `plain` is the factor of a number without a suffix. 500m is 0.5, 16Gi is 16 x 2^30."""
    return _filled(as_floats(cells) * plain, cells, lambda text: _quantity(text, plain))


def _quantity(text: str, plain: float) -> float:
    found = QUANTITY.fullmatch(text.strip())
    if not found:
        return _comma_number(text) * plain
    suffix = "mb" if found[2] == MEGA else found[2].lower()
    factor = FACTORS.get(suffix, math.nan) if found[2] else plain
    return float(found[1]) * factor


def _filled(values: NDArray[np.float64], cells: Sequence[str], other: Callable[[str], float]) -> NDArray[np.float64]:
    """The values, with what `other` reads where they are NaN; infinite ones are NaN.

    Beside numbers with a decimal comma, 1.200 may be 1.2 or 1,200: it is NaN.
    """
    known: dict[str, float] = {}
    for row in np.flatnonzero(np.isnan(values)).tolist():
        text = cells[row]
        if text and text not in known:
            known[text] = other(text) if len(text) <= 60 else math.nan
        values[row] = known.get(text, math.nan)
    if any(not math.isnan(value) and DECIMAL_COMMA.fullmatch(text.strip()) for text, value in known.items()):
        doubtful = {text for text in set(cells) if THOUSANDS_BY_DOTS.fullmatch(text.strip())}
        values[[text in doubtful for text in cells]] = math.nan
    return np.where(np.abs(values) < math.inf, values, math.nan)


def order_of_dates(cells: Sequence[str]) -> str:
    """Part that comes first in these dates, DAY or MONTH; "" if they are of another form or ambiguous.

    A day above 12 decides; dates with dots have the day first.
    """
    for text in cells:
        found = NUMBERED.match(text.strip())
        if found and len(found[1]) <= 2:
            if found[2] == "." or int(found[1]) > 12:
                return DAY
            if int(found[3]) > 12:
                return MONTH
    return ""


def is_undecided(cells: Sequence[str]) -> bool:
    """True if a date of these has a day and a month of which nothing says which is first."""
    return order_of_dates(cells) == "" and any(
        (found := NUMBERED.match(text.strip())) and len(found[1]) <= 2 for text in cells
    )


def is_date(text: str) -> bool:
    """True if the text is a date in one of the forms."""
    return not math.isnan(float(dates([text.strip()], DAY, AS_STATED)[0])) or order_of_dates([text]) == MONTH


def dates(cells: Sequence[str], order: str, reading: Reading) -> NDArray[np.float64]:
    """ms since 1970 of dates; `order` is that of dates such as 03/04/2026. Without an offset: of the time zone."""
    import pandas as pd

    column = pd.Series(cells, dtype=object).str.strip()
    stamps = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce")
    if pattern := _pattern(column, order):
        odd = stamps.isna()
        stamps[odd] = pd.to_datetime(column[odd], format=pattern, utc=True, errors="coerce")
    moments = stamps.dt.tz_localize(None).to_numpy().astype("datetime64[ms]")
    number = column.str.isdigit().to_numpy(dtype=bool, na_value=False)  # no year, and no date without marks
    values = np.where(np.isnat(moments) | number, math.nan, moments.astype(np.int64))
    values = _filled(values, column.tolist(), lambda text: _date(text, order))
    if reading.time_zone is not None:
        local = ~column.str.contains(OFFSET.pattern, regex=True).to_numpy(dtype=bool, na_value=False)
        values = np.where(local, reading.utc(values), values)
    return np.where((values >= FIRST_MS) & (values < END_MS), values, math.nan)  # pandas reads -0.5 as the year 0


def _pattern(column: Sequence[str], order: str) -> str:
    """Format of the first date for a fast reader; "" where there is none."""
    found = next((m for text in column[:20] if (m := NUMBERED.fullmatch(text))), None)
    if not found or (len(found[1]) == 4 and found[2] == "-") or not (len(found[4]) == 4 or len(found[1]) == 4):
        return ""
    mark = found[2]
    first = (
        f"%Y{mark}%m{mark}%d" if len(found[1]) == 4
        else f"%d{mark}%m{mark}%Y" if order == DAY or mark == "."
        else f"%m{mark}%d{mark}%Y"
    )  # fmt: skip
    clock = {None: "", 1: " %H:%M", 2: " %H:%M:%S"}.get(found[5].count(":") if found[5] else None, "")
    return first + clock


def _date(text: str, order: str) -> float:
    """ms since 1970 of one date; NaN for none."""
    if found := NUMBERED.fullmatch(text):
        first, second, third = int(found[1]), int(found[3]), int(found[4])
        if len(found[1]) == 4:
            year, month, day = first, second, third
        elif len(found[4]) != 4:
            return math.nan
        else:
            day, month, year = (first, second, third) if order == DAY or found[2] == "." else (second, first, third)
        clock = found[5]
    elif found := NAMED.fullmatch(text):
        part = found.groupdict()
        month = MONTHS.get((part["month"] or part["month2"]).lower(), 0)
        day = int(part["day"] or part["day2"])
        year = int(part["year"] or part["year2"] or part["year3"] or 0)
        clock = part["time"] or part["time2"]
    else:
        return math.nan
    seconds = _clock(clock or "0:00")
    try:
        midnight = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return math.nan
    return math.nan if seconds is None else (midnight + timedelta(seconds=seconds)).timestamp() * 1000


def _clock(text: str) -> float | None:
    """Seconds of the day of `13:36`, `13:36:05.5` or `1:36 PM`."""
    found = TIME.fullmatch(text.strip())
    if not found:
        return None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found[5] in "Pp")
    if hour > 24 or minute > 59 or second > 60:
        return None
    return hour * 3600 + minute * 60 + second + float(f"0.{found[4] or 0}")
