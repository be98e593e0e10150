"""manage.py reproduce: the papers' experiments, as tables with what holds or not. Without broker or database."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

import orjson
from django.core.management.base import CommandParser

from scheduling.reporting.figure import in_words
from twin.management.atomic_output import atomic_file
from twin.management.headless import HeadlessCommand, place, positive

if TYPE_CHECKING:
    from twin.studies.experiments.pool import Outcome


class Command(HeadlessCommand):
    help = "Runs the papers' experiments and reports which claims hold."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--only",
            action="append",
            metavar="ID",
            help="id of an experiment, or a unique prefix such as oasis_fig03; repeatable",
        )
        parser.add_argument(
            "--seeds",
            type=positive,
            metavar="N",
            help="number of seeds per experiment; each experiment has its own default",
        )
        parser.add_argument(
            "--arrivals", type=place, metavar="FILE", help="trace whose arrivals are replayed in the trace experiments"
        )
        parser.add_argument(
            "--processes",
            type=positive,
            default=1,
            metavar="N",
            help="number of processes that compute parts of experiments; the results are the same; default: 1",
        )
        parser.add_argument("--json", type=place, metavar="FILE", help="also write the tables to this file")

    def work(self, **options: Any) -> None:
        import experiments
        from benchmarks import machine
        from twin.studies.experiments.pool import outcomes
        from twin.traces.replay import arrivals_of

        chosen = list(map(experiments.full_name, options["only"])) if options["only"] else experiments.names()
        arrivals = options["arrivals"] and arrivals_of(options["arrivals"])
        chosen_options = experiments.Options(options["seeds"], arrivals)
        with atomic_file(options["json"]) if options["json"] else nullcontext() as file:  # before anything is run
            with closing(outcomes(chosen, chosen_options, options["processes"], self._progress)) as results:
                found = [self._heading(name) | self._result(next(results)) for name in chosen]
            if file is not None:
                file.write(
                    orjson.dumps({"machine": machine(), "experiments": found}, option=orjson.OPT_INDENT_2) + b"\n"
                )

    def _heading(self, name: str) -> dict[str, Any]:
        """Output of what the experiment is about, before its result; the same as plain data."""
        from experiments import experiment

        module = experiment(name)
        self.stdout.write(
            f"\n{name} ({module.PAPER}): {module.TITLE}\n  claim: {module.CLAIM}\n  run:   {module.SETTING}"
        )
        self.stdout.flush()
        return {
            "id": name,
            "paper": module.PAPER,
            "title": module.TITLE,
            "claim": module.CLAIM,
            "setting": module.SETTING,
        }

    def _result(self, outcome: Outcome) -> dict[str, Any]:
        """Output of the table and what holds; the same as plain data."""
        from experiments._text import lines

        table = outcome.table
        if table is None:
            self.stdout.write(f"  skipped: {outcome.skipped}")
            return {"skipped": outcome.skipped}
        for line in lines(table):
            self.stdout.write(f"  {line}")
        for f in table.checks:
            word = {True: "ok", False: "does not hold", None: ""}[f.holds]
            value, unit = in_words(f.value, f.unit)
            self.stdout.write(f"  {f.what:<52} {value:>10} {unit:<6} {f.target:<16} {word}")
        self.stdout.write(f"  {'holds' if table.holds else 'does not hold'}; {outcome.seconds:.0f} s of processor time")
        self.stdout.flush()
        checks = [
            {"what": f.what, "value": f.value, "unit": f.unit, "target": f.target, "holds": f.holds}
            for f in table.checks
        ]
        return {
            "columns": table.columns, "rows": table.rows, "checks": checks, "holds": table.holds,
            "seconds": round(outcome.seconds, 1),
        }  # fmt: skip

    def _progress(self, done: int, total: int, part: str) -> None:
        """A part that was computed, on standard error if it is a terminal."""
        if self.stderr.isatty():
            self.stderr.write(f"    {done} of {total} parts: {part}", ending="\n")
