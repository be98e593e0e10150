"""manage.py prune: removal of what is older than the settings of retention allow."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from twin.operation import checks, cleanup_task, retention
from twin.processes import exclusive


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = "Removes what is older or larger than the settings KEEP_... allow; the twin does the same once an hour."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only state what would be removed")

    def handle(self, *args: Any, **options: Any) -> None:
        if (database := checks.migrations()).level != checks.OK:
            raise CommandError(f"{database.text}; {database.remedy}")
        checks.find_embedded()  # readers of runs are known there
        now = retention.now()
        found = retention.due(now) if options["dry_run"] else _removed(now)
        verb = "would be removed" if options["dry_run"] else "removed"
        for row in found:
            size = "" if row.size is None else f", {row.size / 2**20:,.1f} MiB"
            named = f": {', '.join(map(str, row.subjects[:20]))}" if row.named and row.subjects else ""
            more = f" and {len(row.subjects) - 20:,} more" if row.named and len(row.subjects) > 20 else ""
            setting = f" ({row.setting})" if row.setting else ""
            self.stdout.write(f"{row.rule}{setting}: {len(row.subjects):,} {verb}{size}{named}{more}")
        if not any(row.subjects for row in found):
            self.stdout.write("nothing to remove")


def _removed(now: datetime) -> list[retention.Due]:
    with exclusive.held(cleanup_task.TASK, cleanup_task.KEY) as mine:
        if mine is None:
            raise CommandError("A background worker is removing old data; repeat the command after it has finished.")

        def renew(rule: str, count: int) -> None:
            if not mine.renew():
                raise CommandError("A background worker has taken over the clean-up; it removes the rest.")

        return retention.apply(now, renew)
