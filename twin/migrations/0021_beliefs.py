"""Scenarios whose schedulers know believed run times."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0020_forecast_constraints")]

    operations = [migrations.AddField("scenario", "beliefs", models.JSONField(null=True))]
