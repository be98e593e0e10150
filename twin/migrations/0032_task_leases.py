# Leases of background tasks, in place of the one of forecasts.

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0031_one_index_less_of_pushed_events")]

    operations = [
        migrations.CreateModel(
            name="TaskLease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task", models.CharField(max_length=40)),
                ("key", models.BigIntegerField()),
                ("owner", models.CharField(max_length=100)),
                ("until", models.DateTimeField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("task", "key"), name="one_lease_of_a_task")],
            },
        ),
        migrations.RemoveField(model_name="forecasting", name="busy_until"),
    ]
