"""manage.py login_link: a link that logs in once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from dashboard.auth.login_links import make_link
from dashboard.auth.roles import OPERATOR, ROLES


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = "Prints the path of a one-time login link, valid for a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--role", choices=ROLES, default=OPERATOR, help="role of the account; default: operator")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(make_link(options["role"]))
        except (OperationalError, ProgrammingError) as error:
            reason = str(error).strip().split("\n")[0]
            raise CommandError(
                f"the database cannot be used ({reason}); `manage.py migrate` prepares it, as bin/up does"
            ) from error
