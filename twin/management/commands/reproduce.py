"""manage.py reproduce: the papers' experiments, as tables with what holds or not. Without broker or database."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import orjson
from django.core.management.base import CommandParser

from scheduling.reporting.figure import plain
from twin.management.atomic_output import atomic_file
from twin.management.headless import HeadlessCommand, place, positive

if TYPE_CHECKING:
    from experiments import Options


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
        parser.add_argument("--json", type=place, metavar="FILE", help="also write the tables to this file")

    def work(self, **options: Any) -> None:
        import experiments
        from benchmarks import machine
        from twin.traces.replay import arrivals_of

        chosen = list(map(experiments.full_name, options["only"])) if options["only"] else experiments.names()
        arrivals = options["arrivals"] and arrivals_of(options["arrivals"])
        chosen_options = experiments.Options(options["seeds"], arrivals)
        with atomic_file(options["json"]) if options["json"] else nullcontext() as file:  # before anything is run
            found = [self._experiment(name, chosen_options) for name in chosen]
            if file is not None:
                file.write(
                    orjson.dumps({"machine": machine(), "experiments": found}, option=orjson.OPT_INDENT_2) + b"\n"
                )

    def _experiment(self, name: str, options: Options) -> dict[str, Any]:
        """Execution and output of one experiment; its result as plain data."""
        from experiments import Skip, experiment, run
        from experiments._text import lines

        module = experiment(name)
        self.stdout.write(
            f"\n{name} ({module.PAPER}): {module.TITLE}\n  claim: {module.CLAIM}\n  run:   {module.SETTING}"
        )
        self.stdout.flush()
        about = {
            "id": name,
            "paper": module.PAPER,
            "title": module.TITLE,
            "claim": module.CLAIM,
            "setting": module.SETTING,
        }
        began = time.perf_counter()
        try:
            table = run(name, options, self._progress)
        except Skip as reason:
            self.stdout.write(f"  skipped: {reason}")
            return about | {"skipped": str(reason)}
        seconds = time.perf_counter() - began
        for line in lines(table):
            self.stdout.write(f"  {line}")
        for f in table.checks:
            word = {True: "ok", False: "does not hold", None: ""}[f.holds]
            self.stdout.write(f"  {f.what:<52} {plain(f.value):>10} {f.unit:<6} {f.target:<16} {word}")
        self.stdout.write(f"  {'holds' if table.holds else 'does not hold'}; {seconds:.0f} s")
        self.stdout.flush()
        checks = [
            {"what": f.what, "value": f.value, "unit": f.unit, "target": f.target, "holds": f.holds}
            for f in table.checks
        ]
        return about | {
            "columns": table.columns, "rows": table.rows, "checks": checks, "holds": table.holds,
            "seconds": round(seconds, 1),
        }  # fmt: skip

    def _progress(self, part: str) -> None:
        """The part that begins, on standard error if it is a terminal."""
        if self.stderr.isatty():
            self.stderr.write(f"    {part}", ending="\n")
