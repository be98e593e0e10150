from django.db import migrations

SLOWDOWNS = ("mean_slowdown", "median_slowdown", "p95_slowdown")


def drop(apps, schema_editor):
    """Slowdowns of runs with edits: earlier versions measured every job by the cluster after the last edit."""
    runs = apps.get_model("twin", "Run").objects
    for run in runs.exclude(edits=[]).only("metrics").order_by("pk").iterator(chunk_size=100):
        groups = run.metrics.get("lanes") if isinstance(run.metrics, dict) else None
        if isinstance(groups, dict) and any(name in groups for name in SLOWDOWNS):
            kept = {name: value for name, value in groups.items() if name not in SLOWDOWNS}
            runs.filter(pk=run.pk).update(metrics=run.metrics | {"lanes": kept})


class Migration(migrations.Migration):
    dependencies = [("twin", "0041_push_contact")]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
