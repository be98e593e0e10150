"""Presence of fields in the jobs of a table, without objects of jobs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scheduling.model.values import GPU
from twin.files.job_table import DEMANDS, INTEGERS, MISSING, JobTable


def present(table: JobTable, part: str) -> np.ndarray:
    """[job] whether the field is there."""
    if part == "utility":
        return np.zeros(len(table), dtype=bool) if table.utility is None else ~np.isnan(table.utility).any(axis=1)
    if part == "upload_ms":
        return np.zeros(len(table), dtype=bool) if table.uploads is None else np.diff(table.uploads[0]) > 0
    if part in table.texts:
        return table.texts[part].codes != MISSING
    column = table.columns.get(part)
    if column is None:
        return np.zeros(len(table), dtype=bool)
    if part in DEMANDS:
        return column[:, GPU] >= 0
    return column != MISSING if part in INTEGERS else ~np.isnan(column)


def uploads_off(table: JobTable, servers: int) -> np.ndarray:
    """[job] whether it has upload times, but not one per server."""
    if table.uploads is None:
        return np.zeros(len(table), dtype=bool)
    delays = np.diff(table.uploads[0])
    return (delays > 0) & (delays != servers)


def all_present(table: JobTable, parts: Iterable[str]) -> np.ndarray:
    """[job] whether all of the fields are there."""
    found = np.ones(len(table), dtype=bool)
    for part in parts:
        found &= present(table, part)
    return found
