from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate


class TwinConfig(AppConfig):
    name = "twin"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from twin.infra import database

        connection_created.connect(database.limit_wait)
        post_migrate.connect(_store_default_rules, sender=self)


def _store_default_rules(using: str, **_: Any) -> None:
    """Default rules of alerts, once their table exists: a migration may also go back to before it."""
    from twin.alerts import stored_rules
    from twin.models import AlertRule

    if AlertRule._meta.db_table in connections[using].introspection.table_names():
        stored_rules.ensure_defaults()
