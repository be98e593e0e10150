"""manage.py doctor: checks of the installation, with what to do about each fault."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from twin.operation import checks


class Command(BaseCommand):
    help = "Checks the installation and states a remedy for each fault. Exit code: 0 without faults, 1 otherwise."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--offline", action="store_true", help="skip the checks that need running processes")

    def handle(self, *args: Any, **options: Any) -> None:
        checks.find_embedded()
        faults = 0
        for found in checks.findings():
            if options["offline"] and found.subject in checks.ONLINE:
                continue
            faults += found.level == checks.FAULT
            self.stdout.write(f"{found.level:8}{found.subject}: {found.text}")
            if found.remedy:
                self.stdout.write(f"{'':8}-> {found.remedy}")
        self.stdout.write("no faults" if not faults else f"faults: {faults}")
        if faults:
            sys.exit(1)
