from django.db import migrations, models
from django.db.models import Max


def from_events(apps, schema_editor):
    """Contact and newest event of each source, from its stored events."""
    sources = apps.get_model("twin", "PushSource").objects
    for source in sources.all():
        newest = source.events.aggregate(contact=Max("received_ms"), event=Max("at_ms"))
        sources.filter(pk=source.pk).update(contact_ms=newest["contact"] or 0, event_ms=newest["event"] or 0)


class Migration(migrations.Migration):

    dependencies = [
        ("twin", "0039_forecast_ends"),
    ]

    operations = [
        migrations.AddField(
            model_name="pushsource",
            name="contact_ms",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="pushsource",
            name="event_ms",
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunPython(from_events, migrations.RunPython.noop),
    ]
