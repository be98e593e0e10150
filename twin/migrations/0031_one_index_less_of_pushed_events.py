# Other indexes of the table begin with the source: each insert writes one less.

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0030_actual_durations")]

    operations = [
        migrations.AlterField(
            model_name="pushedevent",
            name="source",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="twin.pushsource",
            ),
        ),
    ]
