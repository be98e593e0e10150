"""manage.py bench: the performance table, as text and JSON. It needs no broker and no database of yours."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import orjson
from django.core.management.base import CommandParser

from scheduling.kernel.parameters import UnknownName
from twin.management.atomic_output import atomic_file
from twin.management.headless import HeadlessCommand, place


class Command(HeadlessCommand):
    help = "Runs the benchmarks and compares the results with their targets."
    unwinds = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", action="append", metavar="NAME", help="name of a benchmark; repeatable")
        parser.add_argument("--json", type=place, metavar="FILE", help="also write the results to this file")

    def work(self, **options: Any) -> None:
        import benchmarks

        known = benchmarks.names()
        unknown = [name for name in options["only"] or () if name not in known]
        if unknown:
            raise UnknownName(f"unknown benchmark {unknown[0]!r}; known: {', '.join(known)}")
        with atomic_file(options["json"]) if options["json"] else nullcontext() as file:  # before anything is measured
            machine = benchmarks.machine()
            self.stdout.write(
                f"{machine['name']}: {machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
                f"Python {machine['python']}\n"
            )
            found = [self._row(name) for name in options["only"] or known]
            if file is not None:
                file.write(
                    orjson.dumps(
                        {"machine": machine, "rows": found}, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY
                    )
                    + b"\n"
                )

    def _row(self, name: str) -> dict[str, Any]:
        """Execution and output of one row; its numbers as plain data."""
        import benchmarks

        try:
            module = benchmarks.row(name)
        except benchmarks.Skip as reason:
            self.stdout.write(f"\n{name}\n  skipped: {reason}")
            return {"name": name, "title": name, "skipped": str(reason)}
        self.stdout.write(f"\n{name}: {module.TITLE}")
        try:
            figures = module.run()
        except benchmarks.Skip as reason:
            self.stdout.write(f"  skipped: {reason}")
            return {"name": name, "title": module.TITLE, "skipped": str(reason)}
        for f in figures:
            word = {True: "ok", False: "MISSED", None: ""}[f.holds]
            self.stdout.write(f"  {f.what:<52} {benchmarks.plain(f.value):>10} {f.unit:<7} {f.target:<18} {word}")
        self.stdout.flush()
        plain = [
            {
                "what": f.what,
                "value": f.value,
                "unit": f.unit,
                "bound": f.bound,
                "at_least": f.at_least,
                "holds": f.holds,
            }
            for f in figures
        ]
        return {"name": name, "title": module.TITLE, "figures": plain}
