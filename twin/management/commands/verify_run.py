"""manage.py verify_run: rechecks the log of a finished run of the twin, also of one with edits and of a fork."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from scheduling.model.values import ModelError
from twin.analysis.verification import problems_of_run
from twin.infra import gc_control
from twin.infra.errors import Refused
from twin.management.headless import HeadlessCommand, positive
from twin.models import Run


class Command(HeadlessCommand):
    help = "Verifies the log of a finished run in the database; exit code 1 if it has problems."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=positive, help="number of the run, as its page names it")

    def work(self, **options: Any) -> None:
        run = Run.objects.select_related("scenario").filter(pk=options["run"]).first()
        if run is None:
            raise ModelError(f"there is no run {options['run']}")
        try:
            with gc_control.paused():  # many rows, and no cycles
                problems = problems_of_run(run)
        except Refused as error:
            raise ModelError(str(error)) from error
        self.end_with_problems(problems, f"run {run.pk}")
        self.report(f"run {run.pk}: no problems found")
