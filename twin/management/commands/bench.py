"""manage.py bench: the performance table, as text and JSON. It needs no broker and no database of yours."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import orjson
from django.core.management.base import CommandParser

from scheduling.registry import UnknownName
from twin import bench
from twin.management.headless import HeadlessCommand, place
from twin.management.whole import whole_file


class Command(HeadlessCommand):
    help = "Measures the product on this machine and compares with the targets."
    unwinds = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--only", action="append", metavar="NAME", help="a row by its name; may be given again")
        parser.add_argument("--json", type=place, metavar="FILE", help="write the figures there as well")

    def work(self, **options: Any) -> None:
        known = bench.rows()
        unknown = [name for name in options["only"] or () if name not in known]
        if unknown:
            raise UnknownName(f"unknown row {unknown[0]!r}; known: {', '.join(known)}")
        with whole_file(options["json"]) if options["json"] else nullcontext() as file:  # before anything is measured
            machine = bench.machine()
            self.stdout.write(
                f"{machine['name']}: {machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}\n"
            )
            found = [self._row(name, known[name]) for name in options["only"] or known]
            if file is not None:
                file.write(
                    orjson.dumps({"machine": machine, "rows": found}, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY)
                    + b"\n"
                )

    def _row(self, name: str, module: Any) -> dict[str, Any]:
        """Runs and prints one row; its figures as plain data."""
        self.stdout.write(f"\n{name}: {module.TITLE}")
        try:
            figures = module.run()
        except bench.Skip as reason:
            self.stdout.write(f"  skipped: {reason}")
            return {"name": name, "title": module.TITLE, "skipped": str(reason)}
        for f in figures:
            word = {True: "ok", False: "MISSED", None: ""}[f.holds]
            self.stdout.write(f"  {f.what:<52} {bench.plain(f.value):>10} {f.unit:<7} {f.target:<18} {word}")
        self.stdout.flush()
        plain = [
            {"what": f.what, "value": f.value, "unit": f.unit, "bound": f.bound, "at_least": f.at_least, "holds": f.holds}
            for f in figures
        ]
        return {"name": name, "title": module.TITLE, "figures": plain}
