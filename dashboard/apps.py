from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DashboardConfig(AppConfig):
    name = "dashboard"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(make_groups, sender=self)


def make_groups(using: str, **kwargs: Any) -> None:
    """Creation of the groups of the roles after migrations."""
    from django.contrib.auth.models import Group

    from dashboard.auth.roles import ROLES

    for role in ROLES:
        Group.objects.using(using).get_or_create(name=role)
