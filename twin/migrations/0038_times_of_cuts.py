"""Moment of the real world from which the times of a cut count, also of the cuts that are there."""

from django.db import migrations, models


def dated(apps, schema_editor):
    trace, run = apps.get_model("twin", "Trace"), apps.get_model("twin", "Run")
    for cut in trace.objects.filter(format="cut of a mirrored run").only("report").iterator(chunk_size=20):
        of = run.objects.filter(pk=cut.report.get("cut", {}).get("run")).values_list("clock_wall", flat=True).first()
        trace.objects.filter(pk=cut.pk).update(began_at=of)


class Migration(migrations.Migration):

    dependencies = [
        ("twin", "0037_import_progress_time"),
    ]

    operations = [
        migrations.AddField(
            model_name="trace",
            name="began_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(dated, migrations.RunPython.noop),
    ]
