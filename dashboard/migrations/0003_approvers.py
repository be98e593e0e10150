"""Approvers: until now every operator could approve plans for real clusters, so they become approvers."""

from django.conf import settings
from django.db import migrations


def add_operators(apps, schema_editor):
    group, using = apps.get_model("auth", "Group"), schema_editor.connection.alias
    operators = group.objects.using(using).filter(name="operator").first()
    if operators is not None and operators.user_set.exists():
        approvers, _ = group.objects.using(using).get_or_create(name="approver")
        approvers.user_set.add(*operators.user_set.all())


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard", "0002_api_tokens"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunPython(add_operators, migrations.RunPython.noop)]
