"""manage.py reproduce: the papers' experiments, as tables with what holds and what does not. It needs no broker and no database."""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from typing import Any

import orjson
from django.core.management.base import CommandParser

from scheduling.registry import UnknownName
from twin import bench, experiments
from twin.experiments import Ask, Skip, Table
from twin.management.headless import HeadlessCommand, place, positive
from twin.management.whole import whole_file

MOST_COLUMNS = 8  # beyond, a table is told column by column


class Command(HeadlessCommand):
    help = "Runs the papers' experiments on drawn workloads and tells which of their claims hold."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", action="append", metavar="ID", help="an experiment by its id, as O3; may be given again")
        parser.add_argument(
            "--seeds", type=positive, metavar="N", help="seeds of every experiment; by itself each takes its own number"
        )
        parser.add_argument(
            "--arrivals", type=place, metavar="FILE", help="a trace whose arrivals are replayed where the paper has one"
        )
        parser.add_argument("--json", type=place, metavar="FILE", help="write the tables there as well")

    def work(self, **options: Any) -> None:
        known = experiments.experiments()
        names = [name.upper() for name in options["only"] or known]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UnknownName(f"unknown experiment {unknown[0]!r}; known: {', '.join(known)}")
        ask = Ask(options["seeds"], options["arrivals"], self._progress)
        with whole_file(options["json"]) if options["json"] else nullcontext() as file:  # before anything is run
            found = [self._experiment(name, known[name], ask) for name in names]
            if file is not None:
                file.write(orjson.dumps({"machine": bench.machine(), "experiments": found}, option=orjson.OPT_INDENT_2) + b"\n")

    def _experiment(self, name: str, module: Any, ask: Ask) -> dict[str, Any]:
        """Runs and prints one experiment; what came out as plain data."""
        self.stdout.write(f"\n{name} ({module.PAPER}): {module.TITLE}\n  claim: {module.CLAIM}\n  run:   {module.SETTING}")
        self.stdout.flush()
        about = {"id": name, "paper": module.PAPER, "title": module.TITLE, "claim": module.CLAIM, "setting": module.SETTING}
        began = time.perf_counter()
        try:
            table = module.run(ask)
        except Skip as reason:
            self.stdout.write(f"  skipped: {reason}")
            return about | {"skipped": str(reason)}
        seconds = time.perf_counter() - began
        for line in lines(table):
            self.stdout.write(f"  {line}")
        for f in table.checks:
            word = {True: "ok", False: "does not hold", None: ""}[f.holds]
            self.stdout.write(f"  {f.what:<52} {bench.plain(f.value):>10} {f.unit:<6} {f.target:<16} {word}")
        self.stdout.write(f"  {'holds' if table.holds else 'does not hold'}; {seconds:.0f} s")
        self.stdout.flush()
        checks = [{"what": f.what, "value": f.value, "unit": f.unit, "target": f.target, "holds": f.holds} for f in table.checks]
        return about | {
            "columns": table.columns, "rows": table.rows, "checks": checks, "holds": table.holds, "seconds": round(seconds, 1),
        }  # fmt: skip

    def _progress(self, sentence: str) -> None:
        """One line on standard error where somebody looks on."""
        if self.stderr.isatty():
            self.stderr.write(f"    {sentence}", ending="\n")


def lines(table: Table) -> list[str]:
    """The table as text; wide ones stand on their side."""
    cells = [list(map(_cell, table.columns)), *[list(map(_cell, row)) for row in table.rows]]
    if len(table.columns) > MOST_COLUMNS:
        cells = [list(column) for column in zip(*cells, strict=True)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells]


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return "not run" if math.isnan(value) else bench.plain(value)
