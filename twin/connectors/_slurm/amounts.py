"""Amounts as Slurm prints them: numbers with a suffix, memory, time limits, GPUs in all spellings of TRES and GRES."""

from __future__ import annotations

import re

from twin.connectors.facts import ConnectorError

SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
NOTHING = {"", "N/A", "(null)", "NONE", "None", "Unknown", "None assigned"}  # how Slurm says that there is none
MAX_LIMIT_MS = 365 * 86_400_000  # stands for no limit: backfill gives it to a job that has none


def known(text: str) -> str:
    """The text, or "" where it says that there is none."""
    return "" if text in NOTHING else text


def count(text: str) -> int:
    """`1.50K` is 1536, `2-3` (a range of nodes) is its minimum, nothing is 0."""
    if not known(text):
        return 0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)(?:-\d+(?:\.\d+)?[KMGTP]?)?", text, re.ASCII)
    if match is None:
        raise ConnectorError(f"amount {text[:50]!r} cannot be read; expected a number as in 12, 1.50K or 2-3")
    return round(float(match[1]) * SUFFIXES[match[2]])


def megabytes(text: str) -> int:
    """`62.50G` is 64000, `2000M` is 2000, `2000` is 2000."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)", text, re.ASCII)
    if match is None:
        raise ConnectorError(f"memory {text[:50]!r} cannot be read; expected a size as in 2000M or 62.50G")
    return round(float(match[1]) * SUFFIXES[match[2] or "M"] / SUFFIXES["M"])


def seconds_ms(text: str) -> int | None:
    """Unix seconds as milliseconds; None where there is no time."""
    if not known(text):
        return None
    if not re.fullmatch(r"\d{1,12}", text, re.ASCII):
        raise ConnectorError(
            f"time {text[:50]!r} is not in Unix seconds; SLURM_TIME_FORMAT=%s has to reach "
            "the command (see the parameter prefix)"
        )
    return int(text) * 1000 or None


def limit_ms(text: str) -> int | None:
    """`1-02:03:04`, `20:00` or `30`; None for UNLIMITED, the partition's own, and the 365 days in its place."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text, re.ASCII)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
    return ms if 0 < ms < MAX_LIMIT_MS else None


def tres(text: str) -> dict[str, str]:
    """`cpu=2,mem=4000M,gres/gpu=1` as a dict."""
    return dict(part.split("=", 1) for part in known(text).split(",") if "=" in part)


def gpus(text: str) -> int:
    """GPUs of `gres:gpu:2`, `gres/gpu:a100:2(S:0-1)`, `gres/gpu=2,gres/gpu:a100=2` or `gpu:a100:2,mps:100`, added up.

    A count without a type is that of all types.
    """
    untyped, typed = 0, 0
    for part in re.split(r",(?![^(]*\))", known(text)):
        match = re.fullmatch(r"(?:gres[:/])?gpu(?:[:=]([^:=()]+))?(?:[:=](\d+))?(?:\(.*\))?", part.strip(), re.ASCII)
        if match is None:
            continue
        kind, number = match.groups()
        if number is None and (kind is None or kind.isdigit()):
            untyped += int(kind or 1)
        else:
            typed += int(number or 1)
    return untyped or typed
