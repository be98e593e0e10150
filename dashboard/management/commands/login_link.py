"""manage.py login_link: a link that logs in once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from dashboard.auth.login_links import make_link
from dashboard.auth.roles import OPERATOR, ROLES
from dashboard.management import database_errors


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = "Prints the path of a one-time login link, valid for a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--role", choices=ROLES, default=OPERATOR, help="role of the account; default: operator")

    def handle(self, *args: Any, **options: Any) -> None:
        with database_errors.refused():
            self.stdout.write(make_link(options["role"]))
