from django.db import migrations, models

PINNED = ("name", "version", "scheduler", "parameters", "edits", "parent_id", "fork_ms")


def pin(apps, schema_editor):
    """Sweeps of before have the content that their scenario has now, as it would have been used until now."""
    for sweep in apps.get_model("twin", "Sweep").objects.select_related("scenario").iterator():
        sweep.pinned = {name: getattr(sweep.scenario, name) for name in PINNED}
        sweep.save(update_fields=["pinned"])


class Migration(migrations.Migration):
    dependencies = [("twin", "0027_reproductions")]

    operations = [
        migrations.AddField("sweep", "pinned", models.JSONField(default=dict)),
        migrations.AddField("sweeppoint", "pending", models.CharField(db_index=True, default="", max_length=9)),
        migrations.RunPython(pin, migrations.RunPython.noop),
    ]
