"""Announcement of runs to their readers after a command."""

from __future__ import annotations

from collections.abc import Sequence

from twin.models import Run
from twin.runs import runner


def announce_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run.refresh_from_db()
        runner.announce(run)
