"""manage.py backup: the whole installation as one file, while runs go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scheduling.reporting.quantities import counted
from twin.management.headless import HeadlessCommand
from twin.operation import archive


class Command(HeadlessCommand):
    help = (
        "Writes a backup of the database and of unfinished uploads. It contains secrets, so only its owner can read it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="path of the new ZIP file")

    def work(self, **options: Any) -> None:
        file: Path = options["file"]
        manifest = archive.write(file, self.stdout.write if options["verbosity"] > 1 else archive.silent)
        rows = sum(table["rows"] for table in manifest["tables"].values())
        size = file.stat().st_size / 2**20
        files = counted(len(manifest["files"]), "uploaded file")
        self.stdout.write(f"{file}: {counted(rows, 'row')} and {files}, {size:,.1f} MiB")
