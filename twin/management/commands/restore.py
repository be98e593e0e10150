"""manage.py restore: an installation from the file of `manage.py backup`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scheduling.reporting.quantities import counted
from twin.management.headless import HeadlessCommand
from twin.operation import archive, checks
from twin.processes import heartbeat


class Command(HeadlessCommand):
    help = "Restores a backup into an empty, migrated database. The twin must not be running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="file that manage.py backup wrote")

    def work(self, **options: Any) -> None:
        file: Path = options["file"]
        checks.find_embedded()
        if running := [one.kind for one in heartbeat.processes() or [] if one.answers]:
            raise archive.BadArchive(f"the twin is running here ({', '.join(sorted(set(running)))}); stop it first")
        manifest = archive.restore(file, self.stdout.write if options["verbosity"] > 1 else archive.silent)
        rows = sum(table["rows"] for table in manifest["tables"].values())
        files = counted(len(manifest["files"]), "uploaded file")
        self.stdout.write(f"{counted(rows, 'row')} and {files} restored, as of {manifest['created']}")
