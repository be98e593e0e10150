"""manage.py token: tokens for scripts."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.auth import tokens
from dashboard.auth.login_links import account
from dashboard.auth.roles import OPERATOR
from dashboard.management import database_errors
from dashboard.models import ApiToken
from scheduling.model.values import ModelError


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = "Creates, lists and revokes tokens with which scripts and clusters use the API."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="create a token and print its value, once")
        create.add_argument("--name", required=True, help="what the token is for")
        create.add_argument(
            "--scope", action="append", required=True, help="read, operate or ingest:SOURCE; repeatable"
        )
        create.add_argument(
            "--days",
            type=int,
            default=tokens.DEFAULT_DAYS,
            help=f"days until it expires; 0: never; default: {tokens.DEFAULT_DAYS}",
        )
        create.add_argument("--user", help="account that it acts for; default: the account of operators' login links")
        verbs.add_parser("list", help="print all tokens without their values")
        revoke = verbs.add_parser("revoke", help="revoke a token immediately")
        revoke.add_argument("id", type=int, help="number of the token in the list")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with database_errors.refused():
                getattr(self, options["verb"])(**options)
        except ModelError as error:
            raise CommandError(str(error)) from error

    def create(self, name: str, scope: list[str], days: int, user: str | None, **_: Any) -> None:
        """Value of the new token on standard output, alone, so that a script can take it."""
        owner = account(OPERATOR) if user is None else get_user_model().objects.filter(username=user).first()
        if owner is None:
            raise CommandError(f"there is no account {user!r}")
        value = tokens.create(name, scope, days or None, owner, on_host=True)[1]
        self.stdout.write(value)

    def list(self, **_: Any) -> None:
        """One line a token."""
        for token in ApiToken.objects.select_related("created_by"):
            used = f"{token.last_used_at:%Y-%m-%d %H:%M} UTC" if token.last_used_at else "never"
            ends = f"{token.expires_at:%Y-%m-%d}" if token.expires_at else "never"
            state = "revoked" if token.revoked_at else "expired" if tokens.why_ended(token) else "valid"
            self.stdout.write(
                f"{token.pk}  {token.name}  {', '.join(token.scopes)}  {state}, expires {ends}, used {used}, "
                f"acts for {token.created_by.get_username()}"
            )

    def revoke(self, id: int, **_: Any) -> None:
        """Revocation of a token by its number; a revoked one stays revoked."""
        found = ApiToken.objects.filter(pk=id).first()
        if found is None:
            raise CommandError(f"there is no token {id}; `manage.py token list` shows the numbers")
        tokens.revoke(found, None)
        self.stdout.write(f"token {id} ({found.name}) is revoked")
